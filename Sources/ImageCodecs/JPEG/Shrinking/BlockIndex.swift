// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Where each block of a sequential scan begins.
    struct BlockIndex {
        /// Blocks that follow one another in the data.
        struct Run {
            /// In bits from the start of the data.
            var start: Int
            var blockCount: Int
            /// Which of ``BlockIndex/ends`` are those of the blocks, and which of them is the first.
            var share: Int
            var firstEnd: Int
            /// Whether predictions begin anew, as behind a restart marker.
            var isRestart: Bool
        }

        /// By share: the low 16 bits of the position behind each block.
        var ends: [[UInt16]] = []
        /// All blocks of the scan, in order.
        var runs: [Run] = []

        /// The bytes that all scans of a picture take at most.
        ///
        /// A block takes 2 bytes, and there is room for half as many again. But each share of a
        /// scan can note as many as the scan has, as long as it reads nonsense, which takes two
        /// bits a block at least.
        static func byteCount(_ frame: JPEGFrame, fileByteCount: Int) -> Int {
            let blockCount = frame.components.indices.reduce(0) {
                $0 + frame.paddedBlocksAcross($1) * frame.paddedBlocksDown($1)
            }
            return min(blockCount * LaneSynchronizer.shareCount, fileByteCount * 4) * 3
        }

        /// Where the last block ends, in bits.
        var lastPosition: Int {
            guard let run = runs.last else { return 0 }
            return ends[run.share][run.firstEnd..<run.firstEnd + run.blockCount]
                .reduce(run.start) { $0 + Int($1 &- UInt16(truncatingIfNeeded: $0)) }
        }

        /// Adds blocks that a lane has found in a scan without restart markers.
        mutating func append(
            _ lane: consuming BlockFinder.Lane, from first: Int, count: Int, start: Int
        ) {
            guard count > 0 else { return }
            runs.append(
                Run(
                    start: start, blockCount: count, share: ends.count, firstEnd: first,
                    isRestart: runs.isEmpty))
            ends.append(lane.takeEnds())
        }

        /// - Parameters:
        ///   - data: the scan's data.
        ///   - tables: the codes and the order of the blocks in a unit.
        ///   - unitCount: units in the scan.
        ///   - restartInterval: units between two restart markers, or 0.
        /// - Returns: where all blocks of the scan begin.
        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short.
        static func find(
            _ data: EntropyCodedData, _ tables: UnitTables, unitCount: Int, restartInterval: Int
        ) throws(ShrinkingStop) -> BlockIndex {
            let interval = try data.unitsPerSegment(
                unitCount: unitCount, restartInterval: restartInterval)
            var synchronizer = LaneSynchronizer(
                segments: data.segments, unitsPerSegment: interval, unitCount: unitCount,
                blocksPerUnit: tables.codes.order.count)
            var memory = [UInt64](repeating: 0, count: BlockFinder.Workspace.byteCount / 8)
            let index: BlockIndex? = unsafe data.bytes.withUnsafeBufferPointer { bytes in
                unsafe tables.entries.withUnsafeBufferPointer { entries in
                    unsafe memory.withUnsafeMutableBytes { memory in
                        guard let bytes = bytes.baseAddress, let entries = entries.baseAddress,
                            let memory = memory.baseAddress
                        else { return nil }
                        let workspace = unsafe BlockFinder.Workspace(
                            memory, entries, tables: tables.places)
                        return unsafe synchronizer.run(BlockFinder(bytes, tables.codes, workspace))
                    }
                }
            }
            guard let index else { throw .notHandled }
            return index
        }
    }

    /// What a ``BlockFinder`` needs for a scan: its tables, and the order of the blocks in a unit.
    struct UnitTables {
        let codes: BlockCodes
        let entries: [UInt32]
        /// By state of the machine within a unit: where its table begins in ``entries``.
        let places: [Int]

        init(_ codes: BlockCodes) {
            var tables = SkipTables()
            var places: [(first: Int, other: Int)] = []
            for part in codes.dc.indices {
                // Components mostly share their codes, and then the tables, too.
                let twin = (0..<part).first {
                    codes.dc[$0] == codes.dc[part] && codes.ac[$0] == codes.ac[part]
                }
                if let twin {
                    places.append(places[twin])
                } else {
                    let first = tables.appendDC(codes.dc[part], ac: codes.ac[part])
                    places.append((first, tables.appendAC(codes.ac[part])))
                }
            }
            self.codes = codes
            entries = tables.entries
            self.places = codes.order.flatMap { [places[$0].first, places[$0].other] }
        }
    }
#endif
