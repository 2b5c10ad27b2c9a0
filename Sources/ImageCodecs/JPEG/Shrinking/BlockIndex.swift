// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// The start positions of blocks of a sequential scan that have been found and not decoded.
struct BlockIndex {
    /// Consecutive blocks.
    struct Run {
        /// The start in bits from the start of the data.
        var start: Int
        var blockCount: Int
        /// The argument for ``BlockIndex/ends(of:)``, and the index of the first block in its
        /// result.
        var chunk: Int
        var firstEnd: Int
        /// Whether the DC predictors are reset, as after a restart marker (T.81 F.2.1.3.1).
        var isRestart: Bool
    }

    private var ends: [[UInt16]] = []
    /// The number of the first chunk.
    private var firstChunk = 0
    private var runs: [Run] = []
    /// The number of blocks found.
    private(set) var blockCount = 0

    /// Returns the low 16 bits of the end of each block of a chunk.
    func ends(of chunk: Int) -> [UInt16] { ends[chunk - firstChunk] }

    /// Appends consecutive segments.
    ///
    /// - Parameters:
    ///   - ends: the ends of all their blocks.
    ///   - segments: the start of each in bits, and its number of blocks.
    mutating func append(_ ends: [UInt16], _ segments: [(start: Int, blockCount: Int)]) {
        var first = 0
        for segment in segments {
            runs.append(
                Run(
                    start: segment.start, blockCount: segment.blockCount,
                    chunk: firstChunk + self.ends.count, firstEnd: first, isRestart: true))
            first += segment.blockCount
        }
        blockCount += first
        self.ends.append(ends)
    }

    /// Appends blocks of a scan without restart markers.
    ///
    /// - Parameters:
    ///   - ends: the ends of all blocks that a lane has found.
    ///   - first: the first block to append.
    ///   - count: the number of blocks to append.
    ///   - start: the start of the first block in bits.
    mutating func append(_ ends: [UInt16], from first: Int, _ count: Int, start: Int) {
        guard count > 0 else { return }
        runs.append(
            Run(
                start: start, blockCount: count, chunk: firstChunk + self.ends.count,
                firstEnd: first, isRestart: blockCount == 0))
        blockCount += count
        self.ends.append(ends)
    }

    /// Removes and returns the first run; ends of earlier chunks are dropped.
    mutating func takeRun() -> Run {
        let run = runs.removeFirst()
        ends.removeFirst(run.chunk - firstChunk)
        firstChunk = run.chunk
        return run
    }
}

/// Finds the blocks of a scan, window by window.
struct BlockSearch {
    private let tables: MCUTables
    private var synchronizer: LaneSynchronizer
    private var workspace: [UInt64]

    init(_ tables: MCUTables, _ synchronizer: LaneSynchronizer) {
        self.tables = tables
        self.synchronizer = synchronizer
        workspace = Array(repeating: 0, count: BlockFinder.Workspace.byteCount / 8)
    }

    /// The blocks found.
    var index: BlockIndex {
        get { synchronizer.index }
        _modify { yield &synchronizer.index }
    }

    /// Finds the blocks in a window, which begins at or before the byte returned last.
    ///
    /// - Returns: the first byte of the data that is still needed, or `nil` if the data is
    ///   damaged.
    mutating func findBlocks(_ data: EntropyCodedData) -> Int? {
        unsafe workspace.withUnsafeMutableBytes { memory in
            unsafe tables.entries.withUnsafeBufferPointer { entries in
                guard let memory = memory.baseAddress, let entries = entries.baseAddress
                else { return nil }
                let workspace = unsafe BlockFinder.Workspace(
                    memory, entries, tables: tables.tableOffsets)
                return Self.findBlocks(data, tables.scanTables, workspace, &synchronizer)
            }
        }
    }

    private static func findBlocks(
        _ data: EntropyCodedData, _ tables: ScanTables, _ workspace: BlockFinder.Workspace,
        _ synchronizer: inout LaneSynchronizer
    ) -> Int? {
        unsafe data.bytes.withUnsafeBufferPointer { bytes in
            guard let bytes = bytes.baseAddress else { return nil }
            let finder = unsafe BlockFinder(
                bytes, from: data.window.lowerBound, tables, workspace)
            return synchronizer.findBlocks(data, finder)
        }
    }
}

/// The tables of a ``BlockFinder``, and the order of the blocks in an MCU.
struct MCUTables {
    let scanTables: ScanTables
    let entries: [UInt32]
    /// By state in an MCU: the offset of its table in ``entries``.
    let tableOffsets: [Int]

    init(_ scanTables: ScanTables) {
        // Components with the same Huffman tables share the derived tables.
        let owners = scanTables.dc.indices.map { component in
            scanTables.dc.indices.first {
                scanTables.dc[$0] == scanTables.dc[component]
                    && scanTables.ac[$0] == scanTables.ac[component]
            } ?? component
        }
        var tables = SkipTables(count: Set(owners).count * 2)
        var tableOffsets: [(first: Int, other: Int)] = []
        for (component, owner) in owners.enumerated() {
            if owner < component {
                tableOffsets.append(tableOffsets[owner])
            } else {
                let first = tables.appendDC(
                    scanTables.dc[component], ac: scanTables.ac[component])
                tableOffsets.append((first, tables.appendAC(scanTables.ac[component])))
            }
        }
        self.scanTables = scanTables
        entries = tables.entries
        self.tableOffsets = scanTables.order.flatMap {
            [tableOffsets[$0].first, tableOffsets[$0].other]
        }
    }
}
#endif
