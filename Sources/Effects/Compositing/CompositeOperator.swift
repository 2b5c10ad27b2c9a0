// SPDX-License-Identifier: Apache-2.0

/// Which parts of a source and of the backdrop below it are shown: the operators of Porter and Duff.
///
/// - SeeAlso: W3C, Compositing and Blending Level 1, section 9.
public enum CompositeOperator: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case clear
    /// The source alone.
    case copy
    /// The backdrop alone.
    case destination
    /// The source above the backdrop.
    case sourceOver = "source-over"
    /// The backdrop above the source.
    case destinationOver = "destination-over"
    /// The source where the backdrop is.
    case sourceIn = "source-in"
    /// The backdrop where the source is.
    case destinationIn = "destination-in"
    /// The source where the backdrop is not.
    case sourceOut = "source-out"
    /// The backdrop where the source is not.
    case destinationOut = "destination-out"
    /// The source above the backdrop, where the backdrop is.
    case sourceAtop = "source-atop"
    /// The backdrop above the source, where the source is.
    case destinationAtop = "destination-atop"
    /// Each where the other is not.
    case xor
    /// The sum of both.
    case lighter

    /// Returns the fractions of the source and of the backdrop that are shown.
    @inline(__always)
    func fractions(_ source: Float, _ backdrop: Float) -> (source: Float, backdrop: Float) {
        switch self {
        case .clear: (0, 0)
        case .copy: (1, 0)
        case .destination: (0, 1)
        case .sourceOver: (1, 1 - source)
        case .destinationOver: (1 - backdrop, 1)
        case .sourceIn: (backdrop, 0)
        case .destinationIn: (0, source)
        case .sourceOut: (1 - backdrop, 0)
        case .destinationOut: (0, 1 - source)
        case .sourceAtop: (backdrop, 1 - source)
        case .destinationAtop: (1 - backdrop, source)
        case .xor: (1 - backdrop, 1 - source)
        case .lighter: (1, 1)
        }
    }

    /// Whether an opaque backdrop stays opaque below every source.
    var keepsOpaque: Bool {
        switch self {
        case .destination, .sourceOver, .destinationOver, .sourceAtop, .lighter: true
        default: false
        }
    }

    /// Whether a transparent source changes the backdrop.
    var changesOutside: Bool { fractions(0, 1).backdrop != 1 }
}

/// Composites rows of premultiplied pixels.
package enum Compositor {
    /// Composites pixels onto a part of a row.
    ///
    /// - Parameters:
    ///   - source: the pixels of the source.
    ///   - row: the backdrop, which receives the result.
    ///   - start: the index in the row of the first pixel of the source.
    ///   - mode: mixes the colours.
    ///   - composite: selects the parts that are shown.
    package static func composite(
        _ source: Span<SIMD4<Float>>, onto row: inout MutableSpan<SIMD4<Float>>, at start: Int,
        mode: BlendMode, _ composite: CompositeOperator
    ) {
        precondition(start >= 0 && start + source.count <= row.count, "the source leaves the row")
        guard mode != .normal || composite != .sourceOver else {
            for x in source.indices {
                let pixel = unsafe source[unchecked: x]
                let backdrop = unsafe row[unchecked: start &+ x]
                unsafe row[unchecked: start &+ x] = pixel + backdrop * (1 - pixel.w)
            }
            return
        }
        for x in source.indices {
            let (pixel, backdrop) = (source[x], row[start + x])
            var mixed = pixel
            if mode != .normal, pixel.w > 0, backdrop.w > 0 {
                let color = mode.mixed(backdrop / backdrop.w, pixel / pixel.w) * pixel.w
                mixed = pixel * (1 - backdrop.w) + color * backdrop.w
                mixed.w = pixel.w
            }
            let fractions = composite.fractions(pixel.w, backdrop.w)
            let sum = mixed * fractions.source + backdrop * fractions.backdrop
            row[start + x] = composite == .lighter ? pointwiseMin(sum, .one) : sum
        }
    }
}
