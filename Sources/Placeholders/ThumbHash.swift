// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// A placeholder in about 25 bytes: average colour, aspect ratio and a few cosine components.
///
/// Layout: the mean and the largest coefficient of brightness, of yellow minus blue, of red minus
/// green, and of alpha if there is any; then 4 bits for each coefficient. With alpha there are
/// fewer coefficients of brightness.
/// - SeeAlso: Evan Wallace, “ThumbHash”, <https://evanw.github.io/thumbhash/>.
public struct ThumbHash: Hashable, Sendable {
    /// The longest side that is encoded; larger images are reduced before, without visible
    /// difference.
    public static let largestSide = 100
    /// The maximum length of a hash in bytes.
    package static let largestByteCount = 32
    /// The default length of a placeholder's longer side in pixels.
    public static let placeholderSide = 32

    /// The bytes of the hash.
    public let bytes: [UInt8]

    /// Parses a hash.
    ///
    /// - Parameter bytes: the hash without other bytes.
    /// - Throws: `CodecError/truncated(byteCount:)`, or `CodecError/malformed(reason:offset:)`.
    public init(bytes: [UInt8]) throws(CodecError) {
        guard bytes.count >= 5 else { throw .truncated(byteCount: bytes.count) }
        let shape = Shape(bytes)
        guard shape.shortSide > 0 else {
            throw .malformed(reason: "ThumbHash without aspect ratio", offset: 3)
        }
        guard bytes.count >= shape.byteCount else { throw .truncated(byteCount: bytes.count) }
        guard bytes.count == shape.byteCount else {
            throw .malformed(reason: "bytes after the ThumbHash", offset: shape.byteCount)
        }
        self.bytes = bytes
    }

    /// Parses a hash in Base64.
    ///
    /// - Parameter text: the bytes in Base64.
    /// - Throws: `CodecError/truncated(byteCount:)`, or `CodecError/malformed(reason:offset:)`.
    public init(base64 text: String) throws(CodecError) {
        try self.init(bytes: Base64.decode(text))
    }

    /// Encodes an image of any size.
    public init(_ image: PixelBuffer) {
        bytes = ThumbHashEncoder(placeholderPixels(of: image, .rgba8, Self.largestSide)).bytes
    }

    /// The bytes in Base64.
    public var base64: String { Base64.encode(bytes.span) }

    /// Whether the hash encodes alpha.
    public var hasAlpha: Bool { Shape(bytes).hasAlpha }

    /// The width divided by the height, in steps of a seventh of the longer side, or of a fifth
    /// with alpha.
    public var aspectRatio: Double {
        let shape = Shape(bytes)
        return Double(shape.columns) / Double(shape.rows)
    }

    /// The average colour, weighted by alpha.
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
        precondition(side > 0, "the side of a placeholder must be at least 1")
        let ratio = aspectRatio
        let size =
            ratio > 1
            ? PixelSize(width: side, height: max(1, Int((Double(side) / ratio).rounded())))
            : PixelSize(width: max(1, Int((Double(side) * ratio).rounded())), height: side)
        return ThumbHashDecoder(bytes).image(size)
    }

    /// Draws the placeholder at the exact size.
    package func image(of size: PixelSize) -> PixelBuffer { ThumbHashDecoder(bytes).image(size) }

    /// The layout by the first bytes.
    struct Shape {
        let hasAlpha: Bool
        let isLandscape: Bool
        /// The number of brightness components along the shorter side.
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
    /// Decodes the hash from text in Base64.
    public init(from decoder: any Decoder) throws {
        try self.init(base64: decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the hash as text in Base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64)
    }
}

/// The components of a channel that are encoded: a triangle of low frequencies without the
/// constant.
struct WaveSet {
    /// The half-periods along the width and the height, in the order of the hash.
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
