// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The ratio of width to height in one byte: 2^((byte − 128) ÷ 32), exact to 1.1 %.
///
/// The byte 0 stands for an image whose size is not known yet.
enum AspectRatio {
    static let unknown: UInt8 = 0

    /// Returns the byte of an upright size in pixels; ``unknown`` for an empty one.
    static func byte(width: Int, height: Int) -> UInt8 {
        guard width > 0, height > 0 else { return unknown }
        let exponent = log2(Double(width) / Double(height))
        return UInt8(max(1, min(255, 128 + (exponent * 32).rounded())))
    }
}
