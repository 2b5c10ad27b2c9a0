// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads one scan of a progressive file (ITU-T T.81, annex G).
    struct ProgressiveScan {
        private let scan: JPEGScan
        private let data: EntropyCodedData
        private let grid: JPEGScan.Grid

        init(_ scan: JPEGScan, _ frame: JPEGFrame, _ data: EntropyCodedData) {
            self.scan = scan
            self.data = data
            grid = scan.grid(frame)
        }

        /// - Parameters:
        ///   - picture: takes what the scan brings.
        ///   - leastBlocksOfTable: from how many blocks on tables are made that are not needed for
        ///     a few.
        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short.
        func read(
            into picture: inout ProgressivePicture, leastBlocksOfTable: Int
        ) throws(ShrinkingStop) {
            let makesTables = grid.unitCount >= leastBlocksOfTable
            if scan.band.lowerBound > 0 {
                let band = ProgressiveBand(
                    scan, picture, unitsAcross: grid.unitsAcross, makesTable: makesTables)
                try readSegments { units, cursor in band.read(units, &cursor, into: &picture) }
            } else {
                let first = ProgressiveDC(scan, picture, grid, makesPairs: makesTables)
                try readSegments { units, cursor in first.read(units, &cursor, into: &picture) }
            }
        }

        /// - Parameter body: reads units, and says whether all of them were there and made sense.
        /// - Throws: ``ShrinkingStop/notHandled`` if one segment was not good.
        private func readSegments(
            _ body: (Range<Int>, inout BitCursor) -> Bool
        ) throws(ShrinkingStop) {
            let interval = scan.unitsPerSegment(of: grid.unitCount)
            guard data.hasSegments(of: interval, unitCount: grid.unitCount) else {
                throw .notHandled
            }
            for (index, segment) in data.segments.enumerated() {
                let units = index * interval..<min((index + 1) * interval, grid.unitCount)
                let isGood = unsafe data.bytes.withUnsafeBufferPointer { bytes in
                    guard let bytes = bytes.baseAddress else { return false }
                    var cursor = unsafe BitCursor(bytes, segment)
                    return body(units, &cursor)
                }
                guard isGood else { throw .notHandled }
            }
        }
    }
#endif
