// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import Pixels

/// One recorded command: colours inside of shapes.
struct Layer: Sendable {
    /// The colours of a layer.
    enum Content: Sendable {
        case paint(Paint, Transform)
        case image(ImageContent)
        /// Glyphs of one colour.
        case glyphs(Coverage, Paint, Transform)
    }

    let content: Content
    /// The pixels outside of which nothing changes.
    let bounds: PixelRect
    /// The areas whose intersection is drawn; empty if all of `bounds` is.
    let shapes: [Shape]
    let opacity: Double
    let mode: BlendMode

    /// Whether every pixel of `bounds` is opaque afterwards.
    var isOpaque: Bool {
        guard shapes.isEmpty, opacity >= 1, mode == .normal else { return false }
        return switch content {
        case .paint(let paint, _):
            !paint.colors.isEmpty && paint.colors.allSatisfy { $0.alpha >= 1 }
        case .image(let image): image.image.isOpaque
        case .glyphs: false
        }
    }

    /// The colours of the layer.
    var gamut: Gamut {
        switch content {
        case .paint(let paint, _), .glyphs(_, let paint, _):
            Gamut(of: paint.colors)
        case .image(let image): image.image.gamut
        }
    }
}

/// How an image is drawn.
struct ImageContent: Sendable {
    enum Sampling: Sendable {
        /// Resampled to a rectangle of whole pixels.
        case placed(PixelRect)
        /// Interpolated between the four nearest pixels of the region.
        case interpolated(Transform)
        /// Repeated, with one copy at a position.
        case tiled(x: Int, y: Int)
    }

    /// In a format that rows are read from.
    let image: PixelBuffer
    /// The part of the image.
    let region: SampleRegion
    let sampling: Sampling
}

/// The smallest class of colours that contains those of a layer.
enum Gamut: Hashable {
    case single(SRGBColor)
    case gray
    case sRGB
    case wide

    init(of colors: [SRGBColor]) {
        guard let first = colors.first?.opaque else {
            self = .single(.clear)
            return
        }
        if colors.contains(where: \.isOutsideSRGB) {
            self = .wide
        } else if colors.allSatisfy({ $0.opaque == first }) {
            self = .single(first)
        } else {
            self = colors.allSatisfy(\.isGray) ? .gray : .sRGB
        }
    }

    /// The class of the colours of both.
    func union(_ other: Gamut) -> Gamut {
        if self == other { return self }
        func rank(_ gamut: Gamut) -> Int {
            switch gamut {
            case .single(let color): color.isGray ? 0 : 1
            case .gray: 0
            case .sRGB: 1
            case .wide: 2
            }
        }
        return switch max(rank(self), rank(other)) {
        case 0: .gray
        case 1: .sRGB
        default: .wide
        }
    }
}

extension SRGBColor {
    var opaque: SRGBColor { SRGBColor(red: red, green: green, blue: blue) }
    var isGray: Bool { red == green && green == blue }
}

extension PixelBuffer {
    /// The class of colours that the format and profile can contain.
    fileprivate var gamut: Gamut {
        guard colorProfile.isSRGB, format != .rgbaHalf else { return .wide }
        return switch format {
        case .alpha8: .single(.black)
        case .gray8, .gray16: .gray
        default: .sRGB
        }
    }
}
