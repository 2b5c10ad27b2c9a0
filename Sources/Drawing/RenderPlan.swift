// SPDX-License-Identifier: Apache-2.0

internal import Effects
public import Pixels

/// Which formats a drawing may have.
public struct ImageRendererFormat: Hashable, Sendable {
    /// The range of colours.
    public enum Range: Hashable, Sendable {
        /// The smallest range that contains all colours that are drawn.
        case automatic
        /// Opacity only: `PixelFormat/alpha8`.
        case monochrome
        /// sRGB in 8 bits.
        case standard
        /// Display P3 in half floats.
        case extended
    }

    /// The range of colours.
    public var range: Range
    /// The number of pixels of a unit of the drawing's coordinates.
    public var scale: Double
    /// The largest number of bytes of the result.
    public var maximumByteCount: Int

    /// Creates a description of formats.
    public init(range: Range = .automatic, scale: Double = 1, maximumByteCount: Int = 1 << 28) {
        self.range = range
        self.scale = scale
        self.maximumByteCount = maximumByteCount
    }

    /// Creates the format in which an image can be drawn without loss of colours.
    public init(for image: PixelBuffer) {
        let isWide = image.format == .rgbaHalf || !image.colorProfile.isSRGB
        self.init(range: image.format == .alpha8 ? .monochrome : isWide ? .extended : .standard)
    }
}

/// The format of a drawing and what it costs, known before pixels are computed.
public struct RenderPlan: Hashable, Sendable {
    /// The format; `nil` if the drawing needs no pixels of its own.
    public let format: PixelFormat?
    /// The number of bytes of the drawing's own pixels.
    public let byteCount: Int
    /// The colour that pixels of `PixelFormat/alpha8` are drawn with.
    public let tint: SRGBColor?
    /// The reason for the format, such as “layer 3 has colours outside of sRGB”.
    public let reason: String
}

extension RenderPlan {
    /// - Parameters:
    ///   - layers: what is drawn.
    ///   - size: the size in pixels.
    ///   - range: the requested range of colours.
    ///   - allowsTint: whether one colour may be stored as a mask with a tint.
    init(
        _ layers: [Layer], _ size: PixelSize, _ range: ImageRendererFormat.Range, allowsTint: Bool
    ) {
        let isOpaque = layers.contains { $0.isOpaque && $0.bounds == PixelRect(size) }
        let gamut = layers.map(\.gamut).reduce(nil) { $0?.union($1) ?? $1 } ?? .single(.clear)
        var tint: SRGBColor?
        let (format, reason): (PixelFormat, String)
        switch (range, gamut) {
        case (.monochrome, _): (format, reason) = (.alpha8, "monochrome was requested")
        case (.extended, _): (format, reason) = (.rgbaHalf, "the extended range was requested")
        case (.standard, _):
            (format, reason) = (isOpaque ? .rgb8 : .rgba8, "the standard range was requested")
        case (_, .wide):
            let index = layers.firstIndex { $0.gamut == .wide } ?? 0
            (format, reason) = (.rgbaHalf, "layer \(index + 1) has colours outside of sRGB")
        case (_, .single(let color)) where allowsTint && !isOpaque && layers.allHaveNormalMode:
            (format, reason, tint) = (.alpha8, "all layers have one colour", color)
        case (_, .single(let color)) where isOpaque && color.isGray:
            (format, reason) = (.gray8, "all colours are grey")
        case (_, .gray) where isOpaque: (format, reason) = (.gray8, "all colours are grey")
        default:
            (format, reason) =
                isOpaque
                ? (.rgb8, "colours are in sRGB, and layer \(layers.opaqueIndex(size)) is opaque")
                : (.rgba8, "colours are in sRGB, and no layer covers the drawing")
        }
        self.init(
            format: format, byteCount: PixelBuffer.byteCount(of: size, format), tint: tint,
            reason: reason)
    }

    /// The colour space of the pixels.
    var space: WorkingSpace { format == .rgbaHalf ? .displayP3 : .sRGB }
}

extension [Layer] {
    fileprivate var allHaveNormalMode: Bool { allSatisfy { $0.mode == .normal } }

    fileprivate func opaqueIndex(_ size: PixelSize) -> Int {
        (firstIndex { $0.isOpaque && $0.bounds == PixelRect(size) } ?? 0) + 1
    }
}
