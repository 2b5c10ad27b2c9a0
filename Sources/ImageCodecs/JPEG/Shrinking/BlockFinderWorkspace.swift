// SPDX-License-Identifier: Apache-2.0

#if JPEG
extension BlockFinder {
    /// The data that the steps of all lanes use, in one allocation so that one register
    /// addresses it.
    ///
    /// By state, which increases from MCU to MCU (T.81 A.2) until a run ends:
    ///
    /// | offset in bytes | |
    /// |---|---|
    /// | 8 × state | the address of the lookup table |
    /// | 8 × (``stateCount`` + state) | the mask of a lane's accumulator, which clears the coefficients passed at the start of a block |
    /// | 8 × (2 × ``stateCount`` + state) | by lane: the low 16 bits of the position in this state; for *DC symbol* the start of the block |
    @safe struct Workspace {
        static let lookupsPerRound = 3
        /// The number of rounds until positions and states are counted anew.
        static let roundCount = 32
        /// The maximum number of bits a round consumes: three codes of 16 bits with 15
        /// additional bits.
        static let bitsPerRound = 96
        /// An MCU has at most 10 blocks (T.81 B.2.3) of two states; a lookup advances by at
        /// most two.
        static let stateCount = 20 + roundCount * lookupsPerRound * 2 + 1
        /// The bits of an accumulator that are set if a lookup of the round found nothing.
        static let incomplete = SkipTables.overflow | SkipTables.missingMask

        private static let masks = stateCount * 8
        private static let starts = stateCount * 16
        static let byteCount = stateCount * 24

        private let memory: UnsafeMutableRawPointer
        /// The number of states of an MCU.
        let period: Int

        /// Initializes the memory.
        ///
        /// - Parameters:
        ///   - memory: ``byteCount`` bytes, aligned to 8.
        ///   - entries: the entries of ``MCUTables``.
        ///   - tables: by state in an MCU, the offset of the table.
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

        /// Performs one lookup.
        ///
        /// - Parameters:
        ///   - accumulator: the position of the lane, in the layout of ``SkipTables``.
        ///   - bits: the next bits, left-aligned; shifted by the number consumed.
        ///   - number: the number of the lane.
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

        /// Records the position of a lane, as a step does.
        func record(_ accumulator: UInt64, _ number: Int) {
            unsafe memory.storeBytes(
                of: UInt16(truncatingIfNeeded: accumulator),
                toByteOffset: Self.starts + Int(accumulator >> SkipTables.stepShift) * 8
                    + number * 2,
                as: UInt16.self)
        }

        /// Copies the positions of a lane in every second state.
        ///
        /// - Parameters:
        ///   - state: the first state.
        ///   - count: the number of positions.
        ///   - number: the number of the lane.
        ///   - base: the position from which they were counted.
        ///   - target: receives the low 16 bits of the positions.
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
