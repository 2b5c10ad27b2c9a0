// SPDX-License-Identifier: Apache-2.0

/// A 3 × 3 matrix.
package struct Matrix3: Sendable {
    package let columns: [SIMD3<Double>]

    package init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
        columns = [first, second, third]
    }

    init(diagonal: SIMD3<Double>) {
        self.init(
            SIMD3(diagonal.x, 0, 0), SIMD3(0, diagonal.y, 0), SIMD3(0, 0, diagonal.z))
    }

    package var rows: [SIMD3<Double>] {
        (0..<3).map { SIMD3(columns[0][$0], columns[1][$0], columns[2][$0]) }
    }

    func times(_ vector: SIMD3<Double>) -> SIMD3<Double> {
        columns[0] * vector.x + columns[1] * vector.y + columns[2] * vector.z
    }

    package func times(_ other: Matrix3) -> Matrix3 {
        Matrix3(times(other.columns[0]), times(other.columns[1]), times(other.columns[2]))
    }

    /// The inverse; `nil` if the matrix is singular.
    package var inverse: Matrix3? {
        func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        }
        let rows = [
            cross(columns[1], columns[2]), cross(columns[2], columns[0]),
            cross(columns[0], columns[1]),
        ]
        let determinant = (columns[0] * rows[0]).sum()
        guard determinant.isFinite, abs(determinant) > 1e-9 else { return nil }
        let transposed = Matrix3(rows[0], rows[1], rows[2]).rows
        return Matrix3(
            transposed[0] / determinant, transposed[1] / determinant,
            transposed[2] / determinant)
    }
}

extension ColorProfile.Chromaticities {
    /// The illuminant of the profile connection space of ICC profiles, D50.
    static let illuminant = SIMD3(0.9642, 1, 0.8249)
    /// From CIE XYZ to the cone responses of Bradford's chromatic adaptation (ICC.1 annex E).
    private static let bradford = Matrix3(
        SIMD3(0.8951, -0.7502, 0.0389), SIMD3(0.2664, 1.7135, -0.0685),
        SIMD3(-0.1614, 0.0367, 1.0296))

    /// The matrix that adapts colours from the white point to the illuminant; `nil` if it does not exist.
    var adaptation: Matrix3? {
        let from = Self.bradford.times(Self.xyz(white))
        let to = Self.bradford.times(Self.illuminant)
        guard let inverse = Self.bradford.inverse else { return nil }
        return inverse.times(Matrix3(diagonal: to / from).times(Self.bradford))
    }

    /// The matrix from linear RGB to CIE XYZ that is adapted to D50; `nil` for impossible primaries.
    package var connectionMatrix: Matrix3? {
        let primaries = Matrix3(Self.xyz(red), Self.xyz(green), Self.xyz(blue))
        guard let adaptation, let inverse = primaries.inverse else { return nil }
        let shares = inverse.times(Self.xyz(white))
        return adaptation.times(primaries.times(Matrix3(diagonal: shares)))
    }

    /// Returns CIE XYZ at a luminance of 1.
    private static func xyz(_ point: Point) -> SIMD3<Double> {
        SIMD3(point.x / point.y, 1, (1 - point.x - point.y) / point.y)
    }
}

extension ColorProfile {
    /// The matrix from linear RGB to CIE XYZ that is adapted to D50; `nil` for a profile without one.
    package var connectionMatrix: Matrix3? {
        switch self {
        case .sRGB: Chromaticities.sRGB.connectionMatrix
        case .icc(let bytes): ICCProfile(bytes)?.connectionMatrix
        case .calibrated(_, let chromaticities): chromaticities.connectionMatrix
        case .coded(let points): points.chromaticities.connectionMatrix
        }
    }
}
