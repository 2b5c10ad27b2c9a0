// SPDX-License-Identifier: Apache-2.0

/// A lookup table of red, green and blue, interpolated between its entries.
///
/// - SeeAlso: Adobe, “Cube LUT Specification”, version 1.0.
public struct ColorCube: Sendable {
    /// The largest number of entries per side; the table then takes 34 MB.
    public static let maximumSide = 129

    /// The name of the content, part of the identity of an effect.
    public let identity: String
    /// The number of entries per side.
    public let side: Int
    /// The colours, red changing fastest, then green, then blue.
    let entries: [SIMD4<Float>]
    /// The input that the first entry belongs to.
    let minimum: SIMD4<Float>
    /// Entries per unit of the input.
    let scale: SIMD4<Float>

    /// Reads a `.cube` file with a three-dimensional table.
    ///
    /// - Parameters:
    ///   - text: the bytes of the file.
    ///   - identity: a name of the content, such as its digest.
    /// - Throws: ``ColorCubeError``, which names the line.
    public init(_ text: Span<UInt8>, identity: String) throws(ColorCubeError) {
        self.identity = identity
        var reader = CubeReader()
        var line: [UInt8] = []
        for index in text.indices {
            if text[index] == 10 {
                try reader.read(line)
                line.removeAll(keepingCapacity: true)
            } else {
                guard line.count < 1000 else { throw reader.error("the line is too long") }
                line.append(text[index])
            }
        }
        try reader.read(line)
        guard let side = reader.side else { throw reader.error("LUT_3D_SIZE is missing") }
        guard reader.entries.count == side * side * side else {
            throw reader.error(
                "the table has \(reader.entries.count) of \(side * side * side) entries")
        }
        self.side = side
        entries = reader.entries
        minimum = SIMD4(reader.minimum, 0)
        scale = SIMD4(Float(side - 1) / (reader.maximum - reader.minimum), 0)
    }

    /// Returns the colour of an input, by tetrahedral interpolation; the input is clamped to the domain.
    @inline(__always)
    func color(_ input: SIMD4<Float>) -> SIMD4<Float> {
        let last = Float(side - 1)
        var position = (input - minimum) * scale
        position.clamp(lowerBound: .zero, upperBound: SIMD4(repeating: last))
        // NaN is not ordered; it becomes 0.
        position.replace(with: 0, where: position .!= position)
        let (x, y, z) = (Int(position.x), Int(position.y), Int(position.z))
        let fraction = position - SIMD4(Float(x), Float(y), Float(z), 0)
        let stepX = x + 1 < side ? 1 : 0
        let stepY = y + 1 < side ? side : 0
        let stepZ = z + 1 < side ? side * side : 0
        let first = (z * side + y) * side + x
        let (from, to) = (entries[first], entries[first + stepX + stepY + stepZ])
        let (fx, fy, fz) = (fraction.x, fraction.y, fraction.z)
        // The path from the first entry to the last along the axes, the largest fraction first.
        let (large, middle, small): (Float, Float, Float)
        let (one, two): (Int, Int)
        switch (fx >= fy, fy >= fz, fx >= fz) {
        case (true, true, _): (large, middle, small, one, two) = (fx, fy, fz, stepX, stepX + stepY)
        case (true, false, true):
            (large, middle, small, one, two) = (fx, fz, fy, stepX, stepX + stepZ)
        case (true, false, false):
            (large, middle, small, one, two) = (fz, fx, fy, stepZ, stepZ + stepX)
        case (false, true, true):
            (large, middle, small, one, two) = (fy, fx, fz, stepY, stepY + stepX)
        case (false, true, false):
            (large, middle, small, one, two) = (fy, fz, fx, stepY, stepY + stepZ)
        case (false, false, _):
            (large, middle, small, one, two) = (fz, fy, fx, stepZ, stepZ + stepY)
        }
        return from * (1 - large) + entries[first + one] * (large - middle)
            + entries[first + two] * (middle - small) + to * small
    }
}

/// Why a `.cube` file cannot be read.
public struct ColorCubeError: Error, Hashable, CustomStringConvertible {
    /// The number of the line, from 1.
    public let line: Int
    /// What is wrong with the file.
    public let reason: String

    public var description: String { "line \(line) of the colour cube: \(reason)" }
}

/// Reads a `.cube` file line by line.
private struct CubeReader {
    var side: Int?
    var entries: [SIMD4<Float>] = []
    var minimum = SIMD3<Float>(repeating: 0)
    var maximum = SIMD3<Float>(repeating: 1)
    private var line = 0

    func error(_ reason: String) -> ColorCubeError { ColorCubeError(line: line, reason: reason) }

    mutating func read(_ bytes: [UInt8]) throws(ColorCubeError) {
        line += 1
        let words = bytes.split { $0 == 32 || $0 == 9 || $0 == 13 }
            .map { String(decoding: $0, as: UTF8.self) }
        guard let first = words.first, !first.hasPrefix("#") else { return }
        switch first {
        case "TITLE": return
        case "LUT_3D_SIZE": try readSide(words)
        case "LUT_1D_SIZE": throw error("one-dimensional tables are not supported")
        case "DOMAIN_MIN": minimum = try numbers(words.dropFirst())
        case "DOMAIN_MAX": maximum = try numbers(words.dropFirst())
        default:
            guard first.utf8.first.map({ $0 < 65 }) ?? false else {
                throw error("unknown keyword \u{201C}\(first.prefix(32))\u{201D}")
            }
            try readEntry(words)
        }
    }

    private mutating func readSide(_ words: [String]) throws(ColorCubeError) {
        guard words.count == 2, let side = Int(words[1]), 2...ColorCube.maximumSide ~= side else {
            throw error("LUT_3D_SIZE must be from 2 to \(ColorCube.maximumSide)")
        }
        self.side = side
    }

    private mutating func readEntry(_ words: [String]) throws(ColorCubeError) {
        guard let side else { throw error("LUT_3D_SIZE must precede the table") }
        guard entries.count < side * side * side else { throw error("too many entries") }
        guard (minimum .< maximum) == SIMDMask(repeating: true) else {
            throw error("DOMAIN_MIN must be less than DOMAIN_MAX")
        }
        entries.append(SIMD4(try numbers(words[...]), 0))
    }

    private func numbers(_ words: ArraySlice<String>) throws(ColorCubeError) -> SIMD3<Float> {
        let values = words.compactMap { Float($0) }.filter(\.isFinite)
        guard values.count == 3, words.count == 3 else { throw error("expected three numbers") }
        return SIMD3(values[0], values[1], values[2])
    }
}
