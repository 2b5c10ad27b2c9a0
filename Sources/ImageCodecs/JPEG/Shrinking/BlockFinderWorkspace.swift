// SPDX-License-Identifier: Apache-2.0

#if JPEG
    extension BlockFinder {
        /// What the steps of all lanes have at hand, in one piece, so that one register finds it.
        ///
        /// By the machine's state, which counts on from one mcu to the next until a stretch ends:
        ///
        /// | in bytes | |
        /// |---|---|
        /// | 8 × state | the address of the table to look into |
        /// | 8 × (``stateCount`` + state) | what is kept of a lane's accumulator: a block begins with no coefficients passed |
        /// | 8 × (2 × ``stateCount`` + state) | by lane: the low 16 bits of the position in this state; of *first symbol* that is where the block begins |
        @safe struct Workspace {
            static let lookupsPerRound = 3
            /// Rounds before positions and states are counted from the start again.
            static let roundCount = 32
            /// The most that a round takes: three symbols of 16 bits with magnitudes of 15.
            static let bitsPerRound = 96
            /// A mcu has at most 10 blocks of two states; a look goes on by two at most.
            static let stateCount = 20 + roundCount * lookupsPerRound * 2 + 1
            /// What says in a accumulator that not all looks of a round were good.
            static let incomplete = SkipTables.overflow | SkipTables.missingMask

            private static let masks = stateCount * 8
            private static let starts = stateCount * 16
            static let byteCount = stateCount * 24

            private let memory: UnsafeMutableRawPointer
            /// The states of a mcu.
            let period: Int

            /// - Parameters:
            ///   - memory: ``byteCount`` bytes, aligned to 8.
            ///   - entries: what ``MCUTables`` has.
            ///   - tables: by state in a mcu, where its table begins.
            @unsafe init(
                _ memory: UnsafeMutableRawPointer, _ entries: UnsafePointer<UInt32>, tables: [Int]
            ) {
                unsafe self.memory = unsafe memory
                period = tables.count
                for state in 0..<Self.stateCount {
                    let table = unsafe entries + tables[state % tables.count]
                    unsafe memory.storeBytes(
                        of: table, toByteOffset: state * 8, as: UnsafePointer<UInt32>.self)
                    unsafe memory.storeBytes(
                        of: state & 1 == 0 ? ~SkipTables.passedMask : .max,
                        toByteOffset: Self.masks + state * 8, as: UInt64.self)
                }
            }

            /// Takes a look.
            ///
            /// - Parameters:
            ///   - accumulator: the lane's place, in the layout of ``SkipTables``.
            ///   - bits: the next ones, from the left; shifted by as many as were taken.
            ///   - number: which lane it is.
            @inline(always)
            func step(_ accumulator: inout UInt64, _ bits: inout UInt64, _ number: Int) {
                let state =
                    unsafe memory + Int(truncatingIfNeeded: accumulator &>> SkipTables.stepShift)
                    &* 8
                let table = unsafe state.load(as: UnsafePointer<UInt32>.self)
                accumulator &= unsafe state.load(fromByteOffset: Self.masks, as: UInt64.self)
                unsafe state.storeBytes(
                    of: UInt16(truncatingIfNeeded: accumulator),
                    toByteOffset: Self.starts &+ number &* 2, as: UInt16.self)
                let entry = unsafe UInt64(table[BitWindow.index(bits)])
                accumulator &+= entry
                bits &<<= entry
            }

            /// Notes where a lane is, as a step does.
            func record(_ accumulator: UInt64, _ number: Int) {
                unsafe memory.storeBytes(
                    of: UInt16(truncatingIfNeeded: accumulator),
                    toByteOffset: Self.starts + Int(accumulator >> SkipTables.stepShift) * 8
                        + number * 2,
                    as: UInt16.self)
            }

            /// Copies the positions that a lane had in every second state.
            ///
            /// - Parameters:
            ///   - state: the first one.
            ///   - count: how many.
            ///   - number: which lane it is.
            ///   - base: what they were counted from.
            ///   - target: takes the low 16 bits of them.
            @unsafe func copyStarts(
                from state: Int, count: Int, _ number: Int, _ base: UInt16,
                to target: UnsafeMutablePointer<UInt16>
            ) {
                var source = unsafe memory + (Self.starts + state * 8 + number * 2)
                var index = 0
                while index < count {
                    unsafe target[index] = base &+ source.load(as: UInt16.self)
                    unsafe source += 16
                    index &+= 1
                }
            }
        }
    }
#endif
