// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A change to an image, or a chain of changes, which is a value: nothing is computed before it is
/// applied.
///
/// A chain is applied in one pass over the rows of the image. Adjacent changes of single pixels are
/// fused into one loop, adjacent affine changes of colours into one matrix. Changes that depend on
/// neighbouring pixels keep the few rows they need.
///
/// Colours are computed in single-precision floats, premultiplied by alpha, in the colour space of the
/// image; they are rounded and clamped once, at the end. Only effects that are not affine, such as
/// ``gamma(_:)``, clamp their input to 0...1, unless the image is `PixelFormat.rgbaHalf`.
///
///     let look = Effect.exposure(0.3).then(.saturation(1.1)).then(.sharpen(sigma: 0.8))
///     let image = look.applied(to: original)
public struct Effect: Sendable {
    /// One change.
    enum Step: Sendable {
        case matrix(ColorMatrix)
        case curve(ToneCurve)
        case cube(ColorCube)
        /// Composites the image over a colour.
        case background(SRGBColor)
        case blur(sigma: Double)
        case sharpen(sigma: Double, amount: Double)
        case pixelate(Int)
        case overlay(Overlay)
        case pad(Padding)
        case extend(Extension)
        case trim(Trimming)
    }

    let steps: [Step]

    /// The names of the changes with their parameters, such as `exposure(0.3)+gamma(2.2)`.
    ///
    /// Effects of equal identity have equal results, provided that the identities of overlays and
    /// colour cubes, which their creator chooses, identify their content.
    public let identity: String

    init(_ step: Step, _ identity: String) {
        steps = [step]
        self.identity = identity
    }

    private init(steps: [Step], identity: String) {
        self.steps = steps
        self.identity = identity
    }

    /// The effect without any change, the start of a chain.
    public static let none = Effect(steps: [], identity: "")

    /// Whether the effect changes nothing.
    public var isEmpty: Bool { steps.isEmpty }

    /// Returns this effect followed by another one.
    public func then(_ next: Effect) -> Effect {
        if isEmpty { return next }
        if next.isEmpty { return self }
        return Effect(steps: steps + next.steps, identity: identity + "+" + next.identity)
    }

    /// Whether the effect changes an image in `PixelFormat/yCbCr420` in its planes where it can: it only
    /// extends the image by a blurred fill.
    package var keepsYCbCr: Bool {
        steps.allSatisfy { step in
            guard case .extend(let extending) = step else { return false }
            return extending.fill == .blurredImage
        }
    }

    /// Applies the effect to an image.
    ///
    /// - Parameters:
    ///   - image: the image, in any format.
    ///   - isCancelled: returns whether to stop; called before each row or few rows.
    /// - Returns: the changed image with the colour profile of `image`, or `nil` if it was cancelled.
    ///   The format is that of the image with integer samples or half floats; grey becomes RGB if the
    ///   effect adds colours, and an opaque format gains alpha if the effect can add transparency.
    public func applied(
        to image: PixelBuffer, isCancelled: () -> Bool = { false }
    ) -> PixelBuffer? {
        var image = image
        var rows: [Step] = []
        for step in steps {
            guard step.needsWholeImage else {
                rows.append(step)
                continue
            }
            guard let changed = image.passed(through: rows, isCancelled) else { return nil }
            rows = []
            switch step {
            case .extend(let extending):
                guard let extended = extending.applied(to: changed, isCancelled) else { return nil }
                image = extended
            case .trim(let trimming): image = trimming.applied(to: changed)
            default: preconditionFailure("the step needs rows only")
            }
        }
        return image.passed(through: rows, isCancelled)
    }
}

extension Effect.Step {
    /// Whether the step reads the whole image before it can produce its first row.
    fileprivate var needsWholeImage: Bool {
        switch self {
        case .extend, .trim: true
        default: false
        }
    }
}

extension PixelBuffer {
    /// Returns the image after steps that need rows only, or `nil` if it was cancelled.
    fileprivate func passed(
        through steps: [Effect.Step], _ isCancelled: () -> Bool
    ) -> PixelBuffer? {
        guard !steps.isEmpty else { return self }
        if case .blur(let sigma) = steps[0], steps.count == 1, format.hasByteChannels {
            return sigma < BlockBlur.smallestSigma
                ? ByteConvolution(sigma: sigma, self).blurred(isCancelled)
                : ByteBlur(sigma: sigma, self).blurred(isCancelled)
        }
        let source = unpacked
        let pass = RowPass(
            steps, size: source.size, format: source.format, colorProfile: source.colorProfile)
        for y in 0..<source.size.height {
            if isCancelled() { return nil }
            pass.append(source.row(y))
        }
        return pass.finish()
    }
}
