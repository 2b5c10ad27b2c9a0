// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Decodes one scan of a progressive file (T.81 annex G).
struct ProgressiveScan {
    private let scan: JPEGScan
    private let data: EntropyCodedData
    private let grid: JPEGScan.Grid

    init(_ scan: JPEGScan, _ frame: JPEGFrame, _ data: EntropyCodedData) {
        self.scan = scan
        self.data = data
        grid = scan.grid(frame)
    }

    /// Decodes the scan.
    ///
    /// - Parameters:
    ///   - image: receives the coefficients.
    ///   - minimumBlocksForTable: the minimum number of blocks for which optional tables are
    ///     built.
    /// - Throws: ``ShrinkingError/notHandled`` if the data is damaged or truncated.
    func read(
        into image: inout ProgressiveImage, minimumBlocksForTable: Int
    ) throws(ShrinkingError) {
        let makesTables = grid.mcuCount >= minimumBlocksForTable
        if scan.spectralSelection.lowerBound > 0 {
            let band = ProgressiveAC(
                scan, image, mcusAcross: grid.mcusAcross, makesTable: makesTables)
            try readSegments { mcus, cursor in band.read(mcus, &cursor, into: &image) }
        } else {
            let first = ProgressiveDC(scan, image, grid, makesPairs: makesTables)
            try readSegments { mcus, cursor in first.read(mcus, &cursor, into: &image) }
        }
    }

    /// Decodes the entropy-coded segments in order.
    ///
    /// - Parameter body: decodes a range of MCUs and returns whether the data was complete and
    ///   valid.
    /// - Throws: ``ShrinkingError/notHandled`` if a segment was not.
    private func readSegments(
        _ body: (Range<Int>, inout BitCursor) -> Bool
    ) throws(ShrinkingError) {
        let interval = scan.mcusPerSegment(of: grid.mcuCount)
        guard data.hasSegments(of: interval, mcuCount: grid.mcuCount) else {
            throw .notHandled
        }
        for (index, segment) in data.segments.enumerated() {
            let mcus = index * interval..<min((index + 1) * interval, grid.mcuCount)
            let isGood = unsafe data.bytes.withUnsafeBufferPointer { bytes in
                guard let bytes = bytes.baseAddress else { return false }
                var cursor = unsafe BitCursor(bytes, segment)
                return body(mcus, &cursor)
            }
            guard isGood else { throw .notHandled }
        }
    }
}
#endif
