// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// A placeholder in 20 to 30 characters: the average colour and a few cosine components.
///
/// It encodes neither the aspect ratio nor alpha; ``ThumbHash`` does.
/// - SeeAlso: Dag Ågren, “BlurHash Algorithm”,
///   <https://github.com/woltapp/blurhash/blob/master/Algorithm.md>.
public struct BlurHash: Hashable, Sendable {
    /// The longest side that is encoded; larger images are reduced before, without visible
    /// difference.
    public static let largestSide = 100
    /// The numbers of components that are allowed along each side.
    public static let componentCounts = 1...9

    /// The hash in base 83.
    public let text: String
    /// The number of components along the width.
    public let horizontalComponentCount: Int
    /// The number of components along the height.
    public let verticalComponentCount: Int
    /// The average colour and the components, in linear light.
    private let components: [LinearColor]

    /// Parses a hash.
    ///
    /// - Parameter text: the hash without other characters.
    /// - Throws: `CodecError/truncated(byteCount:)`, or `CodecError/malformed(reason:offset:)`.
    public init(_ text: String) throws(CodecError) {
        let digits = try Base83.digits(text)
        guard digits.count >= 6 else { throw .truncated(byteCount: digits.count) }
        guard digits[0] < 81 else {
            throw .malformed(reason: "BlurHash with more than 9 components a side", offset: 0)
        }
        let (columns, rows) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
        let count = 4 + 2 * columns * rows
        guard digits.count >= count else { throw .truncated(byteCount: digits.count) }
        guard digits.count == count else {
            throw .malformed(reason: "characters after the BlurHash", offset: count)
        }
        let mean = Base83.number(digits[2..<6])
        guard mean < 1 << 24 else {
            throw .malformed(reason: "invalid colour in BlurHash", offset: 2)
        }
        let scale = Double(digits[1] + 1) / 166
        var components = [LinearColor(mean)]
        for place in stride(from: 6, to: count, by: 2) {
            let number = Base83.number(digits[place..<place + 2])
            guard number < 19 * 19 * 19 else {
                throw .malformed(reason: "invalid component in BlurHash", offset: place)
            }
            components.append(LinearColor(wave: number, scale: scale))
        }
        self.text = text
        self.components = components
        horizontalComponentCount = columns
        verticalComponentCount = rows
    }

    /// Encodes an image of any size; transparent pixels are composited over black.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - horizontalComponentCount: components along the width, within ``componentCounts``.
    ///   - verticalComponentCount: components along the height, within ``componentCounts``.
    public init(
        _ image: PixelBuffer, horizontalComponentCount: Int = 4, verticalComponentCount: Int = 3
    ) {
        precondition(
            Self.componentCounts.contains(horizontalComponentCount)
                && Self.componentCounts.contains(verticalComponentCount),
            "a BlurHash has 1 to 9 waves along each side")
        let pixels = placeholderPixels(of: image, .rgb8, Self.largestSide)
        let waves = LinearColor.waves(of: pixels, horizontalComponentCount, verticalComponentCount)
        let largest = waves.dropFirst().reduce(0) { max($0, $1.largestPart) }
        let step = waves.count > 1 ? min(max(Int((largest * 166 - 0.5).rounded(.down)), 0), 82) : 0
        let scale = Double(step + 1) / 166
        let mean = waves[0].code
        let codes = waves.dropFirst().map { $0.waveCode(scale: scale) }
        let shape = horizontalComponentCount - 1 + (verticalComponentCount - 1) * 9
        text =
            Base83.text(shape, count: 1) + Base83.text(step, count: 1) + Base83.text(mean, count: 4)
            + codes.map { Base83.text($0, count: 2) }.joined()
        components =
            [LinearColor(mean)] + codes.map { LinearColor(wave: $0, scale: scale) }
        self.horizontalComponentCount = horizontalComponentCount
        self.verticalComponentCount = verticalComponentCount
    }

    /// The average colour in linear light, as sRGB.
    public var averageColor: SRGBColor { components[0].encoded }

    /// Draws the placeholder.
    ///
    /// - Parameters:
    ///   - size: the size in pixels, both sides at least 1; a small image that is enlarged
    ///     suffices.
    ///   - punch: the factor of the contrast.
    /// - Returns: RGB.
    public func image(_ size: PixelSize, punch: Double = 1) -> PixelBuffer {
        let columns = Cosines(horizontalComponentCount, size.width, offset: 0)
        let rows = Cosines(verticalComponentCount, size.height, offset: 0)
        var buffer = MutablePixelBuffer(size: size, format: .rgb8)
        for y in 0..<size.height {
            // The sum of all components of one horizontal frequency in this row.
            let sums = (0..<horizontalComponentCount).map { column in
                (0..<verticalComponentCount).reduce(into: LinearColor()) { sum, row in
                    let index = row * horizontalComponentCount + column
                    sum.add(components[index], weight: rows[row, y] * (index == 0 ? 1 : punch))
                }
            }
            buffer.withMutableRow(y) { result in
                for x in 0..<size.width {
                    var color = LinearColor()
                    for column in sums.indices {
                        color.add(sums[column], weight: columns[column, x])
                    }
                    let code = color.code
                    result[x * 3] = UInt8(code >> 16)
                    result[x * 3 + 1] = UInt8(code >> 8 & 255)
                    result[x * 3 + 2] = UInt8(code & 255)
                }
            }
        }
        return buffer.finish()
    }
}
