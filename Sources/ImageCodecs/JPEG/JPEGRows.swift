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
            let count = reader.channelCount
            guard count == 1 || count == 3 || count == 4 else {
                throw .unsupported(feature: "a JPEG of \(count) components")
            }
            let isInk = count == 4
            inkConversion =
                isInk ? try CMYKConversion(header.colorProfile, isInverted: reader.isInverted) : nil
            size = reader.size
            format = count == 1 ? .gray8 : .rgb8
            profile = isInk ? .sRGB : header.colorProfile
            if isInk { inks = Array(repeating: 0, count: size.width * 4) }
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
