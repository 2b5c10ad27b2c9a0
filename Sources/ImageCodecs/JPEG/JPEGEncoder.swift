// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import CJPEG
    internal import EncodedImages
    internal import Pixels

    /// Writes JPEG with libjpeg-turbo.
    ///
    /// Transparent pixels are laid over white, as JPEG has no alpha.
    struct JPEGEncoder: ImageEncoder {
        func encode(
            _ image: PixelBuffer, _ options: EncodeOptions
        ) throws(CodecError) -> [UInt8] {
            let size = image.size
            guard size.largestSide <= 65_500 else {
                throw .unsupported(feature: "a JPEG with a side of more than 65500 pixels")
            }
            let writer = try JPEGWriter()
            try writer.start(image, options)
            if image.format == .rgba8 {
                var row = [UInt8](repeating: 0, count: size.width * 3)
                for y in 0..<size.height {
                    layOverWhite(image.row(y), into: &row)
                    try writer.writeRow(row.span)
                }
            } else {
                for y in 0..<size.height { try writer.writeRow(image.row(y)) }
            }
            return try writer.finish()
        }

        private func layOverWhite(_ source: Span<UInt8>, into row: inout [UInt8]) {
            for x in 0..<source.count / 4 {
                let white = 255 - source[x * 4 + 3]
                for c in 0..<3 { row[x * 3 + c] = source[x * 4 + c] &+ white }
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
            var profile: [UInt8] = []
            if case .icc(let bytes) = image.colorProfile { profile = bytes }
            let status = unsafe profile.withUnsafeBufferPointer { profile in
                var settings = unsafe calotype_jpeg_settings()
                unsafe settings.width = Int32(image.size.width)
                unsafe settings.height = Int32(image.size.height)
                unsafe settings.channels = image.format.channelCount == 1 ? 1 : 3
                unsafe settings.quality = Int32(min(max(options.quality, 1), 100))
                unsafe settings.progressive = options.isProgressive
                unsafe settings.horizontal_subsampling = Int32(subsampling.0)
                unsafe settings.vertical_subsampling = Int32(subsampling.1)
                unsafe settings.icc = profile.baseAddress
                unsafe settings.icc_count = profile.count
                return unsafe calotype_jpeg_writer_start(raw, &settings)
            }
            try check(status)
        }

        func writeRow(_ row: Span<UInt8>) throws(CodecError) {
            try check(
                unsafe row.withUnsafeBufferPointer {
                    unsafe calotype_jpeg_writer_write_row(raw, $0.baseAddress)
                })
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
