// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Where each block of a sequential scan begins.
    struct BlockIndex {
        /// Blocks that follow one another in the data.
        struct Run {
            /// In bits from the start of the data.
            var start: Int
            var blockCount: Int
            /// Which of ``BlockIndex/ends`` is that of the first block.
            var firstEnd: Int
            /// Whether predictions begin anew, as behind a restart marker.
            var isRestart: Bool
        }

        /// The low 16 bits of the position behind each block.
        fileprivate(set) var ends: [UInt16]
        /// All blocks of the scan, in order.
        fileprivate(set) var runs: [Run] = []

        /// The bytes that all scans of a picture take, each of its two lanes having room for all.
        static func byteCount(_ frame: JPEGFrame) -> Int {
            frame.components.indices.reduce(0) {
                $0 + frame.paddedBlocksAcross($1) * frame.paddedBlocksDown($1) * 4
            }
        }

        /// - Parameters:
        ///   - data: the scan's data.
        ///   - tables: the codes and the order of the blocks in a unit.
        ///   - unitCount: units in the scan.
        ///   - restartInterval: units between two restart markers, or 0.
        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short.
        init(
            _ data: EntropyCodedData, _ tables: UnitTables, unitCount: Int, restartInterval: Int
        ) throws(ShrinkingStop) {
            let interval = try data.unitsPerSegment(
                unitCount: unitCount, restartInterval: restartInterval)
            let total = unitCount * tables.phases.count
            let half = total + BlockFinder.overrun
            var synchronizer = LaneSynchronizer(
                segments: data.segments, unitsPerSegment: interval, unitCount: unitCount,
                blocksPerUnit: tables.phases.count, firstState: tables.firstState, half: half)
            ends = unsafe Array(unsafeUninitializedCapacity: 2 * half) { ends, count in
                unsafe data.bytes.withUnsafeBufferPointer { bytes in
                    unsafe tables.entries.withUnsafeBufferPointer { entries in
                        unsafe tables.phases.withUnsafeBufferPointer { phases in
                            guard let target = ends.baseAddress, let bytes = bytes.baseAddress,
                                let entries = entries.baseAddress,
                                let phases = phases.baseAddress
                            else { return }
                            let finder = unsafe BlockFinder(
                                bytes, tables.codes, entries, phases, ends: target)
                            synchronizer.run(finder)
                        }
                    }
                }
                // What no lane has written is never read: runs speak only of what was written.
                count = 2 * half
            }
            guard let found = synchronizer.runs else { throw .notHandled }
            runs = found
        }
    }

    /// What a ``BlockFinder`` needs for a scan: its tables, and the order of the blocks in a unit.
    struct UnitTables {
        let codes: BlockCodes
        let entries: [Int32]
        let phases: [BlockFinder.Phase]
        /// The machine's state at the start of a unit.
        let firstState: UInt64

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
            let order = codes.order
            let firstStates = order.indices.map {
                BlockFinder.Phase.state(phase: $0, table: places[order[$0]].first)
            }
            firstState = firstStates[0]
            phases = order.indices.map { index in
                let state = BlockFinder.Phase.state(
                    phase: index, table: places[order[index]].other)
                return BlockFinder.Phase(
                    state: state, change: state ^ firstStates[(index + 1) % order.count])
            }
        }
    }
#endif
