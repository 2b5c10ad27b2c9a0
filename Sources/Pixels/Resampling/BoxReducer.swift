// SPDX-License-Identifier: Apache-2.0

/// Replaces blocks of whole pixels by their mean, as rows come in.
///
/// Bytes are added with integer instructions, a fraction of what a wide kernel costs, so a large
/// reduction starts here and leaves the kernel a factor of ``residualFactor`` or more. A block at
/// the right or bottom border may be cut off; its mean is that of the pixels that are there.
struct BoxReducer {
    /// What is left to the kernel at least; with the kernel sharpened by what the means soften, a
    /// photograph differs by a level at most from one that was made without them.
    static let residualFactor = 2.5

    let horizontalFactor: Int
    let verticalFactor: Int
    let channelCount: Int
    private var sums: [UInt16]
    private var rowsInSums = 0

    /// The largest factor that leaves ``residualFactor`` of `scale`, or 1; sums hold 257 rows.
    static func factor(forScale scale: Double) -> Int {
        min(max(Int(scale / residualFactor), 1), 256)
    }

    init(width: Int, channelCount: Int, horizontalFactor: Int, verticalFactor: Int) {
        self.horizontalFactor = horizontalFactor
        self.verticalFactor = verticalFactor
        self.channelCount = channelCount
        sums = Array(repeating: 0, count: width * channelCount + RowKernels.sumPadding)
    }

    var byteCount: Int { sums.count * MemoryLayout<UInt16>.stride }

    /// Adds a row and, when it ends a row of blocks, writes their means from `offset` on.
    ///
    /// - Returns: whether `result` was written.
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
