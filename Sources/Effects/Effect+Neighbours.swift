// SPDX-License-Identifier: Apache-2.0

extension Effect {
    /// Convolves the image with a Gaussian; edge pixels are repeated beyond the border.
    ///
    /// From a standard deviation of 4 pixels, the image is reduced by a power of two, blurred, and
    /// enlarged with cubic B-splines while rows pass, in O(pixels) for every `sigma`. The result
    /// differs from an exact Gaussian by less than 1/255.
    ///
    /// - Parameter sigma: the standard deviation in pixels, clamped to 1000; 0 or less changes nothing.
    /// - Returns: the effect.
    public static func blur(sigma: Double) -> Effect {
        sigma > 0 ? Effect(.blur(sigma: min(sigma, 1000)), "blur(\(min(sigma, 1000)))") : .none
    }

    /// Adds the difference between the image and its Gaussian blur, an unsharp mask.
    ///
    /// - Parameters:
    ///   - sigma: the standard deviation of the Gaussian in pixels, clamped to 10; 0 or less changes
    ///     nothing.
    ///   - amount: the factor of the difference; 0 changes nothing.
    /// - Returns: the effect.
    public static func sharpen(sigma: Double, amount: Double = 1) -> Effect {
        guard sigma > 0, amount != 0 else { return .none }
        return Effect(
            .sharpen(sigma: min(sigma, 10), amount: amount), "sharpen(\(min(sigma, 10)),\(amount))")
    }

    /// Replaces squares of pixels by their means, from the top left.
    ///
    /// - Parameter side: the side of the squares in pixels; 1 or less changes nothing.
    /// - Returns: the effect.
    public static func pixelate(_ side: Int) -> Effect {
        side > 1 ? Effect(.pixelate(side), "pixelate(\(side))") : .none
    }

    /// Composites another image over or into the image.
    public static func overlay(_ overlay: Overlay) -> Effect {
        Effect(.overlay(overlay), "overlay(\(overlay.text))")
    }

    /// Adds margins.
    public static func pad(_ padding: Padding) -> Effect {
        padding.isEmpty ? .none : Effect(.pad(padding), "pad(\(padding.text))")
    }

    /// Places the image in a larger box.
    public static func extend(_ extending: Extension) -> Effect {
        Effect(.extend(extending), "extend(\(extending.text))")
    }

    /// Removes borders of one colour.
    public static func trim(_ trimming: Trimming) -> Effect {
        Effect(.trim(trimming), "trim(\(trimming.text))")
    }
}
