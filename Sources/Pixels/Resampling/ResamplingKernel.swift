// SPDX-License-Identifier: Apache-2.0

/// A resampling filter: the weight of a source pixel by its distance from the sample point.
///
/// - SeeAlso: Ken Turkowski, “Filters for Common Resampling Tasks”, *Graphics Gems*, 1990;
///   Robert Keys, “Cubic Convolution Interpolation for Digital Image Processing”, 1981.
public enum ResamplingKernel: String, Hashable, Sendable, CaseIterable {
    /// The mean of the source pixels that a result pixel covers.
    case box
    /// Linear interpolation.
    case triangle
    /// Cubic convolution with *a* = −0.5.
    case catmullRom
    /// A sinc with three lobes and a Lanczos window: the sharpest, and the default.
    case lanczos3

    /// The distance in pixels of the coarser image beyond which all weights are 0.
    public var radius: Double {
        switch self {
        case .box: 0.5
        case .triangle: 1
        case .catmullRom: 2
        case .lanczos3: 3
        }
    }

    /// Returns the weight at a distance in pixels, before normalization to a sum of 1.
    public func weight(at distance: Double) -> Double {
        let x = abs(distance)
        switch self {
        case .box:
            // A half-open interval, so that a pixel between two result pixels counts once
            // despite rounding errors.
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
