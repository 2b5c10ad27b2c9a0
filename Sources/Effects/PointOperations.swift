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
    /// A table, and the matrix that follows it.
    case table(CurveTable, ColorMatrix?)
    case cube(ColorCube)
    /// A premultiplied colour below the image.
    case background(SIMD4<Float>)
}

/// Operations on single pixels, fused: each pixel is read and written once for all of them while it is in
/// the cache.
struct PointOperations {
    private var operations: [PointOperation] = []
    /// What follows each operation in the same loop.
    private var endings: [LoopEnding] = []
    /// Whether they are clamped before the first operation.
    private var clampsFirst = false
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

    /// Removes the last operation, if it is a table for opaque colours of 8 bits, and returns its entries
    /// as samples of 8 bits.
    ///
    /// The operations before it clamp their results.
    mutating func takeByteTable() -> [UInt8]? {
        guard isByte, !clampsFirst, !endings.isEmpty else { return nil }
        var last = endings[endings.count - 1].table
        endings[endings.count - 1].table = nil
        if last == nil, case .table(let table, nil) = operations.last {
            operations.removeLast()
            endings.removeLast()
            last = table
        }
        return last?.values.map { UInt8((min(max($0, 0), 1) * 255).rounded()) }
    }

    /// Whether colours are opaque and of 8 bits.
    private var isByte: Bool { isOpaque && isClamped && !isDeep }

    /// Returns the operations with tables instead of curves.
    ///
    /// - Parameter isInRange: whether the colours of the image are in 0...1.
    /// - Returns: the operations that ``apply(to:_:)`` performs.
    func withTables(isInRange: Bool) -> PointOperations {
        var result = self
        result.operations = []
        for operation in operations {
            switch (result.operations.last, operation) {
            case (.table(let table, nil), .matrix(let matrix)):
                result.operations.removeLast()
                result.operations.append(.table(table, matrix))
            case (_, .curves(let curves)):
                result.operations.append(.table(CurveTable(curves, isDeep: isDeep), nil))
            default: result.operations.append(operation)
            }
        }
        result.setEndings(isInRange: isInRange)
        return result
    }

    /// Clamps results that may be outside of the table that follows, and fuses tables with the matrices
    /// before them.
    private mutating func setEndings(isInRange: Bool) {
        var range = isInRange ? ColorRange.unit : .unknown
        endings = Array(repeating: LoopEnding(), count: operations.count)
        guard isByte else { return }
        for index in operations.indices {
            if case .table = operations[index], !range.isUnit {
                if index == 0 { clampsFirst = true } else { endings[index - 1].limit = .one }
                range = .unit
            }
            range = range.after(operations[index])
        }
        for index in operations.indices.reversed().dropLast() {
            switch (operations[index - 1], operations[index]) {
            case (.matrix, .table(let table, nil)), (.table(_, .some), .table(let table, nil)):
                operations.remove(at: index)
                endings.remove(at: index)
                endings[index - 1].table = table
            default: break
            }
        }
    }

    /// Removes the first operation, if it is a table or a matrix, and returns it as tables of samples of
    /// 8 bits.
    mutating func takeByteColumns() -> ByteColumns? {
        var columns: ByteColumns
        switch operations.first {
        case .matrix(let matrix):
            columns = ByteColumns(nil, matrix, endings[0])
        case .table(let table, let matrix):
            columns = ByteColumns(table, matrix, endings[0])
        default: return nil
        }
        operations.removeFirst()
        endings.removeFirst()
        return columns
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
        precondition(range.upperBound <= row.count, "the range leaves the row")
        if clampsFirst { Self.clamp(&row, range) }
        for index in operations.indices {
            let ending = endings[index]
            switch operations[index] {
            case .matrix(let matrix):
                Self.multiply(&row, range, by: MatrixColumns(matrix), ending)
                continue
            case .table(let table, let matrix?) where isByte:
                Self.multiply(
                    &row, range, table.values.span, by: MatrixColumns(matrix), ending)
                continue
            case .background(let color):
                for x in range { row[x] += color * (1 - row[x].w) }
            case .table(let table, let matrix): apply(table, matrix, to: &row, range)
            case .cube(let cube): mapColors(&row, range) { cube.color($0) }
            case .curves: preconditionFailure("withTables() has not been called")
            }
            if ending.limit != nil { Self.clamp(&row, range) }
        }
    }

