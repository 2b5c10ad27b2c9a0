// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import CTIFF
internal import EncodedImages
internal import Pixels

/// An encoder that uses libtiff, with the sample depth of the image, 8 or 16 bits.
///
/// Rows are stored in strips, compressed by Deflate with horizontal differencing. A pyramid is
/// stored in tiles, each reduced version in a directory after the image. Its tiles are JPEG unless
/// the options are lossless or the image has alpha or more than 8 bits.
struct TIFFEncoder: ImageEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 22
    }

    var writesColorProfiles: Bool { true }

    private static let tileSide = 256

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        var image = image.converted(to: image.format.withIntegerSamples)
        if image.format == .alpha8 { image = image.converted(to: .rgba8) }
        let byteCount = image.size.area.saturatingProduct(image.format.bytesPerPixel)
        // 32-bit offsets reach 4 GiB; incompressible data grows a little.
        let writer = try TIFFWriter(isBig: byteCount > 2_700_000_000)
        if options.isPyramid {
            try writer.start(image, options, tileSide: Self.tileSide)
            try writer.writeTiles(image, Self.tileSide)
            var smaller = image
            while smaller.size.largestSide > Self.tileSide {
                smaller = LevelReduction.half(of: smaller)
                try writer.start(
                    smaller, options, tileSide: Self.tileSide, isReduced: true)
                try writer.writeTiles(smaller, Self.tileSide)
            }
        } else {
            try writer.start(image, options)
            for y in 0..<image.size.height { try writer.write(image.row(y), y, image.format) }
            try writer.endImage()
        }
        let file = try writer.finish()
        return try TIFFMetadata.adding(options.metadata, to: file)
    }
}

/// The only owner of a libtiff handle that writes.
@safe private struct TIFFWriter: ~Copyable {
    private let raw: OpaquePointer

