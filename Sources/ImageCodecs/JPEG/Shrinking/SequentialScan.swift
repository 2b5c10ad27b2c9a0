// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Decodes a sequential scan window by window: finds the blocks in a window, then decodes the
/// rows of MCUs that are complete.
struct SequentialScan {
    private let scan: JPEGScan
    private let grid: JPEGScan.Grid
    private let tables: ScanTables

    /// Bytes of memory for each byte of a window.
    ///
    /// They are the byte itself and the block positions that a lane records before it is
    /// synchronized: up to four blocks a byte, with a capacity for half as many again.
    static let byteCountPerByte = 1 + 4 * 3

    /// Prepares the tables of a scan.
    ///
    /// - Throws: ``ShrinkingError/notHandled`` if a Huffman table is missing.
    init(_ scan: JPEGScan, _ frame: JPEGFrame) throws(ShrinkingError) {
        let dc = scan.components.compactMap(\.dcTable)
        let ac = scan.components.compactMap(\.acTable)
        guard dc.count == scan.components.count, ac.count == scan.components.count else {
            throw .notHandled
        }
        self.scan = scan
        let grid = scan.grid(frame)
        self.grid = grid
        let order = grid.blocks.enumerated().flatMap { component, blocks in
            Array(repeating: component, count: blocks.across * blocks.down)
        }
        tables = ScanTables(dc: dc, ac: ac, order: order)
    }

    /// Decodes the scan.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - windowByteCount: the number of bytes to process at a time; more if a row of MCUs, or
    ///     a segment between restart markers, is larger.
    ///   - memoryByteCount: the limit of the memory for that.
    ///   - image: the image to deliver.
    ///   - cancellation: stops decoding early.
    ///   - releaseInput: releases the memory of a range of the file that has been read.
    ///   - sink: consumes the rows.
    /// - Returns: the offset in the file at which the data of the scan ends.
    /// - Throws: ``ShrinkingError/notHandled`` if the data is damaged or truncated, possibly
    ///   after some rows.
    func read<Sink: ComponentSink & ~Copyable>(
        _ file: Span<UInt8>, windowByteCount: Int, memoryByteCount: Int,
        _ image: ShrunkImage, _ cancellation: CancellationFlag?,
        _ releaseInput: (@Sendable (Range<Int>) -> Void)?,
        into sink: inout Sink
    ) throws(ShrinkingError) -> Int {
        var rows = LowFrequencyRows(
            image, scan.components.map(\.frameIndex),
            blocks: grid.blocks.map { ($0.across * grid.mcusAcross, $0.down) }, for: &sink)
        var reader = LowFrequencyReader(
            tables, mcuBlocks: mcuBlocks(rows), rows: rows.rows.map { $0[0] })
        let mcusPerSegment = scan.mcusPerSegment(of: grid.mcuCount)
        var data = EntropyCodedData(from: scan.dataStart, windowByteCount: windowByteCount)
        var passed = PassedInput(from: scan.dataStart, releaseInput)
        var search = BlockSearch(
            MCUTables(tables),
            LaneSynchronizer(
                mcusPerSegment: mcusPerSegment, mcuCount: grid.mcuCount,
                blocksPerMCU: tables.order.count, byteCount: file.count - scan.dataStart))
        var (position, room, rowsLeft) = (0, windowByteCount, grid.mcusDown)
        while !data.isComplete {
            if cancellation?.isCancelled == true { throw .failed(.cancelled) }
            data.slide(to: position, byteCount: room, file)
            passed.advance(to: data.end)
            guard let next = search.findBlocks(data) else { throw .notHandled }
            while rowsLeft > 0, reader.findRow(mcuCount: grid.mcusAcross, &search.index) {
                rowsLeft -= 1
                reader.readRow(data, isUsed: rows.isNextUsed, into: &rows.coefficients)
                if Sink.locatesMCUs { sink.locate(reader, rows.coefficients, file) }
                try ShrinkingError.wrap { () throws(CodecError) in try rows.deliver(into: &sink)
                }
            }
            position = rowsLeft > 0 ? min(next, reader.position / 8) : next
            if data.window.upperBound - position > room / 2, !data.isComplete {
                room *= 2
                guard room * Self.byteCountPerByte <= memoryByteCount else { throw .notHandled }
            }
        }
        guard rowsLeft == 0, data.hasSegments(of: mcusPerSegment, mcuCount: grid.mcuCount)
        else { throw .notHandled }
        return data.end
    }

    /// Returns the blocks of an MCU, with the positions of their coefficients.
    private func mcuBlocks(_ rows: LowFrequencyRows) -> [LowFrequencyReader.MCUBlock] {
        grid.blocks.enumerated().flatMap { component, blocks in
            rows.rows[component].flatMap { row in
                (0..<blocks.across).map { column in
                    LowFrequencyReader.MCUBlock(
                        component: component, start: row.start + column, step: blocks.across,
                        lastKept: row.lastKept)
                }
            }
        }
    }
}
#endif
