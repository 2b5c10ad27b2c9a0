// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// The rows of a libjpeg decompressor, with CMYK converted to RGB.
struct JPEGRows: ~Copyable {
    private let size: PixelSize
    private let format: PixelFormat
    private let profile: ColorProfile
    private let cmykConversion: CMYKConversion?
    private var row: [UInt8]
    private var cmyk: [UInt8] = []
    private var y = 0

    /// Allocates the buffers.
    ///
    /// - Parameters:
    ///   - reader: a reader that has been started.
    ///   - header: the header, with the colour profile.
    /// - Throws: ``CodecError/unsupported(feature:)`` if the image is neither grey, RGB nor
    ///   CMYK.
    init(_ reader: borrowing JPEGReader, _ header: ImageHeader) throws(CodecError) {
        let count = reader.channelCount
        guard count == 1 || count == 3 || count == 4 else {
            throw .unsupported(feature: "JPEG with \(count) components")
        }
        let isCMYK = count == 4
        cmykConversion =
            isCMYK
            ? try CMYKConversion(header.colorProfile, isInverted: reader.isInverted) : nil
        size = reader.size
        format = count == 1 ? .gray8 : .rgb8
        profile = isCMYK ? .sRGB : header.colorProfile
        if isCMYK { cmyk = Array(repeating: 0, count: size.width * 4) }
        row = Array(repeating: 0, count: size.width * format.bytesPerPixel)
    }

    func begin(_ rows: inout RowSink) throws(CodecError) {
        try rows.begin(size, format, profile)
    }

    /// Passes the next row to `rows`.
    ///
    /// - Returns: whether rows are left.
    mutating func next(
        _ reader: borrowing JPEGReader, _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        guard y < size.height else { return false }
        var pixels: [UInt8] = []
        swap(&pixels, &row)
        defer { swap(&pixels, &row) }
        if cmyk.isEmpty {
            try reader.readRow(into: &pixels)
        } else {
            try reader.readRow(into: &cmyk)
            cmykConversion?.convert(cmyk.span, into: &pixels)
        }
        try rows.append(pixels.span)
        y += 1
        return y < size.height
    }
}
#endif