    /// Clamps opaque colours to 0...1; NaN becomes 0.
    ///
    /// A loop of its own: in one loop with the table, the compiler clamps each component by itself.
    private static func clamp(_ row: inout PixelRow, _ range: Range<Int>) {
        var pixels = row.mutableSpan
        for x in range {
            unsafe pixels[unchecked: x] = pixels[unchecked: x].clamped(upTo: .one)
        }
    }

    private func apply(
        _ table: CurveTable, _ matrix: ColorMatrix?, to row: inout PixelRow, _ range: Range<Int>
    ) {
        let values = table.values.span
        if isByte { return Self.map(&row, range, values) }
        if !isClamped {
            mapColors(&row, range) { table.values(at: $0) }
        } else if isDeep {
            mapColors(&row, range) { CurveTable.deepEntries(values, at: $0) }
        } else {
            mapColors(&row, range) { unsafe CurveTable.entries(values, at: $0.clamped(upTo: .one)) }
        }
        if let matrix { Self.multiply(&row, range, by: MatrixColumns(matrix), LoopEnding()) }
    }

    /// Maps opaque colours of 8 bits, which are in 0...1, by a table.
    private static func map(_ row: inout PixelRow, _ range: Range<Int>, _ values: Span<Float>) {
        var pixels = row.mutableSpan
        for x in range {
            unsafe pixels[unchecked: x] = CurveTable.entries(values, at: pixels[unchecked: x])
        }
    }

    /// Multiplies premultiplied colours; the offset is multiplied by alpha.
    private static func multiply(
        _ row: inout PixelRow, _ range: Range<Int>, by matrix: MatrixColumns, _ ending: LoopEnding
    ) {
        @inline(always)
        func product(_: Int, _ pixel: SIMD4<Float>) -> SIMD4<Float> {
            matrix.red * pixel.x + matrix.green * pixel.y
                + (matrix.blue * pixel.z + matrix.offset * pixel.w)
        }
        ending.forEach(&row, range, product)
    }

    /// Multiplies the entries of opaque colours of 8 bits, which are in 0...1, in a table.
    private static func multiply(
        _ row: inout PixelRow, _ range: Range<Int>, _ values: Span<Float>, by matrix: MatrixColumns,
        _ ending: LoopEnding
    ) {
        @inline(always)
        func product(_: Int, _ pixel: SIMD4<Float>) -> SIMD4<Float> {
            let indices = CurveTable.indices(pixel)
            return unsafe matrix.red * values[unchecked: indices.red]
                + matrix.green * values[unchecked: indices.green]
                + (matrix.blue * values[unchecked: indices.blue] + matrix.offset)
        }
        ending.forEach(&row, range, product)
    }

