// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages

    /// A sequential scan whose blocks have been found.
    struct SequentialScan {
        private let scan: JPEGScan
        private let data: EntropyCodedData
        private let index: BlockIndex
        private let codes: BlockCodes
        private let grid: JPEGScan.Grid

        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short.
        init(
            _ scan: JPEGScan, _ frame: JPEGFrame, _ data: EntropyCodedData
        ) throws(ShrinkingStop) {
            let dc = scan.parts.compactMap(\.dcCode)
            let ac = scan.parts.compactMap(\.acCode)
            guard dc.count == scan.parts.count, ac.count == scan.parts.count else {
                throw .notHandled
            }
            self.scan = scan
            self.data = data
            let grid = scan.grid(frame)
            self.grid = grid
            let order = grid.blocks.enumerated().flatMap { part, blocks in
                Array(repeating: part, count: blocks.across * blocks.down)
            }
            codes = BlockCodes(dc: dc, ac: ac, order: order)
            index = try BlockIndex.find(
                data, UnitTables(codes), unitCount: grid.unitCount,
                restartInterval: scan.restartInterval)
        }

        func deliver(
            _ picture: ShrunkPicture, _ cancellation: CancellationFlag?,
            into sink: inout some ComponentSink & ~Copyable
        ) throws(CodecError) {
            var rows = LowFrequencyRows(
                picture, scan.parts.map(\.component),
                blocks: grid.blocks.map { ($0.across * grid.unitsAcross, $0.down) })
            let places = grid.blocks.enumerated().flatMap { part, blocks in
                rows.rows[part].flatMap { row in
                    (0..<blocks.across).map { column in
                        LowFrequencyReader.Place(
                            part: part, start: row.start + column, step: blocks.across,
                            lastKept: row.lastKept)
                    }
                }
            }
            var reader = LowFrequencyReader(
                codes, places: places, rows: rows.rows.map { $0[0] })
            for _ in 0..<grid.unitsDown {
                if cancellation?.isCancelled == true { throw .cancelled }
                reader.readRow(
                    unitCount: grid.unitsAcross, data, index, into: &rows.coefficients)
                try rows.deliver(into: &sink)
            }
        }
    }
#endif
