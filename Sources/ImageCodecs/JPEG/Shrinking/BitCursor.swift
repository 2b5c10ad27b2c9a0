// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// A window of bits, the next one in the most significant position.
enum BitWindow {
    /// Returns at least the next 57 bits; reads eight bytes even beyond the end of the data.
    @unsafe @inline(always)
    static func load(_ data: UnsafePointer<UInt8>, at position: Int) -> UInt64 {
        let bytes = unsafe UnsafeRawPointer(data + position &>> 3)
        return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            &<< UInt64(truncatingIfNeeded: position & 7)
    }

    /// Returns the index into a table of ``HuffmanTable/lookaheadBits`` bits.
    @inline(always)
    static func index(_ bits: UInt64) -> Int {
        Int(truncatingIfNeeded: bits &>> UInt64(64 - HuffmanTable.lookaheadBits))
    }
}

/// A position in entropy-coded data, from which symbols and additional bits are read in order.
///
/// Reads are unchecked: the caller checks ``isInside`` at least once in
/// ``EntropyCodedData/margin`` bytes less the 8 bytes of a load. The cursor must not outlive
/// the data.
@safe struct BitCursor {
    /// The position in bits from the start of the data.
    private(set) var position: Int
    private let end: Int
    private let data: UnsafePointer<UInt8>

    /// - Parameters:
    ///   - data: the start of the data.
    ///   - segment: the range of bytes to read.
    @unsafe init(_ data: UnsafePointer<UInt8>, _ segment: Range<Int>) {
        unsafe self.data = unsafe data
        position = segment.lowerBound * 8
        end = segment.upperBound * 8
    }

    /// Whether all bits that have been consumed were part of the segment.
    var isInside: Bool { @inline(always) get { position <= end } }

    /// Returns at least the next 57 bits, left-aligned.
    @inline(always)
    func peek() -> UInt64 { unsafe BitWindow.load(data, at: position) }

    /// Returns at least 57 bits that follow the next `count` bits.
    @inline(always)
    func peek(after count: Int) -> UInt64 {
        unsafe BitWindow.load(data, at: position &+ count)
    }

    @inline(always)
    mutating func skip(_ count: Int) { position &+= count }

    /// Moves forward; returns whether the position is in the segment and not before the current one.
    mutating func move(to position: Int) -> Bool {
        guard position >= self.position, position <= end else { return false }
        self.position = position
        return true
    }
}

/// Decodes symbols of a Huffman table; it must not outlive the table.
@safe struct HuffmanDecoder {
    private let table: HuffmanTable
    private let lookup: UnsafePointer<UInt16>

    @unsafe init(_ table: HuffmanTable, _ lookup: UnsafePointer<UInt16>) {
        self.table = table
        unsafe self.lookup = unsafe lookup
    }

    /// Returns symbol × 256 + code length for the code at the start of `bits`; 0 if the code is
    /// invalid.
    @inline(always)
    func entry(_ bits: UInt64) -> Int {
        let entry = unsafe Int(lookup[BitWindow.index(bits)])
        return _fastPath(entry != 0) ? entry : longCodeEntry(bits)
    }

    @inline(never)
    private func longCodeEntry(_ bits: UInt64) -> Int {
        guard let (symbol, length) = table.decode(Int(bits >> 48)) else { return 0 }
        return symbol << 8 | length
    }
}

extension HuffmanTable {
    /// Calls `body` with a decoder, which must not outlive the call.
    @inline(__always)
    func withDecoder(_ body: (HuffmanDecoder) -> Bool) -> Bool {
        unsafe lookup.withUnsafeBufferPointer { lookup in
            guard let lookup = lookup.baseAddress else { return false }
            return body(unsafe HuffmanDecoder(self, lookup))
        }
    }
}

/// The additional bits that follow a Huffman code.
enum BitField {
    /// Returns the first `count` bits as a number; at most 63 (RECEIVE, T.81 F.2.2.4).
    @inline(always)
    static func receive(_ bits: UInt64, _ count: Int) -> Int {
        // Two shifts, because a shift by 64 would be a shift by 0.
        Int(truncatingIfNeeded: (bits &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- count))
    }

    /// Returns the signed value of the first `count` bits (EXTEND, T.81 F.2.2.1): the lower
    /// half of the range is negative.
    @inline(always)
    static func extend(_ bits: UInt64, _ count: Int) -> Int {
        let isNegative = ~(Int(truncatingIfNeeded: bits) &>> 63)
        return receive(bits, count) &- ((1 &<< count &- 1) & isNegative)
    }
}
#endif
