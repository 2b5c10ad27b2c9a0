// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// The bits at hand, the next one on the left.
    enum BitWindow {
        /// At least the next 57 bits; reads eight bytes, whether they are there or not.
        @unsafe @inline(always)
        static func load(_ data: UnsafePointer<UInt8>, at position: Int) -> UInt64 {
            let bytes = unsafe UnsafeRawPointer(data + position &>> 3)
            return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
                &<< UInt64(truncatingIfNeeded: position & 7)
        }

        /// Where tables by the next ``HuffmanCode/windowBits`` bits have their entry.
        @inline(always)
        static func index(_ bits: UInt64) -> Int {
            Int(truncatingIfNeeded: bits &>> UInt64(64 - HuffmanCode.windowBits))
        }
    }

    /// A place in entropy-coded data from which symbols and numbers are read one after the other.
    ///
    /// It checks nothing as it reads: whoever uses it asks ``isInside`` at least once in
    /// ``EntropyCodedData/margin`` bytes less the 8 that a look takes. It must not outlive the data.
    @safe struct BitCursor {
        /// In bits from the start of the data.
        private(set) var position: Int
        private let end: Int
        private let data: UnsafePointer<UInt8>

        /// - Parameters:
        ///   - data: the start of all the data.
        ///   - segment: the bytes of it that are read.
        @unsafe init(_ data: UnsafePointer<UInt8>, _ segment: Range<Int>) {
            unsafe self.data = unsafe data
            position = segment.lowerBound * 8
            end = segment.upperBound * 8
        }

        /// Whether all that was read was there.
        var isInside: Bool { @inline(always) get { position <= end } }

        /// At least the next 57 bits, from the left.
        @inline(always)
        func peek() -> UInt64 { unsafe BitWindow.load(data, at: position) }

        /// The same from behind some bits on.
        @inline(always)
        func peek(behind count: Int) -> UInt64 {
            unsafe BitWindow.load(data, at: position &+ count)
        }

        @inline(always)
        mutating func skip(_ count: Int) { position &+= count }
    }

    /// What reads the symbols of a code at the start of some bits; it must not outlive the code.
    @safe struct SymbolReader {
        private let code: HuffmanCode
        private let window: UnsafePointer<UInt16>

        @unsafe init(_ code: HuffmanCode, _ window: UnsafePointer<UInt16>) {
            self.code = code
            unsafe self.window = unsafe window
        }

        /// Symbol × 256 + length of its code; 0 if no code begins like that.
        @inline(always)
        func entry(_ bits: UInt64) -> Int {
            let entry = unsafe Int(window[BitWindow.index(bits)])
            return _fastPath(entry != 0) ? entry : longEntry(bits)
        }

        @inline(never)
        private func longEntry(_ bits: UInt64) -> Int {
            guard let (symbol, length) = code.symbol(Int(bits >> 48)) else { return 0 }
            return symbol << 8 | length
        }
    }

    /// The numbers that stand in some bits from the left.
    enum BitNumber {
        /// At most 63 bits as a number.
        @inline(always)
        static func unsigned(_ bits: UInt64, _ count: Int) -> Int {
            // Two shifts, as one by 64 would be one by 0.
            Int(truncatingIfNeeded: (bits &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- count))
        }

        /// The number behind a symbol: of those of as many bits, the lower half stands for negatives.
        @inline(always)
        static func signed(_ bits: UInt64, _ count: Int) -> Int {
            let isNegative = ~(Int(truncatingIfNeeded: bits) &>> 63)
            return unsigned(bits, count) &- ((1 &<< count &- 1) & isNegative)
        }
    }
#endif