    init(isBig: Bool) throws(CodecError) {
        try unsafe requireLibrary(calotype_tiff_missing())
        guard let raw = unsafe calotype_tiff_writer_create(isBig) else {
            throw .library(message: "cannot allocate a TIFF encoder")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_tiff_writer_destroy(raw) }

    func start(
        _ image: PixelBuffer, _ options: EncodeOptions, tileSide: Int = 0,
        isReduced: Bool = false
    ) throws(CodecError) {
        let isGray = image.format.channelCount == 1
        let profile = isReduced ? [] : image.colorProfile.iccBytes(isGray: isGray) ?? []
        let xmp = isReduced ? [] : options.metadata.xmp ?? []
        let isJPEG =
            tileSide > 0 && !options.isLossless && [.gray8, .rgb8].contains(image.format)
        let isDone = unsafe profile.withUnsafeBufferPointer { profile in
            unsafe xmp.withUnsafeBufferPointer { xmp in
                var settings = unsafe calotype_tiff_settings()
                unsafe settings.width = UInt32(image.size.width)
                unsafe settings.height = UInt32(image.size.height)
                unsafe settings.channels = UInt16(image.format.channelCount)
                unsafe settings.depth = UInt16(image.format.plane(0).bytesPerChannel * 8)
                unsafe settings.compression_level = Int32(
                    min(max(options.compressionLevel, 0), 9))
                unsafe settings.tile_side = UInt32(tileSide)
                unsafe settings.is_reduced = isReduced
                if isJPEG {
                    unsafe settings.jpeg_quality = Int32(
                        min(max(options.quality, 1), 100))
                }
                unsafe settings.chroma_width =
                    options.chromaSubsampling == .full ? 1 : 2
                unsafe settings.chroma_height =
                    options.chromaSubsampling == .half ? 2 : 1
                unsafe settings.icc = profile.baseAddress
                unsafe settings.icc_count = profile.count
                unsafe settings.xmp = xmp.baseAddress
                unsafe settings.xmp_count = xmp.count
                return unsafe calotype_tiff_writer_start(raw, &settings)
            }
        }
        try check(isDone)
    }

    func write(_ row: Span<UInt8>, _ y: Int, _ format: PixelFormat) throws(CodecError) {
        let samples = PremultipliedAlpha.straight(row, format)
        try check(
            unsafe samples.withUnsafeBufferPointer {
                unsafe calotype_tiff_writer_write_row(raw, $0.baseAddress, UInt32(y))
            })
    }

    /// Writes the tiles of an image that was started with tiles, and ends it.
    func writeTiles(_ image: PixelBuffer, _ side: Int) throws(CodecError) {
        let width = image.format.bytesPerPixel
        let columns = (image.size.width + side - 1) / side
        for top in stride(from: 0, to: image.size.height, by: side) {
            let lines = min(side, image.size.height - top)
            let rows = (0..<lines).map {
                PremultipliedAlpha.straight(image.row(top + $0), image.format)
            }
            for column in 0..<columns {
                let start = column * side * width
                // Outside of the image, tiles repeat its last pixels, which compresses best.
                var tile: [UInt8] = []
                tile.reserveCapacity(side * side * width)
                for y in 0..<side {
                    let row = rows[min(y, lines - 1)]
                    let end = min(start + side * width, row.count)
                    tile += row[start..<end]
                    for _ in (end - start) / width..<side {
                        tile += row[row.count - width..<row.count]
                    }
                }
                let isWritten = unsafe tile.withUnsafeBufferPointer {
                    unsafe calotype_tiff_writer_write_tile(
                        raw, $0.baseAddress, $0.count, UInt32(top / side * columns + column))
                }
                try check(isWritten)
            }
        }
        try endImage()
    }

    func endImage() throws(CodecError) {
        try check(unsafe calotype_tiff_writer_end_image(raw))
    }

    func finish() throws(CodecError) -> [UInt8] {
        var count = 0
        let bytes = unsafe calotype_tiff_writer_finish(raw, &count)
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func check(_ isDone: Bool) throws(CodecError) {
        if isDone { return }
        throw .library(message: unsafe String(cString: calotype_tiff_writer_message(raw)))
    }
}

/// Reduces the levels of a pyramid.
private enum LevelReduction {
    /// Returns an image at half its size, rounded up; each pixel is the mean of four.
    static func half(of image: PixelBuffer) -> PixelBuffer {
        let (size, format) = (image.size, image.format)
        let half = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        var result = MutablePixelBuffer(
            size: half, format: format, colorProfile: image.colorProfile)
        let isWide = format.plane(0).bytesPerChannel == 2
        for y in 0..<half.height {
            let upper = image.row(y * 2)
            let lower = image.row(min(y * 2 + 1, size.height - 1))
            result.withMutableRow(y) { row in
                if isWide {
                    halveWide(upper, lower, format.channelCount, into: &row)
                } else {
                    halve(upper, lower, format.channelCount, into: &row)
                }
            }
        }
        return result.finish()
    }

    private static func halve(
        _ upper: Span<UInt8>, _ lower: Span<UInt8>, _ channels: Int,
        into row: inout MutableSpan<UInt8>
    ) {
        for index in row.indices {
            let left = index / channels * 2 * channels + index % channels
            let right = left + channels < upper.count ? left + channels : left
            let sum = UInt16(upper[left]) + UInt16(upper[right]) + UInt16(lower[left])
            row[index] = UInt8((sum + UInt16(lower[right]) + 2) / 4)
        }
    }

    private static func halveWide(
        _ upper: Span<UInt8>, _ lower: Span<UInt8>, _ channels: Int,
        into row: inout MutableSpan<UInt8>
    ) {
        let samples = upper.withSamples16 { upper in
            lower.withSamples16 { lower in
                (0..<row.count / 2).map { index in
                    let left = index / channels * 2 * channels + index % channels
                    let right = left + channels < upper.count ? left + channels : left
                    let sum = UInt32(upper[left]) + UInt32(upper[right]) + UInt32(lower[left])
                    return UInt16((sum + UInt32(lower[right]) + 2) / 4)
                }
            }
        }
        samples.span.withSampleBytes { bytes in
            for index in bytes.indices { row[index] = bytes[index] }
        }
    }
}
#endif
