// SPDX-License-Identifier: Apache-2.0

/// Averages blocks of whole pixels, row by row.
///
/// Integer additions cost a fraction of a wide kernel. So large reductions start here and leave a
/// factor of ``residualFactor`` or more to the kernel. Blocks at the right and bottom borders may
/// be incomplete; their mean is that of the existing pixels.
struct BoxReducer {
    /// The minimum factor that remains for the kernel.
    ///
    /// The kernel is sharpened to compensate for the means. Photographs then differ by at most one
    /// level from a result without them.
    static let residualFactor = 2.5

    let horizontalFactor: Int
    let verticalFactor: Int
    let channelCount: Int
    let width: Int
    private var sums: [UInt16]
    private var rowsInSums = 0

    /// Returns the largest factor that leaves ``residualFactor`` of `scale`, at least 1.
    ///
    /// The maximum is 256, because 16-bit sums can hold 257 rows.
    static func factor(forScale scale: Double) -> Int {
        min(max(Int(scale / residualFactor), 1), 256)
    }

    init(width: Int, channelCount: Int, horizontalFactor: Int, verticalFactor: Int) {
        self.horizontalFactor = horizontalFactor
        self.verticalFactor = verticalFactor
        self.channelCount = channelCount
        self.width = width
        sums = Array(repeating: 0, count: width * channelCount + RowKernels.sumPadding)
    }

    var byteCount: Int { sums.count * MemoryLayout<UInt16>.stride }

    /// Adds a row and, if it completes a row of blocks, writes their means from `offset`.
    ///
    /// - Returns: whether means were written to `result`.
    mutating func append(
        _ row: Span<UInt8>, isLast: Bool, into result: inout [Float], at offset: Int
    ) -> Bool {
        RowKernels.accumulate(row, into: &sums)
        rowsInSums += 1
        guard rowsInSums == verticalFactor || isLast else { return false }
        RowKernels.writeMeans(
            of: sums, channelCount: channelCount, blockWidth: horizontalFactor, rows: rowsInSums,
            into: &result, at: offset)
        for i in sums.indices { sums[i] = 0 }
        rowsInSums = 0
        return true
    }
}
