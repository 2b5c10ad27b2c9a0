// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Converts linear light from one set of primaries to another.
struct PrimariesConversion {
    private let red, green, blue: SIMD3<Float>

    /// - Parameters:
    ///   - source: the matrix of the primaries to the profile connection space.
    ///   - target: that of the primaries of the result; the conversion is `nil` without both, and if this one
    ///     is singular.
    init?(from source: Matrix3?, to target: Matrix3?) {
        guard let source, let inverse = target?.inverse else { return nil }
        let rows = inverse.times(source).rows.map { SIMD3<Float>($0) }
        (red, green, blue) = (rows[0], rows[1], rows[2])
    }

    @inline(__always)
    func callAsFunction(_ color: SIMD3<Float>) -> SIMD3<Float> {
        SIMD3((color * red).sum(), (color * green).sum(), (color * blue).sum())
    }
}
