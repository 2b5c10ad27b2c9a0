// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Converts rows of CIE L\*a\*b\* (D50) to sRGB.
///
/// Shape: three samples a pixel. L\* ranges from 0 to 100; a\* and b\* are 8-bit integers, or
/// 16-bit with 8 fractional bits, either signed or, as in ICC profiles, with an offset of 128.
/// - SeeAlso: TIFF 6.0, section 23; ICC.1:2022, section 6.3.4; Bruce Lindbloom on Bradford's
///   matrix.
struct LabConversion {
    private let isICC: Bool
    /// The transfer function of sRGB for linear light from 0 to 1.
    private let curve: [Float]

    init(isICC: Bool) {
        self.isICC = isICC
        curve = (0...4096).map { index in
            let light = Float(index) / 4096
            return light <= 0.0031308 ? light * 12.92 : 1.055 * powf(light, 1 / 2.4) - 0.055
        }
    }

    func convert<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: Span<Sample>, into result: inout [Sample]
    ) {
        let isWide = Sample.bitWidth == 16
        let unit: Float = isWide ? 256 : 1
        // In the 16-bit encoding of ICC, L\* = 100 is 0xFF00.
        let white: Float = isWide ? (isICC ? 65280 : 65535) : 255
        for pixel in stride(from: 0, to: row.count - 2, by: 3) {
            let lightness = min(Float(row[pixel]) / white, 1) * 100
            let a = signed(row[pixel + 1]) / unit
            let b = signed(row[pixel + 2]) / unit
            let fy = (lightness + 16) / 116
            let x = 0.9642 * light(fy + a / 500)
            let y = light(fy)
            let z = 0.8249 * light(fy - b / 200)
            result[pixel] = encoded(3.1338561 * x - 1.6168667 * y - 0.4906146 * z)
            result[pixel + 1] = encoded(-0.9787684 * x + 1.9161415 * y + 0.0334540 * z)
            result[pixel + 2] = encoded(0.0719453 * x - 0.2289914 * y + 1.4052427 * z)
        }
    }

    private func signed<Sample: FixedWidthInteger & UnsignedInteger>(_ sample: Sample) -> Float {
        let half = Float(1 << (Sample.bitWidth - 1))
        if isICC { return Float(sample) - half }
        return Float(sample) < half ? Float(sample) : Float(sample) - 2 * half
    }

    private func light(_ f: Float) -> Float {
        f > 6 / 29 ? f * f * f : 3 * (6 / 29) * (6 / 29) * (f - 4 / 29)
    }

    private func encoded<Sample: FixedWidthInteger & UnsignedInteger>(_ light: Float) -> Sample {
        let place = min(max(light, 0), 1) * 4096
        let index = min(Int(place), 4095)
        let share = place - Float(index)
        let value = curve[index] + (curve[index + 1] - curve[index]) * share
        return Sample(min(max(value, 0), 1) * Float(Sample.max) + 0.5)
    }
}
