// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import CJPEG
internal import EncodedImages
internal import Pixels

/// Encodes JPEG with libjpeg-turbo.
///
/// Transparent pixels are composited over white, because JPEG has no alpha. YCbCr planes are
/// compressed directly if the options request chroma at half resolution.
struct JPEGEncoder: ImageEncoder {
    func dependsOnQuality(_ options: EncodeOptions) -> Bool { true }

    var writesColorProfiles: Bool { true }

    var writesGainMaps: Bool { true }

    func prefersYCbCr(_ options: EncodeOptions) -> Bool { options.chromaSubsampling == .half }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        let size = image.size
        guard size.largestSide <= 65_500 else {
            throw .unsupported(
                feature: "JPEG of \(size) pixels (libjpeg allows sides up to 65500)")
        }
        let isWritten = image.format == .yCbCr420 && prefersYCbCr(options)
        let image =
            isWritten
            ? image : image.converted(to: image.format.withIntegerSamples.with8BitChannels)
        let map = options.gainMap.flatMap(JPEGGainMapWriter.mapFile)
        var options = options
        if let map {
            options.metadata = JPEGGainMapWriter.blocks(options.metadata, map: map)
        }
        let segments = try JPEGMetadata.segments(of: options.metadata)
        let writer = try JPEGWriter()
        try writer.start(image, options)
        for segment in segments { try writer.writeSegment(segment.marker, segment.body) }
        if map != nil { try writer.writeSegment(0xE2, JPEGGainMapWriter.versionBody) }
        try writer.writeProfile(of: image)
        if image.format == .yCbCr420 {
            try writePlanes(of: image, to: writer)
        } else if image.format == .rgba8 {
            var row = [UInt8](repeating: 0, count: size.width * 3)
            for y in 0..<size.height {
                var pixels = row.mutableSpan
                PremultipliedAlpha.compositeOverWhite(image.row(y), into: &pixels)
                try writer.writeRow(row.span)
            }
        } else {
            for y in 0..<size.height { try writer.writeRow(image.row(y)) }
        }
        let file = try writer.finish()
        return map.map { JPEGGainMapWriter.joined(file, $0) } ?? file
    }

    /// Writes 16 rows at a time; the last column and row are repeated to complete the MCUs
    /// (T.81 A.2.4).
    private func writePlanes(
        of image: PixelBuffer, to writer: borrowing JPEGWriter
    ) throws(CodecError) {
        var rows = MCURows(widths: (0..<3).map { image.layout(ofPlane: $0).size.width })
        for top in stride(from: 0, to: image.size.height, by: 16) {
            for plane in 0..<3 {
                let height = image.layout(ofPlane: plane).size.height
                let first = plane == 0 ? top : top / 2
                for y in 0..<MCURows.rowCounts[plane] {
                    rows.copy(
                        image.row(min(first + y, height - 1), plane: plane), plane: plane,
                        to: y)
                }
            }
            try writer.writePlanes(rows)
        }
    }
}

/// The rows of Y, Cb and Cr of a row of MCUs (T.81 A.2.3) in one buffer, padded to complete blocks.
private struct MCURows {
    /// By plane: the number of rows.
    static let rowCounts = [16, 8, 8]

    let bytesPerRow: [Int]
    private(set) var bytes: [UInt8]
    /// By plane: the offset in ``bytes``.
    private(set) var starts: [Int] = []

    init(widths: [Int]) {
        bytesPerRow = widths.map { ($0 + 7) / 8 * 8 }
        var count = 0
        for (stride, rowCount) in zip(bytesPerRow, Self.rowCounts) {
            starts.append(count)
            count += stride * rowCount
        }
        bytes = Array(repeating: 0, count: count)
    }

    /// Copies a row of samples, and repeats the last one to the end of the block.
    mutating func copy(_ row: Span<UInt8>, plane: Int, to y: Int) {
        let start = starts[plane] + y * bytesPerRow[plane]
        let end = start + bytesPerRow[plane]
        let last = row[row.count - 1]
        unsafe row.withUnsafeBytes { row in
            unsafe bytes.withUnsafeMutableBytes { bytes in
                let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
                unsafe place.copyMemory(from: row)
                for x in row.count..<place.count { unsafe place[x] = last }
            }
        }
    }
}

/// The unique owner of a libjpeg compressor.
@safe private struct JPEGWriter: ~Copyable {
    private let raw: OpaquePointer

    init() throws(CodecError) {
        guard let raw = unsafe calotype_jpeg_writer_create() else {
            throw .library(message: "out of memory for a JPEG compressor")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_jpeg_writer_destroy(raw) }

    func start(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) {
        let subsampling =
            switch options.chromaSubsampling {
            case .full: (1, 1)
            case .halfWidth: (2, 1)
            case .half: (2, 2)
            }
        var settings = calotype_jpeg_settings()
        settings.width = Int32(image.size.width)
        settings.height = Int32(image.size.height)
        settings.channels = [.gray8, .alpha8].contains(image.format) ? 1 : 3
        settings.is_planar = image.format == .yCbCr420
        settings.quality = Int32(min(max(options.quality, 1), 100))
        settings.progressive = options.isProgressive
        settings.horizontal_subsampling = Int32(subsampling.0)
        settings.vertical_subsampling = Int32(subsampling.1)
        // Exif requires its segment directly after the SOI marker.
        settings.omits_jfif = options.metadata.exif != nil
        try check(unsafe calotype_jpeg_writer_start(raw, &settings))
    }

    /// Writes a marker segment; call this before the first row.
    func writeSegment(_ marker: Int32, _ body: [UInt8]) throws(CodecError) {
        try check(
            unsafe body.withUnsafeBufferPointer {
                unsafe calotype_jpeg_writer_write_segment(
                    raw, marker, $0.baseAddress, $0.count)
            })
    }

    /// Writes the profile of the image unless it is sRGB; call this before the first row.
    func writeProfile(of image: PixelBuffer) throws(CodecError) {
        let isGray = [.gray8, .alpha8].contains(image.format)
        guard let profile = image.colorProfile.iccBytes(isGray: isGray) else { return }
        try check(
            unsafe profile.withUnsafeBufferPointer {
                unsafe calotype_jpeg_writer_write_profile(raw, $0.baseAddress, $0.count)
            })
    }

    func writeRow(_ row: Span<UInt8>) throws(CodecError) {
        try check(
            unsafe row.withUnsafeBufferPointer {
                unsafe calotype_jpeg_writer_write_row(raw, $0.baseAddress)
            })
    }

    /// Writes a row of MCUs.
    func writePlanes(_ rows: MCURows) throws(CodecError) {
        let status = unsafe rows.bytes.withUnsafeBufferPointer { bytes in
            let start = bytes.baseAddress
            return unsafe calotype_jpeg_writer_write_planes(
                raw, start?.advanced(by: rows.starts[0]), rows.bytesPerRow[0],
                start?.advanced(by: rows.starts[1]), start?.advanced(by: rows.starts[2]),
                rows.bytesPerRow[1])
        }
        try check(status)
    }

    func finish() throws(CodecError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(unsafe calotype_jpeg_writer_finish(raw, &bytes, &count))
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func check(_ status: calotype_jpeg_status) throws(CodecError) {
        guard status != calotype_jpeg_ok else { return }
        throw .library(message: unsafe String(cString: calotype_jpeg_writer_message(raw)))
    }
}
#endif
