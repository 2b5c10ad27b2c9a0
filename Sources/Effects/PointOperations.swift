// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// A row of premultiplied RGBA pixels.
///
/// 0 is black and 1 the largest integer sample. Values between the steps of an effect are not clamped.
typealias PixelRow = [SIMD4<Float>]

/// A change of each pixel by itself.
enum PointOperation: Sendable {
    case matrix(ColorMatrix)
    /// Adjacent curves, of which one table is made before the first row.
    case curves([ToneCurve])
    case table(CurveTable)
    case cube(ColorCube)
    /// A premultiplied colour below the image.
    case background(SIMD4<Float>)
}

/// Operations on single pixels, fused: each pixel is read and written once for all of them while it is in
/// the cache.
struct PointOperations {
    private var operations: [PointOperation] = []
    /// Whether alpha is 1 in all pixels.
    private let isOpaque: Bool
    /// Whether colours are clamped to 0...1 before a function that is not affine.
    private let isClamped: Bool
    private let isDeep: Bool

    /// - Parameter format: the format of the image.
    init(_ format: PixelFormat = .rgba8) {
        isOpaque = !format.hasAlpha
        isClamped = format != .rgbaHalf
        isDeep = format.isDeep
    }

    var isEmpty: Bool { operations.isEmpty }

    var count: Int { operations.count }

    mutating func append(_ operation: PointOperation) { operations.append(operation) }

    mutating func append(_ matrix: ColorMatrix) {
        if case .matrix(let previous) = operations.last {
            operations[operations.count - 1] = .matrix(previous.followed(by: matrix))
        } else {
            operations.append(.matrix(matrix))
        }
    }

    mutating func append(_ curve: ToneCurve) {
        if case .curves(let previous) = operations.last {
            operations[operations.count - 1] = .curves(previous + [curve])
        } else {
            operations.append(.curves([curve]))
        }
    }

    /// Returns the operations with tables instead of curves.
    func withTables() -> PointOperations {
        var result = self
        result.operations = operations.map { operation in
            guard case .curves(let curves) = operation else { return operation }
            return .table(CurveTable(curves, isDeep: isDeep))
        }
        return result
    }

    /// Calls `body` with ranges of pixels that fit into the first-level cache.
    @inline(__always)
    static func forEachChunk(_ count: Int, _ body: (Range<Int>) -> Void) {
        var start = 0
        while start < count {
            let end = min(start + 512, count)
            body(start..<end)
            start = end
        }
    }

    /// Changes the pixels in a range of a row.
    func apply(to row: inout PixelRow, _ range: Range<Int>) {
        for operation in operations {
            switch operation {
            case .matrix(let matrix): Self.multiply(&row, range, by: matrix)
            case .background(let color):
                for x in range { row[x] += color * (1 - row[x].w) }
            case .table(let table) where isClamped:
                mapColors(&row, range) { table.entries(nearest: $0) }
            case .table(let table): mapColors(&row, range) { table.values(at: $0) }
            case .cube(let cube): mapColors(&row, range) { cube.color($0) }
            case .curves: preconditionFailure("withTables() has not been called")
            }
        }
    }

    /// Multiplies premultiplied colours; the offset is multiplied by alpha.
    private static func multiply(
        _ row: inout PixelRow, _ range: Range<Int>, by matrix: ColorMatrix
    ) {
        let red = SIMD4(SIMD3<Float>(matrix.red), 0)
        let green = SIMD4(SIMD3<Float>(matrix.green), 0)
        let blue = SIMD4(SIMD3<Float>(matrix.blue), 0)
        let offset = SIMD4(SIMD3<Float>(matrix.offset), 1)
        precondition(range.upperBound <= row.count, "the range leaves the row")
        var pixels = row.mutableSpan
        for x in range {
            let pixel = unsafe pixels[unchecked: x]
            unsafe pixels[unchecked: x] =
                red * pixel.x + green * pixel.y + (blue * pixel.z + offset * pixel.w)
        }
    }

    /// Maps straight colours; alpha is unchanged.
    @inline(__always)
    private func mapColors(
        _ row: inout PixelRow, _ range: Range<Int>, _ transform: (SIMD4<Float>) -> SIMD4<Float>
    ) {
        precondition(range.upperBound <= row.count, "the range leaves the row")
        var pixels = row.mutableSpan
        for x in range {
            let pixel = unsafe pixels[unchecked: x]
            if isOpaque || pixel.w == 1 {
                var color = transform(pixel)
                color.w = 1
                unsafe pixels[unchecked: x] = color
            } else if pixel.w > 0 {
                var color = transform(pixel / pixel.w) * pixel.w
                color.w = pixel.w
                unsafe pixels[unchecked: x] = color
            }
        }
    }
}

extension CurveTable {
    /// Returns the entries that are nearest to a colour, clamped to 0...1.
    @inline(__always)
    fileprivate func entries(nearest color: SIMD4<Float>) -> SIMD4<Float> {
        let (values, last) = (values.span, UInt32(values.count - 1))
        let indices = (color.clamped(to: .one) * Float(last)).nearestIntegers
        // NaN alone results in an index that is too large.
        let checked = indices.replacing(with: last, where: indices .> last)
        return unsafe SIMD4(
            values[unchecked: Int(checked.x)], values[unchecked: Int(checked.y)],
            values[unchecked: Int(checked.z)], 0)
    }

    /// Returns the values at a colour; outside of the table, they are computed.
    fileprivate func values(at color: SIMD4<Float>) -> SIMD4<Float> {
        let color3 = SIMD3(color.x, color.y, color.z)
        guard all(color3 .>= 0), all(color3 .<= 1) else {
            return SIMD4(value(color.x), value(color.y), value(color.z), 0)
        }
        return entries(nearest: color)
    }
}
