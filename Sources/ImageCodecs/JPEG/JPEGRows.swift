// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// The rows that libjpeg gives, inks turned into RGB.
    struct JPEGRows: ~Copyable {
        private let size: PixelSize
        private let format: PixelFormat
        private let profile: ColorProfile
        private let inkConversion: CMYKConversion?
        private var row: [UInt8]
        private var inks: [UInt8] = []
        private var y = 0

        /// - Parameters:
        ///   - reader: has been started.
        ///   - header: what the file says of its colours.
        /// - Throws: ``CodecError/unsupported(feature:)`` for what is neither grey, RGB nor CMYK.
        init(_ reader: borrowing JPEGReader, _ header: ImageHeader) throws(CodecError) {
            size = reader.size
            switch reader.channelCount {
            case 1, 3:
                format = reader.channelCount == 1 ? .gray8 : .rgb8
                profile = header.colorProfile
                inkConversion = nil
            case 4:
                format = .rgb8
                profile = .sRGB
                inkConversion = CMYKConversion(header.colorProfile, isInverted: reader.isInverted)
                inks = Array(repeating: 0, count: size.width * 4)
            default:
                throw .unsupported(feature: "a JPEG of \(reader.channelCount) components")
            }
            row = Array(repeating: 0, count: size.width * format.bytesPerPixel)
        }

        func begin(_ rows: inout RowSink) throws(CodecError) {
            try rows.begin(size, format, profile)
        }

        /// Hands on the next row.
        ///
        /// - Returns: whether there are more.
        mutating func next(
            _ reader: borrowing JPEGReader, _ rows: inout RowSink
        ) throws(CodecError) -> Bool {
            guard y < size.height else { return false }
            var pixels: [UInt8] = []
            swap(&pixels, &row)
            defer { swap(&pixels, &row) }
            if inks.isEmpty {
                try reader.readRow(into: &pixels)
            } else {
                try reader.readRow(into: &inks)
                inkConversion?.convert(inks.span, into: &pixels)
            }
            try rows.append(pixels.span)
            y += 1
            return y < size.height
        }
    }
#endif
