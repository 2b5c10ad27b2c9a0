// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Where blocks of a sequential scan begin: those that have been found and not been read yet.
    struct BlockIndex {
        /// Blocks that follow one another in the data.
        struct Run {
            /// In bits from the start of the data.
            var start: Int
            var blockCount: Int
            /// The number of what ``BlockIndex/ends(of:)`` gives, and which of those is the first.
            var chunk: Int
            var firstEnd: Int
            /// Whether predictors begin anew, as behind a restart marker.
            var isRestart: Bool
        }

        private var ends: [[UInt16]] = []
        /// The number of the first of them.
        private var firstChunk = 0
        private var runs: [Run] = []
        /// Of those that have been found.
        private(set) var blockCount = 0

        /// The low 16 bits of the position behind each block.
        func ends(of chunk: Int) -> [UInt16] { ends[chunk - firstChunk] }

        /// Adds segments that a lane has found one after the other.
        ///
        /// - Parameters:
        ///   - ends: of all their blocks.
        ///   - segments: where each begins, in bits, and how many blocks it has.
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

        /// Adds blocks that a lane has found in a scan without restart markers.
        ///
        /// - Parameters:
        ///   - ends: of all blocks that it found.
        ///   - first: the first that is added.
        ///   - count: how many are.
        ///   - start: where the first begins, in bits.
        mutating func append(_ ends: [UInt16], from first: Int, _ count: Int, start: Int) {
            guard count > 0 else { return }
            runs.append(
                Run(
                    start: start, blockCount: count, chunk: firstChunk + self.ends.count,
                    firstEnd: first, isRestart: blockCount == 0))
            blockCount += count
            self.ends.append(ends)
        }

        /// Takes out the first run; what ends in shares before it is dropped.
        mutating func takeRun() -> Run {
            let run = runs.removeFirst()
            ends.removeFirst(run.chunk - firstChunk)
            firstChunk = run.chunk
            return run
        }
    }

    /// Looks for blocks in one window of a scan after the other.
    struct BlockSearch {
        private let tables: MCUTables
        private var synchronizer: LaneSynchronizer
        private var workspace: [UInt64]

        init(_ tables: MCUTables, _ synchronizer: LaneSynchronizer) {
            self.tables = tables
            self.synchronizer = synchronizer
            workspace = Array(repeating: 0, count: BlockFinder.Workspace.byteCount / 8)
        }

        /// What has been found.
        var index: BlockIndex {
            get { synchronizer.index }
            _modify { yield &synchronizer.index }
        }

        /// Finds the blocks in a window, which begins where this asked for it, or before.
        ///
        /// - Returns: from which byte on the data is still needed, or `nil` if it is damaged.
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

    /// What a ``BlockFinder`` needs for a scan: its tables, and the order of the blocks in a mcu.
    struct MCUTables {
        let scanTables: ScanTables
        let entries: [UInt32]
        /// By state of the machine within a mcu: where its table begins in ``entries``.
        let tableOffsets: [Int]

        init(_ scanTables: ScanTables) {
            // Components mostly chunk their scanTables, and then the tables, too.
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
