// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages

    /// A sequential scan whose blocks have been found.
    struct SequentialScan {
        private let scan: JPEGScan
        private let data: EntropyCodedData
        private let index: BlockIndex
        private let codes: BlockCodes
        private let unitsAcross: Int
        private let unitsDown: Int

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
            let first = frame.components[scan.parts[0].component]
            let isAlone = scan.parts.count == 1
            unitsAcross = isAlone ? first.blocksAcross : frame.unitsAcross
            unitsDown = isAlone ? first.blocksDown : frame.unitsDown
            let order = scan.parts.indices.flatMap { part in
                let component = frame.components[scan.parts[part].component]
                let count = component.horizontalSampling * component.verticalSampling
                return Array(repeating: part, count: isAlone ? 1 : count)
            }
            codes = BlockCodes(dc: dc, ac: ac, order: order)
            index = try BlockIndex(
                data, UnitTables(codes), unitCount: unitsAcross * unitsDown,
                restartInterval: scan.restartInterval)
        }

        func deliver(
            _ picture: ShrunkPicture, _ cancellation: CancellationFlag?,
            into sink: inout some ComponentSink & ~Copyable
        ) throws(CodecError) {
            let isAlone = scan.parts.count == 1
            let sampling = scan.parts.map { part in
                let component = picture.frame.components[part.component]
                return (
                    across: isAlone ? 1 : component.horizontalSampling,
                    down: isAlone ? 1 : component.verticalSampling
                )
            }
            var rows = LowFrequencyRows(
                picture, scan.parts.map(\.component),
                blocks: sampling.map { ($0.across * unitsAcross, $0.down) })
            let places = sampling.indices.flatMap { part in
                rows.rows[part].flatMap { row in
                    (0..<sampling[part].across).map { column in
                        LowFrequencyReader.Place(
                            part: part, start: row.start + column, step: sampling[part].across,
                            lastKept: row.lastKept)
                    }
                }
            }
            var reader = LowFrequencyReader(
                codes, places: places, rows: rows.rows.map { $0[0] })
            for _ in 0..<unitsDown {
                if cancellation?.isCancelled == true { throw .cancelled }
                reader.readRow(
                    unitCount: unitsAcross, data, index, into: &rows.coefficients)
                try rows.deliver(into: &sink)
            }
        }
    }
#endif
