// SPDX-License-Identifier: Apache-2.0

/// Compresses indices by LZW into sub-blocks (GIF89a, appendix F).
struct GIFLZWEncoder {
    private static let slotCount = 1 << 14

    private var result: [UInt8] = []
    private var subBlock: [UInt8] = []
    private var bits: UInt32 = 0
    private var bitCount = 0
    /// The keys and codes of a hash table.
    ///
    /// A key is the code of a string without its last index, and that index.
    private var keys = [UInt32](repeating: .max, count: slotCount)
    private var codes = [UInt16](repeating: 0, count: slotCount)

    /// - Parameters:
    ///   - indices: at least one index.
    ///   - bits: the number of bits of an index, 1 to 8.
    /// - Returns: the LZW minimum code size, the sub-blocks, and the block terminator.
    static func compressed(_ indices: [UInt8], bits: Int) -> [UInt8] {
        var encoder = GIFLZWEncoder()
        encoder.compress(indices, bits: max(2, bits))
        return encoder.result
    }

    private mutating func compress(_ indices: [UInt8], bits rootBits: Int) {
        result.append(UInt8(rootBits))
        let clear = 1 << rootBits
        var width = rootBits + 1
        var next = clear + 2
        write(clear, width)
        guard var string = indices.first.map(Int.init) else { return }
        for index in indices.dropFirst() {
            let key = UInt32(string << 8 | Int(index))
            var slot = Int((key &* 0x9E37_79B1) >> 18)
            while keys[slot] != .max && keys[slot] != key {
                slot = (slot + 1) & (Self.slotCount - 1)
            }
            if keys[slot] == key {
                string = Int(codes[slot])
                continue
            }
            write(string, width)
            string = Int(index)
            if next < 4096 {
                keys[slot] = key
                codes[slot] = UInt16(next)
                // The decoder's table is one code behind.
                if next == 1 << width { width += 1 }
                next += 1
            } else {
                write(clear, width)
                for slot in keys.indices { keys[slot] = .max }
                width = rootBits + 1
                next = clear + 2
            }
        }
        write(string, width)
        // The last code added an entry to the decoder's table.
        if next == 1 << width, width < 12 { width += 1 }
        write(clear + 1, width)
        if bitCount > 0 { append(UInt8(truncatingIfNeeded: bits)) }
        flush()
        result.append(0)
    }

    private mutating func write(_ code: Int, _ width: Int) {
        bits |= UInt32(code) << UInt32(bitCount)
        bitCount += width
        while bitCount >= 8 {
            append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
            bitCount -= 8
        }
    }

    private mutating func append(_ byte: UInt8) {
        subBlock.append(byte)
        if subBlock.count == 255 { flush() }
    }

    private mutating func flush() {
        guard !subBlock.isEmpty else { return }
        result.append(UInt8(subBlock.count))
        result += subBlock
        subBlock.removeAll(keepingCapacity: true)
    }
}
