// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import Pixels

/// A template with its values and decoded images: what a process without access to files draws from.
///
/// As bytes: ``magic``; the scale in thousandths, the template, the number of values, each with its name,
/// and the number of images. An image is its width, height and number of channels, then the rows without
/// padding. Numbers have 32 bits, the least significant byte first; a text is its length and UTF-8.
public struct CardDocument: Sendable {
    /// The first bytes of a document.
    public static let magic = Array("CALOCRD1".utf8)
    /// The largest number of values.
    public static let maximumValueCount = 256

    /// The template as JSON.
    public var template: String
    /// The values of placeholders.
    public var values: [String: String]
    /// The number of pixels of a unit of the template, in steps of a thousandth.
    public var scale: Double
    /// The images in the order of ``Template/imageRequests(_:scale:)``, in sRGB with 8 bits per channel.
    public var images: [PixelBuffer]

    /// Creates a document.
    public init(
        template: String, values: [String: String], scale: Double, images: [PixelBuffer]
    ) {
        self.template = template
        self.values = values
        self.scale = scale
        self.images = images
    }

    /// The document as bytes.
    ///
    /// - Precondition: images have `PixelFormat.gray8`, `rgb8` or `rgba8`.
    public var bytes: [UInt8] {
        var bytes = Self.magic
        func append(_ number: Int) { bytes.append(number, byteCount: 4, .littleEndian) }
        func append(_ text: String) {
            append(text.utf8.count)
            bytes += text.utf8
        }
        append(Int((scale * 1000).rounded()))
        append(template)
        append(values.count)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            append(name)
            append(value)
        }
        append(images.count)
        for image in images {
            let channelCount = image.format.bytesPerPixel
            precondition(Self.format(channelCount) == image.format, "8 bits per channel")
            append(image.size.width)
            append(image.size.height)
            append(channelCount)
            for y in 0..<image.size.height {
                let row = image.row(y).extracting(first: image.size.width * channelCount)
                unsafe row.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
            }
        }
        return bytes
    }

    /// Reads a document.
    ///
    /// - Throws: ``DrawingError/invalid(reason:)`` for bytes that ``bytes`` cannot be.
    public init(_ bytes: Span<UInt8>) throws(DrawingError) {
        var offset = Self.magic.count
        func number(_ limit: Int) throws(DrawingError) -> Int {
            guard let value = bytes.integer(at: offset, byteCount: 4, .littleEndian),
                value <= limit
            else { throw .invalid(reason: "damaged card document at byte \(offset)") }
            offset += 4
            return value
        }
        func text() throws(DrawingError) -> String {
            let count = try number(bytes.count - offset - 4)
            defer { offset += count }
            return bytes.text(at: offset, byteCount: count)
        }
        guard bytes.count >= offset, (0..<offset).allSatisfy({ bytes[$0] == Self.magic[$0] })
        else { throw .invalid(reason: "not a card document") }
        scale = Double(try number(100_000)) / 1000
        template = try text()
        values = [:]
        for _ in 0..<(try number(Self.maximumValueCount)) {
            let name = try text()
            values[name] = try text()
        }
        images = []
        for _ in 0..<(try number(Template.maximumLayerCount)) {
            let size = PixelSize(width: try number(1 << 20), height: try number(1 << 20))
            let channelCount = try number(4)
            guard let format = Self.format(channelCount), size.width > 0, size.height > 0,
                size.area * channelCount <= bytes.count - offset
            else { throw .invalid(reason: "damaged card document at byte \(offset)") }
            var image = MutablePixelBuffer(size: size, format: format)
            let rowByteCount = size.width * channelCount
            for y in 0..<size.height {
                let row = bytes.extracting(offset..<offset + rowByteCount)
                image.withMutableRow(y) { $0.copy(row, at: 0) }
                offset += rowByteCount
            }
            images.append(image.finish())
        }
        guard offset == bytes.count else {
            throw .invalid(reason: "damaged card document: \(bytes.count - offset) more bytes")
        }
    }

    /// Returns the size of the drawing in pixels.
    ///
    /// - Throws: ``DrawingError/invalid(reason:)`` if the template is not valid.
    public func pixelSize() throws(DrawingError) -> PixelSize {
        let size = try Template(parsing: template).size
        func side(_ length: Int) -> Int { max(1, Int((Double(length) * scale).rounded())) }
        return PixelSize(width: side(size.width), height: side(size.height))
    }

    /// Draws the card in sRGB with 8 bits per channel.
    ///
    /// - Parameter fonts: the fonts of texts.
    /// - Returns: the image.
    /// - Throws: ``DrawingError``.
    public func image(fonts: FontCollection) throws(DrawingError) -> PixelBuffer {
        var rest = images[...]
        return try Template(parsing: template).image(
            values, format: ImageRendererFormat(range: .standard, scale: scale), fonts: fonts
        ) { (request) throws(DrawingError) in
            guard let image = rest.popFirst() else {
                throw .invalid(reason: "the card document has no image \(request.source)")
            }
            return image
        }
    }

    private static func format(_ channelCount: Int) -> PixelFormat? {
        switch channelCount {
        case 1: .gray8
        case 3: .rgb8
        case 4: .rgba8
        default: nil
        }
    }
}
