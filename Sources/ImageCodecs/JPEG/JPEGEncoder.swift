// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import CJPEG
    internal import EncodedImages
    internal import Pixels

    /// Writes JPEG with libjpeg-turbo.
    ///
    /// Transparent pixels are laid over white, as JPEG has no alpha. Planes of luma and colour
    /// differences are compressed as they are if the colours are to have half the resolution.
    struct JPEGEncoder: ImageEncoder {
        func dependsOnQuality(_ options: EncodeOptions) -> Bool { true }

        var writesColorProfiles: Bool { true }

        func prefersYCbCr(_ options: EncodeOptions) -> Bool { options.chromaSubsampling == .half }

        func encode(
            _ image: PixelBuffer, _ options: EncodeOptions
        ) throws(CodecError) -> [UInt8] {
            let size = image.size
            guard size.largestSide <= 65_500 else {
                throw .unsupported(feature: "a JPEG with a side of more than 65500 pixels")
            }
            let isWritten = image.format == .yCbCr420 && prefersYCbCr(options)
            let image =
                isWritten
                ? image : image.converted(to: image.format.withWholeSamples.with8BitChannels)
            let segments = try JPEGMetadata.segments(of: options.metadata)
            let writer = try JPEGWriter()
            try writer.start(image, options)
            for segment in segments { try writer.writeSegment(segment.marker, segment.body) }
            try writer.writeProfile(of: image)
            if image.format == .yCbCr420 {
                try writePlanes(of: image, to: writer)
            } else if image.format == .rgba8 {
                var row = [UInt8](repeating: 0, count: size.width * 3)
                for y in 0..<size.height {
                    var pixels = row.mutableSpan
                    PremultipliedAlpha.layOverWhite(image.row(y), into: &pixels)
                    try writer.writeRow(row.span)
                }
            } else {
                for y in 0..<size.height { try writer.writeRow(image.row(y)) }
            }
            return try writer.finish()
        }

        /// Writes 16 rows at a time, the last column and row repeated to the end of their blocks.
        private func writePlanes(
            of image: PixelBuffer, to writer: borrowing JPEGWriter
        ) throws(CodecError) {
            var blocks = (0..<3).map { plane in
                let width = image.layout(ofPlane: plane).size.width
                return PlaneBlocks(width: width, rowCount: plane == 0 ? 16 : 8)
            }
            for top in stride(from: 0, to: image.size.height, by: 16) {
                for plane in 0..<3 {
                    let height = image.layout(ofPlane: plane).size.height
                    let first = plane == 0 ? top : top / 2
                    for y in 0..<blocks[plane].rowCount {
                        blocks[plane].copy(
                            image.row(min(first + y, height - 1), plane: plane), to: y)
                    }
                }
                try writer.writePlanes(blocks)
            }
        }
    }

    /// Some rows of a plane, as wide as whole blocks of 8 samples.
    private struct PlaneBlocks {
        let rowCount: Int
        let bytesPerRow: Int
        private(set) var bytes: [UInt8]

        init(width: Int, rowCount: Int) {
            self.rowCount = rowCount
            bytesPerRow = (width + 7) / 8 * 8
            bytes = Array(repeating: 0, count: bytesPerRow * rowCount)
        }

        mutating func copy(_ row: Span<UInt8>, to y: Int) {
            let start = y * bytesPerRow
            let last = row[row.count - 1]
            unsafe row.withUnsafeBytes { row in
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    let place = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: bytes[start..<start + bytesPerRow])
                    unsafe place.copyMemory(from: row)
                    for x in row.count..<place.count { unsafe place[x] = last }
                }
            }
        }
    }

    /// The only owner of a libjpeg compressor.
    @safe private struct JPEGWriter: ~Copyable {
        private let raw: OpaquePointer

        init() throws(CodecError) {
            guard let raw = unsafe calotype_jpeg_writer_create() else {
                throw .library(message: "no memory for a JPEG encoder")
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
            // EXIF must follow the start of the image at once.
            settings.omits_jfif = options.metadata.exif != nil
            try check(unsafe calotype_jpeg_writer_start(raw, &settings))
        }

        /// Writes a segment before the pixels.
        func writeSegment(_ marker: Int32, _ body: [UInt8]) throws(CodecError) {
            try check(
                unsafe body.withUnsafeBufferPointer {
                    unsafe calotype_jpeg_writer_write_segment(
                        raw, marker, $0.baseAddress, $0.count)
                })
        }

        /// Writes the colour profile, if the picture has one, before the pixels.
        func writeProfile(of image: PixelBuffer) throws(CodecError) {
            guard case .icc(let profile) = image.colorProfile, !profile.isEmpty else { return }
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

        /// The planes hold the rows that the compressor takes at once.
        func writePlanes(_ planes: [PlaneBlocks]) throws(CodecError) {
            let status = unsafe planes[0].bytes.withUnsafeBufferPointer { luma in
                unsafe planes[1].bytes.withUnsafeBufferPointer { blue in
                    unsafe planes[2].bytes.withUnsafeBufferPointer { red in
                        unsafe calotype_jpeg_writer_write_planes(
                            raw, luma.baseAddress, planes[0].bytesPerRow, blue.baseAddress,
                            red.baseAddress, planes[1].bytesPerRow)
                    }
                }
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
