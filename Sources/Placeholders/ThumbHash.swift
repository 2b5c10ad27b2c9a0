// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// A picture in about 25 bytes: its average colour, its proportions and a few waves over it.
///
/// Layout: the mean and the largest wave of brightness, of yellow against blue and of red against
/// green, and of alpha if there is any; then 4 bits for every wave. Alpha takes its room from the
/// waves of brightness.
/// - SeeAlso: Evan Wallace, “ThumbHash”, <https://evanw.github.io/thumbhash/>.
public struct ThumbHash: Hashable, Sendable {
    /// Larger pictures are reduced before they are read; more would not show.
    public static let largestSide = 100
    /// No hash has more bytes.
    package static let largestByteCount = 32
    /// The longer side of a placeholder unless somebody wants another.
    public static let placeholderSide = 32

    public let bytes: [UInt8]

    /// Takes a hash that was made before.
    ///
    /// - Parameter bytes: the hash and nothing else.
    /// - Throws: `CodecError/truncated(byteCount:)`, or `CodecError/malformed(reason:offset:)`.
    public init(bytes: [UInt8]) throws(CodecError) {
        guard bytes.count >= 5 else { throw .truncated(byteCount: bytes.count) }
        let shape = Shape(bytes)
        guard shape.shortSide > 0 else {
            throw .malformed(reason: "a ThumbHash without proportions", offset: 3)
        }
        guard bytes.count >= shape.byteCount else { throw .truncated(byteCount: bytes.count) }
        guard bytes.count == shape.byteCount else {
            throw .malformed(reason: "bytes behind a ThumbHash", offset: shape.byteCount)
        }
        self.bytes = bytes
    }

    /// Takes a hash as it stands in text.
    ///
    /// - Parameter text: the bytes in Base64.
    /// - Throws: `CodecError/truncated(byteCount:)`, or `CodecError/malformed(reason:offset:)`.
    public init(base64 text: String) throws(CodecError) {
        try self.init(bytes: Base64.decode(text))
    }

    /// Reads a picture of any size.
    public init(_ image: PixelBuffer) {
        bytes = ThumbHashEncoder(image.placeholderPixels(.rgba8, Self.largestSide)).bytes
    }

    public var base64: String { Base64.encode(bytes.span) }

    public var hasAlpha: Bool { Shape(bytes).hasAlpha }

    /// Width by height, as far as a seventh of the longer side, or a fifth with alpha, tells it.
    public var aspectRatio: Double {
        let shape = Shape(bytes)
        return Double(shape.columns) / Double(shape.rows)
    }

    /// The mean of all colours, weighed by alpha.
    public var averageColor: SRGBColor {
        let values = ThumbHashDecoder(bytes)
        return SRGBColor(
            brightness: values.brightness.mean, yellow: values.yellow.mean, red: values.red.mean,
            alpha: values.alpha.mean)
    }

    /// Draws the placeholder.
    ///
    /// - Parameter side: the longer side in pixels; at least 1.
    /// - Returns: RGB, or premultiplied RGBA if there is alpha.
    public func image(side: Int = ThumbHash.placeholderSide) -> PixelBuffer {
        precondition(side > 0, "a picture is at least 1x1")
        let ratio = aspectRatio
        let size =
            ratio > 1
            ? PixelSize(width: side, height: max(1, Int((Double(side) / ratio).rounded())))
            : PixelSize(width: max(1, Int((Double(side) * ratio).rounded())), height: side)
        return ThumbHashDecoder(bytes).image(size)
    }

    /// Draws the placeholder of a picture whose proportions are known.
    package func image(of size: PixelSize) -> PixelBuffer { ThumbHashDecoder(bytes).image(size) }

    /// What the first bytes say of the rest.
    struct Shape {
        let hasAlpha: Bool
        let isLandscape: Bool
        /// Waves of brightness along the shorter side.
        let shortSide: Int

        init(_ bytes: [UInt8]) {
            hasAlpha = bytes[2] & 0x80 != 0
            isLandscape = bytes[4] & 0x80 != 0
            shortSide = Int(bytes[3] & 7)
        }

        private var longSide: Int { hasAlpha ? 5 : 7 }
        var columns: Int { isLandscape ? longSide : shortSide }
        var rows: Int { isLandscape ? shortSide : longSide }
        var brightness: WaveSet { WaveSet(max(3, columns), max(3, rows)) }
        var headerByteCount: Int { hasAlpha ? 6 : 5 }

        var byteCount: Int {
            let count =
                brightness.count + 2 * WaveSet.color.count + (hasAlpha ? WaveSet.alpha.count : 0)
            return headerByteCount + (count + 1) / 2
        }
    }
}

extension ThumbHash: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(base64: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the hash as text, in Base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64)
    }
}

/// The waves of a channel that are kept: a triangle of the slow ones, the constant left out.
struct WaveSet {
    /// Half-periods over the width and over the height, as they stand in the file.
    let frequencies: [(x: Int, y: Int)]
    let columns: Int
    let rows: Int

    static var color: WaveSet { WaveSet(3, 3) }
    static var alpha: WaveSet { WaveSet(5, 5) }

    init(_ columns: Int, _ rows: Int) {
        self.columns = columns
        self.rows = rows
        frequencies = (0..<rows).flatMap { y in
            (0..<columns).filter { x in x + y > 0 && x * rows < columns * (rows - y) }
                .map { (x: $0, y: y) }
        }
    }

    var count: Int { frequencies.count }
}
