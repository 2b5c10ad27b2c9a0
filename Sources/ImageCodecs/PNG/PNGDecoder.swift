// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import CPNG
    internal import EncodedImages
    internal import Pixels

    /// Decodes with libpng, row by row; an interlaced picture takes memory for all of it.
    struct PNGDecoder: ImageDecoder {
        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            try unsafe bytes.withUnsafeBufferPointer { buffer throws(CodecError) in
                let reader = try unsafe PNGReader(buffer, limits)
                return try reader.readHeader()
            }
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            try unsafe bytes.withUnsafeBufferPointer { buffer throws(CodecError) in
                let reader = try unsafe PNGReader(buffer, rows.limits)
                try decode(reader, into: &rows)
            }
        }

        private func decode(
            _ reader: borrowing PNGReader, into rows: inout RowSink
        ) throws(CodecError) {
            let header = try reader.readHeader()
            let size = header.storedSize
            let format: PixelFormat
            switch try reader.start() {
            case 1: format = .gray8
            case 3: format = .rgb8
            default: format = .rgba8
            }
            let rowByteCount = size.width * format.bytesPerPixel
            if reader.isInterlaced {
                let needed = size.area.multipliedReportingOverflow(by: format.bytesPerPixel)
                try rows.limits.check(
                    .memoryByteCount, needed.overflow ? .max : needed.partialValue)
            }
            try rows.begin(size, format, header.colorProfile)
            if reader.isInterlaced {
                var picture = MutablePixelBuffer(size: size, format: format)
                try reader.readImage(into: &picture)
                for y in 0..<size.height {
                    try picture.withMutableRow(y) { row throws(CodecError) in
                        if format == .rgba8 { PremultipliedAlpha.multiply(&row) }
                        try rows.append(row.span)
                    }
                }
            } else {
                var row = [UInt8](repeating: 0, count: rowByteCount)
                for _ in 0..<size.height {
                    try reader.readRow(into: &row)
                    if format == .rgba8 {
                        var span = row.mutableSpan
                        PremultipliedAlpha.multiply(&span)
                    }
                    try rows.append(row.span)
                }
            }
            try reader.finish()
        }
    }

    /// The only owner of a libpng read structure.
    ///
    /// It must not outlive the bytes that it reads.
    @safe private struct PNGReader: ~Copyable {
        private let raw: OpaquePointer
        private let byteCount: Int

        @unsafe init(
            _ bytes: UnsafeBufferPointer<UInt8>, _ limits: DecodeLimits
        ) throws(CodecError) {
            guard
                let raw = unsafe calotype_png_reader_create(
                    bytes.baseAddress, bytes.count, limits.maximumMetadataByteCount)
            else { throw .library(message: "no memory for a PNG decoder") }
            unsafe self.raw = raw
            byteCount = bytes.count
        }

        deinit { unsafe calotype_png_reader_destroy(raw) }

        func readHeader() throws(CodecError) -> ImageHeader {
            var raw = unsafe calotype_png_header()
            try check(unsafe calotype_png_reader_read_header(self.raw, &raw))
            return unsafe ImageHeader(raw)
        }

        /// - Returns: the samples a pixel.
        func start() throws(CodecError) -> Int {
            var channels: Int32 = 0
            try check(unsafe calotype_png_reader_start(raw, &channels))
            return Int(channels)
        }

        var isInterlaced: Bool { unsafe calotype_png_reader_is_interlaced(raw) }

        func readRow(into row: inout [UInt8]) throws(CodecError) {
            let status = unsafe row.withUnsafeMutableBufferPointer {
                unsafe calotype_png_reader_read_row(raw, $0.baseAddress)
            }
            try check(status)
        }

        func readImage(into picture: inout MutablePixelBuffer) throws(CodecError) {
            let stride = picture.bytesPerRow
            var bytes = picture.bytes
            let status = unsafe bytes.withUnsafeMutableBufferPointer {
                unsafe calotype_png_reader_read_image(raw, $0.baseAddress, stride)
            }
            try check(status)
        }

        /// Reads to the end of the file.
        func finish() throws(CodecError) { try check(unsafe calotype_png_reader_finish(raw)) }

        private func check(_ status: calotype_png_status) throws(CodecError) {
            switch status {
            case calotype_png_ok: return
            case calotype_png_truncated: throw .truncated(byteCount: byteCount)
            case calotype_png_out_of_memory: throw .library(message: message)
            default:
                let offset = unsafe calotype_png_reader_offset(raw)
                throw .malformed(reason: message, offset: offset)
            }
        }

        private var message: String { unsafe String(cString: calotype_png_reader_message(raw)) }
    }

    extension ImageHeader {
        fileprivate init(_ png: calotype_png_header) {
            let types: [Int32: ColorModel] = [0: .gray, 3: .palette, 4: .gray]
            unsafe self.init(
                storedSize: PixelSize(width: Int(png.width), height: Int(png.height)),
                colorModel: types[png.color_type] ?? .rgb, bitsPerComponent: Int(png.bit_depth))
            hasAlpha = unsafe png.has_transparency || png.color_type >= 4
            if unsafe png.is_interlaced { facts.append(Fact("interlace", "Adam7")) }
            if unsafe png.exif_count > 0 {
                let block = unsafe Array(
                    UnsafeBufferPointer(start: png.exif, count: png.exif_count))
                orientation = EXIF(block.span).orientation ?? .upright
            }
            colorProfile = unsafe Self.profile(png)
        }

        private static func profile(_ png: calotype_png_header) -> ColorProfile {
            if unsafe png.icc_count > 0 {
                return unsafe .icc(
                    Array(UnsafeBufferPointer(start: png.icc, count: png.icc_count)))
            }
            guard unsafe !png.has_srgb && (png.has_gamma || png.has_primaries) else {
                return .sRGB
            }
            let xy = unsafe png.primaries
            let primaries =
                unsafe png.has_primaries
                ? ColorProfile.Chromaticities(
                    white: .init(x: xy.0, y: xy.1), red: .init(x: xy.2, y: xy.3),
                    green: .init(x: xy.4, y: xy.5), blue: .init(x: xy.6, y: xy.7))
                : .sRGB
            let gamma = unsafe png.has_gamma ? 1 / png.gamma : 2.2
            // What sRGB's own files state, rounded as PNG rounds it.
            let isSRGB = abs(gamma - 2.2) < 0.01 && primaries.isClose(to: .sRGB)
            return isSRGB || !gamma.isFinite ? .sRGB : .calibrated(gamma: gamma, primaries)
        }
    }

    extension ColorProfile.Chromaticities {
        fileprivate func isClose(to other: Self) -> Bool {
            zip([white, red, green, blue], [other.white, other.red, other.green, other.blue])
                .allSatisfy { abs($0.x - $1.x) < 0.002 && abs($0.y - $1.y) < 0.002 }
        }
    }
#endif
