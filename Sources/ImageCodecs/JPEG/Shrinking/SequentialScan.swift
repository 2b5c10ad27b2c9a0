// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages

    /// Reads a sequential scan, a window of its data after the other: finds the blocks in it, and
    /// reads the rows of units that are complete.
    struct SequentialScan {
        private let scan: JPEGScan
        private let grid: JPEGScan.Grid
        private let codes: BlockCodes

        /// Bytes that are taken for each of a window.
        ///
        /// Itself, and what lanes note as long as they read nonsense: that is up to four blocks a
        /// byte, and there is room for half as many again.
        static let byteCountPerByte = 1 + 4 * 3

        /// - Throws: ``ShrinkingStop/notHandled`` if a code is missing.
        init(_ scan: JPEGScan, _ frame: JPEGFrame) throws(ShrinkingStop) {
            let dc = scan.parts.compactMap(\.dcCode)
            let ac = scan.parts.compactMap(\.acCode)
            guard dc.count == scan.parts.count, ac.count == scan.parts.count else {
                throw .notHandled
            }
            self.scan = scan
            let grid = scan.grid(frame)
            self.grid = grid
            let order = grid.blocks.enumerated().flatMap { part, blocks in
                Array(repeating: part, count: blocks.across * blocks.down)
            }
            codes = BlockCodes(dc: dc, ac: ac, order: order)
        }

        /// - Parameters:
        ///   - file: the file that the scan is in.
        ///   - windowByteCount: how much of it is looked at at a time; more where a row of units, or
        ///     a segment between restart markers, has more.
        ///   - memoryByteCount: as much as may be taken for that.
        ///   - picture: what is delivered.
        ///   - cancellation: what ends it early.
        ///   - releaseInput: gives back the memory of what has been read of the file.
        ///   - sink: takes the rows.
        /// - Returns: where the scan's data ends in the file.
        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short, maybe after
        ///   rows that came before that.
        func read(
            _ file: Span<UInt8>, windowByteCount: Int, memoryByteCount: Int,
            _ picture: ShrunkPicture, _ cancellation: CancellationFlag?,
            _ releaseInput: (@Sendable (Range<Int>) -> Void)?,
            into sink: inout some ComponentSink & ~Copyable
        ) throws(ShrinkingStop) -> Int {
            var rows = LowFrequencyRows(
                picture, scan.parts.map(\.component),
                blocks: grid.blocks.map { ($0.across * grid.unitsAcross, $0.down) })
            var reader = LowFrequencyReader(
                codes, places: places(rows), rows: rows.rows.map { $0[0] })
            let unitsPerSegment = scan.unitsPerSegment(of: grid.unitCount)
            var data = EntropyCodedData(from: scan.dataStart, windowByteCount: windowByteCount)
            var passed = PassedInput(from: scan.dataStart, releaseInput)
            var search = BlockSearch(
                UnitTables(codes),
                LaneSynchronizer(
                    unitsPerSegment: unitsPerSegment, unitCount: grid.unitCount,
                    blocksPerUnit: codes.order.count, byteCount: file.count - scan.dataStart))
            var (position, room, rowsLeft) = (0, windowByteCount, grid.unitsDown)
            while !data.isComplete {
                if cancellation?.isCancelled == true { throw .failed(.cancelled) }
                data.slide(to: position, byteCount: room, file)
                passed.advance(to: data.end)
                guard let next = search.goThrough(data) else { throw .notHandled }
                while rowsLeft > 0, reader.findRow(unitCount: grid.unitsAcross, &search.index) {
                    rowsLeft -= 1
                    reader.readRow(data, into: &rows.coefficients)
                    try ShrinkingStop.wrap { () throws(CodecError) in try rows.deliver(into: &sink)
                    }
                }
                position = rowsLeft > 0 ? min(next, reader.position / 8) : next
                if data.window.upperBound - position > room / 2, !data.isComplete {
                    room *= 2
                    guard room * Self.byteCountPerByte <= memoryByteCount else { throw .notHandled }
                }
            }
            guard rowsLeft == 0, data.hasSegments(of: unitsPerSegment, unitCount: grid.unitCount)
            else { throw .notHandled }
            return data.end
        }

        /// Where the blocks of a unit go.
        private func places(_ rows: LowFrequencyRows) -> [LowFrequencyReader.Place] {
            grid.blocks.enumerated().flatMap { part, blocks in
                rows.rows[part].flatMap { row in
                    (0..<blocks.across).map { column in
                        LowFrequencyReader.Place(
                            part: part, start: row.start + column, step: blocks.across,
                            lastKept: row.lastKept)
                    }
                }
            }
        }
    }
#endif
