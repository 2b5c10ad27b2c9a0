// SPDX-License-Identifier: Apache-2.0

#if JPEG
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
        func peek() -> UInt64 {
            let bytes = unsafe UnsafeRawPointer(data + position &>> 3)
            return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
                &<< UInt64(truncatingIfNeeded: position & 7)
        }

        @inline(always)
        mutating func skip(_ count: Int) { position &+= count }

        /// The next bits as a number, at most 57.
        @inline(always)
        mutating func bits(_ count: Int) -> Int {
            let result = Self.number(peek(), count)
            position &+= count
            return result
        }

        /// The symbol that comes next, with what stands behind it; `nil` if no code begins like that.
        @inline(always)
        mutating func symbol(_ reader: borrowing SymbolReader) -> (symbol: Int, rest: UInt64)? {
            let bits = peek()
            let entry = reader.code.window[
                Int(truncatingIfNeeded: bits &>> UInt64(64 - HuffmanCode.windowBits))]
            guard _fastPath(entry != 0) else { return longSymbol(reader.code, bits) }
            let length = Int(entry & 255)
            position &+= length
            return (Int(entry &>> 8), bits &<< UInt64(truncatingIfNeeded: length))
        }

        @inline(never)
        private mutating func longSymbol(
            _ code: HuffmanCode, _ bits: UInt64
        ) -> (symbol: Int, rest: UInt64)? {
            guard let (symbol, length) = code.symbol(Int(bits >> 48)) else { return nil }
            position += length
            return (symbol, bits << UInt64(length))
        }

        /// The first bits as a number, at most 63.
        @inline(always)
        static func number(_ bits: UInt64, _ count: Int) -> Int {
            // Two shifts, as one by 64 would be one by 0.
            Int(truncatingIfNeeded: (bits &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- count))
        }

        /// The number behind a code: of those of as many bits, the lower half stands for negatives.
        @inline(always)
        static func signed(_ bits: UInt64, _ count: Int) -> Int {
            let isNegative = ~(Int(truncatingIfNeeded: bits) &>> 63)
            return number(bits, count) &- ((1 &<< count &- 1) & isNegative)
        }
    }

    /// What reads the symbols of a code.
    struct SymbolReader {
        let code: HuffmanCode
    }
#endif
