// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decodes row by row as the numbers are parsed.
struct XBMDecoder: ImageDecoder {
    /// The parsed declarations before the numbers.
    private struct Start {
        var header: ImageHeader
        /// 8, or 16 in X10 files.
        var bitsPerNumber = 8
        /// The position of the first number.
        var text: XBMText
    }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        try start(of: bytes, limits).header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let start = try start(of: bytes, rows.limits)
        let size = start.header.storedSize
        var text = start.text
        rows.report = DecodeReport(decoder: "xbm", shrinkFactors: [1])
        try rows.begin(size, .gray8, .sRGB)
        let bitCount = start.bitsPerNumber
        let numberCount = (size.width + bitCount - 1) / bitCount
        var row = [UInt8](repeating: 0, count: numberCount * bitCount)
        for y in 0..<size.height {
            for index in 0..<numberCount {
                let number = try value(&text, bytes, isFirst: y == 0 && index == 0)
                guard number < 1 << bitCount else {
                    throw .malformed(
                        reason: "number \(number) exceeds \(bitCount) bits", offset: text.offset)
                }
                for bit in 0..<bitCount {
                    row[index * bitCount + bit] = number >> bit & 1 == 1 ? 0 : 255
                }
            }
            try rows.append(row.span.extracting(first: size.width))
        }
    }

    /// Parses the next number, and the comma before it.
    private func value(
        _ text: inout XBMText, _ bytes: Span<UInt8>, isFirst: Bool
    ) throws(CodecError) -> Int {
        let place = text.offset
        if text.skipSpace(bytes), isFirst || text.take(",", bytes), text.skipSpace(bytes) {
            if let number = text.number(bytes) { return number }
        }
        guard text.offset < bytes.count else { throw .truncated(byteCount: bytes.count) }
        throw .malformed(reason: "expected a number", offset: place)
    }

    private func start(
        of bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> Start {
        var text = XBMText(bytes)
        var values: [String: Int] = [:]
        var title = ""
        while let definition = text.nextDefinition(bytes, within: limits.maximumMetadataByteCount) {
            for suffix in XBMText.Definition.suffixes where definition.name.hasSuffix(suffix) {
                values[suffix] = definition.value
                title = String(definition.name.dropLast(suffix.count))
            }
        }
        var bitsPerNumber = 8
        // `static unsigned char name_bits[12] = {`
        while !text.take("{", bytes) {
            guard text.skipSpace(bytes) else { throw .truncated(byteCount: bytes.count) }
            if let word = text.word(bytes) {
                if word == "short" { bitsPerNumber = 16 }
            } else if !"[]={".unicodeScalars.contains(Unicode.Scalar(bytes[text.offset])) {
                throw .malformed(
                    reason: "expected a declaration of the bits array", offset: text.offset)
            } else if bytes[text.offset] != 0x7B {
                _ = text.take(Unicode.Scalar(bytes[text.offset]), bytes)
            }
        }
        guard let width = values["_width"], let height = values["_height"] else {
            throw .malformed(reason: "missing #define of _width or _height", offset: text.offset)
        }
        let size = PixelSize(width: width, height: height)
        guard !size.isEmpty else {
            throw .malformed(reason: "invalid image size: \(size)", offset: 0)
        }
        var header = ImageHeader(storedSize: size, colorModel: .gray, bitsPerComponent: 1)
        if let x = values["_x_hot"], let y = values["_y_hot"] {
            header.facts.append(.init("hot spot", "\(x),\(y)"))
        }
        if !title.isEmpty { header.facts.append(.init("name", title)) }
        return Start(header: header, bitsPerNumber: bitsPerNumber, text: text)
    }
}
