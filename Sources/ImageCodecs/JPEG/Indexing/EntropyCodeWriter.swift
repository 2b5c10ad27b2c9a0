// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Writes entropy-coded data, with stuffed zero bytes (T.81 F.1.2.3).
struct EntropyCodeWriter {
    private(set) var bytes: [UInt8]
    /// The bits that are not written, in the low positions.
    private var pending: UInt64 = 0
    private var pendingCount = 0

    /// Continues after the bytes of a header.
    init(after bytes: [UInt8]) { self.bytes = bytes }

    /// Appends the low `count` bits of a number, whose other bits are 0; at most 56.
    @inline(always)
    mutating func append(_ bits: UInt64, _ count: Int) {
        pending = pending &<< UInt64(truncatingIfNeeded: count) | bits
        pendingCount &+= count
        while pendingCount >= 8 {
            pendingCount &-= 8
            let byte = UInt8(
                truncatingIfNeeded: pending &>> UInt64(truncatingIfNeeded: pendingCount))
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
        }
    }

    /// Completes the last byte with 1 bits and appends a marker.
    mutating func append(marker: UInt8) {
        let padding = (8 - pendingCount) & 7
        append((1 << UInt64(padding)) - 1, padding)
        bytes += [0xFF, marker]
    }
}

/// The Huffman table of DC differences in a ``JPEGPart``: each category has a code of 5 bits.
///
/// The table of the file may lack the category of a difference that occurs only at the edge of the
/// part.
enum PlainDCTable {
    static let codeBitCount = 5
    /// The largest category that libjpeg-turbo accepts.
    static let maximumCategory = 15

    /// A DHT segment (T.81 B.2.4.2) that defines it as DC table 0.
    static let segment: [UInt8] =
        [0xFF, 0xC4, 0, 35, 0] + (1...16).map { $0 == codeBitCount ? 16 : 0 }
        + (0...UInt8(maximumCategory)).map { $0 }

    /// Appends a difference; returns whether it has a category in the table.
    @inline(always)
    static func append(_ difference: Int, to writer: inout EntropyCodeWriter) -> Bool {
        let category = Int.bitWidth - abs(difference).leadingZeroBitCount
        guard category <= maximumCategory else { return false }
        // Negative values are one less in their low bits (T.81 F.1.2.1).
        let value = difference < 0 ? difference - 1 : difference
        let bits = value & (1 << category - 1)
        writer.append(
            UInt64(truncatingIfNeeded: category << category | bits), codeBitCount + category)
        return true
    }
}
#endif
