// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// A picture in some 20 to 30 characters: its average colour and a few waves of colour over it.
///
/// It knows neither the proportions of the picture nor alpha; ``ThumbHash`` does.
/// - SeeAlso: Dag Ågren, “BlurHash Algorithm”,
///   <https://github.com/woltapp/blurhash/blob/master/Algorithm.md>.
public struct BlurHash: Hashable, Sendable {
    /// Larger pictures are reduced before they are read; more would not show.
    public static let largestSide = 100
    /// How many waves there can be along each side.
    public static let componentCounts = 1...9

    public let text: String
    public let horizontalComponentCount: Int
    public let verticalComponentCount: Int
    /// The mean colour and the waves, in linear light.
    private let components: [LinearColor]

    /// Takes a hash that was made before.
    ///
    /// - Parameter text: the hash and nothing else.
    /// - Throws: `CodecError/truncated(byteCount:)`, or `CodecError/malformed(reason:offset:)`.
    public init(_ text: String) throws(CodecError) {
        let digits = try Base83.digits(text)
        guard digits.count >= 6 else { throw .truncated(byteCount: digits.count) }
        guard digits[0] < 81 else {
            throw .malformed(reason: "a BlurHash of more than 9 waves a side", offset: 0)
        }
        let (columns, rows) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
        let count = 4 + 2 * columns * rows
        guard digits.count >= count else { throw .truncated(byteCount: digits.count) }
        guard digits.count == count else {
            throw .malformed(reason: "characters behind a BlurHash", offset: count)
        }
        let mean = Base83.number(digits[2..<6])
        guard mean < 1 << 24 else { throw .malformed(reason: "no colour of a BlurHash", offset: 2) }
        let scale = Double(digits[1] + 1) / 166
        var components = [LinearColor(mean)]
        for place in stride(from: 6, to: count, by: 2) {
            let number = Base83.number(digits[place..<place + 2])
            guard number < 19 * 19 * 19 else {
                throw .malformed(reason: "no wave of a BlurHash", offset: place)
            }
            components.append(LinearColor(wave: number, scale: scale))
        }
        self.text = text
        self.components = components
        horizontalComponentCount = columns
        verticalComponentCount = rows
    }

    /// Reads a picture of any size; alpha is dropped, as if it stood before black.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - horizontalComponentCount: waves along the width, within ``componentCounts``.
    ///   - verticalComponentCount: waves along the height, within ``componentCounts``.
    public init(
        _ image: PixelBuffer, horizontalComponentCount: Int = 4, verticalComponentCount: Int = 3
    ) {
        precondition(
            Self.componentCounts.contains(horizontalComponentCount)
                && Self.componentCounts.contains(verticalComponentCount),
            "a BlurHash has 1 to 9 waves along each side")
        let pixels = image.placeholderPixels(.rgb8, Self.largestSide)
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

    /// The mean of all colours in linear light, as sRGB.
    public var averageColor: SRGBColor { components[0].encoded }

    /// Draws the placeholder.
    ///
    /// - Parameters:
    ///   - size: the size in pixels; both sides at least 1. Small ones do, enlarged by the viewer.
    ///   - punch: what the contrast is multiplied by.
    /// - Returns: RGB.
    public func image(_ size: PixelSize, punch: Double = 1) -> PixelBuffer {
        let columns = Cosines(horizontalComponentCount, size.width, offset: 0)
        let rows = Cosines(verticalComponentCount, size.height, offset: 0)
        var buffer = MutablePixelBuffer(size: size, format: .rgb8)
        for y in 0..<size.height {
            // What all waves of one frequency along the width come to in this row.
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
