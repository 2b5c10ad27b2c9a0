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
            let makesTables = grid.mcuCount >= leastBlocksOfTable
            if scan.spectralSelection.lowerBound > 0 {
                let band = ProgressiveAC(
                    scan, picture, mcusAcross: grid.mcusAcross, makesTable: makesTables)
                try readSegments { mcus, cursor in band.read(mcus, &cursor, into: &picture) }
            } else {
                let first = ProgressiveDC(scan, picture, grid, makesPairs: makesTables)
                try readSegments { mcus, cursor in first.read(mcus, &cursor, into: &picture) }
            }
        }

        /// - Parameter body: reads mcus, and says whether all of them were there and made sense.
        /// - Throws: ``ShrinkingStop/notHandled`` if one segment was not good.
        private func readSegments(
            _ body: (Range<Int>, inout BitCursor) -> Bool
        ) throws(ShrinkingStop) {
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