    /// Maps straight colours; alpha is unchanged.
    @inline(__always)
    private func mapColors(
        _ row: inout PixelRow, _ range: Range<Int>, _ transform: (SIMD4<Float>) -> SIMD4<Float>
    ) {
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

/// What follows a matrix in the loop that multiplies by it, for opaque colours of 8 bits.
private struct LoopEnding {
    /// 1 if colours are clamped, since a table follows that would be left otherwise.
    ///
    /// With a constant instead, the compiler merges clamping with what follows, into more instructions.
    var limit: SIMD4<Float>?
    /// The table that follows.
    var table: CurveTable?

    /// Replaces pixels by what `color` returns for their index and value, after the ending.
    @inline(always)
    func forEach(
        _ row: inout PixelRow, _ range: Range<Int>, _ color: (Int, SIMD4<Float>) -> SIMD4<Float>
    ) {
        var pixels = row.mutableSpan
        // A loop for each ending, so that none contains branches.
        switch (table, limit) {
        case (nil, nil):
            for x in range { unsafe pixels[unchecked: x] = color(x, pixels[unchecked: x]) }
        case (nil, let limit?):
            for x in range {
                unsafe pixels[unchecked: x] = color(x, pixels[unchecked: x]).clamped(upTo: limit)
            }
        case (let table?, nil):
            let values = table.values.span
            for x in range {
                unsafe pixels[unchecked: x] = CurveTable.entries(
                    values, at: color(x, pixels[unchecked: x]))
            }
        case (let table?, let limit?):
            let values = table.values.span
            for x in range {
                unsafe pixels[unchecked: x] = CurveTable.entries(
                    values, at: color(x, pixels[unchecked: x]).clamped(upTo: limit))
            }
        }
    }
}

extension CurveTable {
    /// Returns the entries at an opaque colour of 8 bits, which is in 0...1 and is not checked.
    @unsafe @inline(__always)
    fileprivate static func entries(
        _ values: Span<Float>, at color: SIMD4<Float>
    ) -> SIMD4<Float> {
        let indices = indices(color)
        return unsafe SIMD4(
            values[unchecked: indices.red], values[unchecked: indices.green],
            values[unchecked: indices.blue], 1)
    }

    /// Returns the values at a colour; outside of the table, they are computed.
    fileprivate func values(at color: SIMD4<Float>) -> SIMD4<Float> {
        let color3 = SIMD3(color.x, color.y, color.z)
        guard all(color3 .>= 0), all(color3 .<= 1) else {
            return SIMD4(value(color.x), value(color.y), value(color.z), 0)
        }
        return Self.deepEntries(values.span, at: color)
    }
}

/// The columns of a matrix of premultiplied colours in floats; that of alpha is `offset`.
private struct MatrixColumns {
    let red, green, blue, offset: SIMD4<Float>

    init(_ matrix: ColorMatrix) {
        red = SIMD4(SIMD3(matrix.red), 0)
        green = SIMD4(SIMD3(matrix.green), 0)
        blue = SIMD4(SIMD3(matrix.blue), 0)
        offset = SIMD4(SIMD3(matrix.offset), 1)
    }
}

/// A table and a matrix as the sum of three tables, of the samples of opaque RGB of 8 bits.
struct ByteColumns {
    /// The multiples of the columns of the matrix: 256 each of red, green and blue.
    private let entries: [SIMD4<Float>]
    private let ending: LoopEnding

    fileprivate init(_ table: CurveTable?, _ matrix: ColorMatrix?, _ ending: LoopEnding) {
        self.ending = ending
        let matrix = matrix ?? ColorMatrix(scale: 1, offset: 0)
        let columns = MatrixColumns(matrix)
        let curve = (0...255).map { table?.value(ofByte: $0) ?? Float($0) / 255 }
        entries =
            curve.map { columns.red * $0 + columns.offset } + curve.map { columns.green * $0 }
            + curve.map { columns.blue * $0 }
    }

    /// Reads a range of the pixels of a row.
    func unpack(_ source: Span<UInt8>, _ range: Range<Int>, into row: inout PixelRow) {
        let entries = entries.span
        precondition(
            range.upperBound <= row.count && range.upperBound * 3 <= source.count
                && entries.count == 768, "the row is too short")
        @inline(always)
        func color(_ x: Int, _: SIMD4<Float>) -> SIMD4<Float> {
            let red = unsafe Int(source[unchecked: x &* 3])
            let green = unsafe Int(source[unchecked: x &* 3 &+ 1]) &+ 256
            let blue = unsafe Int(source[unchecked: x &* 3 &+ 2]) &+ 512
            return unsafe entries[unchecked: red] + entries[unchecked: green]
                + entries[unchecked: blue]
        }
        ending.forEach(&row, range, color)
    }
}

/// The least and the greatest value that colours can have in any channel.
private struct ColorRange {
    let low, high: SIMD3<Double>

    static let unit = ColorRange(low: .zero, high: .one)
    static let unknown = ColorRange(
        low: SIMD3(repeating: -.infinity), high: SIMD3(repeating: .infinity))

    /// Whether a table for 8 bits has entries for all colours, also if floats are rounded.
    var isUnit: Bool { all(low .>= -1e-6) && all(high .<= 1 + 1e-6) }

    /// Returns the range of the results of an operation.
    func after(_ operation: PointOperation) -> ColorRange {
        switch operation {
        case .matrix(let matrix): return multiplied(by: matrix)
        case .table(let table, let matrix):
            let (least, most) = (table.values.min() ?? 0, table.values.max() ?? 1)
            let range = ColorRange(
                low: SIMD3(repeating: Double(least)), high: SIMD3(repeating: Double(most)))
            return matrix.map { range.multiplied(by: $0) } ?? range
        // Opaque colours do not change.
        case .background: return self
        case .cube, .curves: return .unknown
        }
    }

    private func multiplied(by matrix: ColorMatrix) -> ColorRange {
        guard all(low .> -.infinity), all(high .< .infinity) else { return .unknown }
        var (least, most) = (matrix.offset, matrix.offset)
        for (column, channel) in [(matrix.red, 0), (matrix.green, 1), (matrix.blue, 2)] {
            let (first, second) = (column * low[channel], column * high[channel])
            least += pointwiseMin(first, second)
            most += pointwiseMax(first, second)
        }
        return ColorRange(low: least, high: most)
    }
}
