// SPDX-License-Identifier: Apache-2.0

extension SIMD4<Float> {
    /// A float from which on all floats up to the next power of two are integers.
    private static let integers: Float = 12_582_912

    /// The nearest integers, for values between −2²² and 2²².
    ///
    /// Without SSE 4.1, `rounded()` is a function call for each lane.
    @inline(__always)
    var nearest: SIMD4<Float> { (self + Self.integers) - Self.integers }

    /// The nearest integers, for values between −2²² and 2²².
    @inline(__always)
    var nearestIntegers: SIMD4<Int32> {
        let bits = unsafe unsafeBitCast(self + Self.integers, to: SIMD4<Int32>.self)
        return bits &- Int32(bitPattern: Self.integers.bitPattern)
    }

    /// The values limited to 0 to `highest`.
    @inline(__always)
    func limited(to highest: SIMD4<Float>) -> SIMD4<Float> {
        let result = replacing(with: 0, where: self .< 0)
        return result.replacing(with: highest, where: result .> highest)
    }
}
