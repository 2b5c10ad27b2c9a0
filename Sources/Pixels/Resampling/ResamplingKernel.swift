// SPDX-License-Identifier: Apache-2.0

/// How much a source pixel counts at a distance from the sample point.
///
/// - SeeAlso: Ken Turkowski, “Filters for Common Resampling Tasks”, *Graphics Gems*, 1990;
///   Robert Keys, “Cubic Convolution Interpolation for Digital Image Processing”, 1981.
public enum ResamplingKernel: String, Hashable, Sendable, CaseIterable {
    /// The mean of the pixels that a result pixel covers.
    case box
    /// Linear interpolation.
    case triangle
    /// The cubic through its points with *a* = −0.5.
    case catmullRom
    /// A windowed sinc of three lobes: the sharpest, and the default.
    case lanczos3

    /// Beyond this distance, in pixels of the coarser side, every weight is 0.
    public var radius: Double {
        switch self {
        case .box: 0.5
        case .triangle: 1
        case .catmullRom: 2
        case .lanczos3: 3
        }
    }

    /// The weight before all weights of a result pixel are scaled to a sum of 1.
    public func weight(at distance: Double) -> Double {
        let x = abs(distance)
        switch self {
        case .box:
            // Half open, so that a pixel on the border of two counts once, whichever way the
            // distance was rounded.
            return distance > -0.5 + 1e-9 && distance <= 0.5 + 1e-9 ? 1 : 0
        case .triangle:
            return max(0, 1 - x)
        case .catmullRom:
            if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
            return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
        case .lanczos3:
            return x < 3 ? windowedSinc(x) : 0
        }
    }
}
