// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Maps a signal of a CICP transfer function (ITU-T H.273, 8.2) to light on a standard display,
/// whose white is 1.
///
/// PQ and HLG exceed the range of such a display. Their reference white of 203 cd/m² (ITU-R
/// BT.2408) maps to its white. Light up to 93 cd/m² is kept; light up to 1,000 cd/m², the peak
/// of nearly all such images, is compressed by the curve of ITU-R BT.2390, 5.4.1, applied to
/// each primary. HLG is rendered for a display of 1,000 cd/m².
package struct TransferCurve {
    private let curve: CICP.Transfer

    /// A curve for a transfer function.
    package init(_ curve: CICP.Transfer) { self.curve = curve }

    /// The light of 4,096 evenly spaced signals from 0 to 1.
    package var table: [Float] {
        // PQ is so steep that a coarser table would shift dark greys.
        let last = 4095
        return (0...last).map { Float(light(Double($0) / Double(last))) }
    }

    /// Returns the light of a signal from 0 to 1.
    package func light(_ signal: Double) -> Double {
        switch curve {
        case .linear: return signal
        case .power(let exponent): return pow(signal, exponent)
        case .sRGB:
            return signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
        case .perceptualQuantizer:
            return toneMapped(signal)
        case .hybridLogGamma:
            let luminance = pow(Self.sceneLight(ofHLG: signal), 1.2) * Self.usualPeak
            return toneMapped(Self.signal(ofLuminance: luminance))
        }
    }

    /// Returns the tone-mapped light of a PQ signal, relative to 203 cd/m².
    private func toneMapped(_ signal: Double) -> Double {
        let mapped = Self.toneMapped(signal, to: Self.referenceWhite)
        return min(Self.luminance(ofSignal: mapped) / Self.referenceWhite, 1)
    }

    /// The luminance of the white of SDR content in cd/m² (BT.2408, 2.2).
    package static let referenceWhite = 203.0
    /// The luminance in cd/m² that nearly all images in HDR do not exceed, and the peak for which HLG
    /// is rendered.
    package static let usualPeak = 1000.0

    /// Returns the PQ signal of a signal on a display with less than the usual peak (BT.2390, 5.4.1).
    ///
    /// - Parameters:
    ///   - signal: the signal, from 0 to 1.
    ///   - peak: the luminance of the display in cd/m²; nothing changes from ``usualPeak`` on.
    /// - Returns: the signal, of at most `peak`.
    package static func toneMapped(_ signal: Double, to peak: Double) -> Double {
        guard peak < usualPeak else { return min(signal, self.signal(ofLuminance: peak)) }
        let source = self.signal(ofLuminance: usualPeak)
        let maximum = self.signal(ofLuminance: peak) / source
        let knee = 1.5 * maximum - 0.5
        var value = min(signal / source, 1)
        if value > knee {
            let t = (value - knee) / (1 - knee)
            let (t2, t3) = (t * t, t * t * t)
            let start = (2 * t3 - 3 * t2 + 1) * knee
            let slope = (t3 - 2 * t2 + t) * (1 - knee)
            value = start + slope + (3 * t2 - 2 * t3) * maximum
        }
        return value * source
    }

    /// Returns the light of a scene, from 0 to 1, of a signal of HLG (ITU-R BT.2100, table 5).
    package static func sceneLight(ofHLG signal: Double) -> Double {
        let (a, b, c) = (0.178_832_77, 0.284_668_92, 0.559_910_73)
        return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12
    }

    /// Returns the luminance of a PQ signal in cd/m².
    package static func luminance(ofSignal signal: Double) -> Double {
        let power = pow(max(signal, 0), 1 / 78.84375)
        let ratio = max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)
        return 10_000 * pow(ratio, 1 / 0.1593017578125)
    }

    /// Returns the PQ signal of a luminance in cd/m².
    package static func signal(ofLuminance luminance: Double) -> Double {
        let power = pow(max(luminance, 0) / 10_000, 0.1593017578125)
        return pow(
            (0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }
}
