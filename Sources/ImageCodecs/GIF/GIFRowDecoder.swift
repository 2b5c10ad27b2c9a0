// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Decompresses the indices of a large image row by row, without keeping them (GIF89a, appendix F).
///
/// ``GIFLZWDecoder`` is faster, but its strings are places among all indices.
struct GIFRowDecoder {
    private static let maximumCodeCount = 4096

    private let width: Int
    /// The offset of the next byte, and the number of bytes left in its sub-block.
    private var offset: Int
    private var blockRest = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    /// By code: the code of the string without its last index, that index, and the length.
    private var prefixes = [UInt16](repeating: 0, count: maximumCodeCount)
    private var suffixes = [UInt8](repeating: 0, count: maximumCodeCount)
    private var lengths = [Int](repeating: 1, count: maximumCodeCount)
    /// The string of a code.
    private var string = [UInt8](repeating: 0, count: maximumCodeCount + 1)

    /// - Parameters:
    ///   - width: the number of indices in a row, at least 1.
    ///   - offset: the offset of the LZW minimum code size.
    init(width: Int, at offset: Int) {
        self.width = width
        self.offset = offset
    }

    /// Calls `body` with the number and the indices of each row, in stored order.
    ///
    /// - Returns: the number of complete rows, which is smaller than `rowCount` if the data ends early.
    /// - Throws: ``CodecError/malformed(reason:offset:)``, and the errors of `body`.
    mutating func forEachRow(
        _ rowCount: Int, in file: Span<UInt8>,
        _ body: (_ row: Int, _ indices: Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) -> Int {
        let start = offset
        let damaged = CodecError.malformed(reason: "invalid LZW code", offset: start)
        guard offset < file.count else { return 0 }
        let rootBits = Int(file[offset])
        guard (1...11).contains(rootBits) else { throw damaged }
        offset += 1
        let clear = 1 << rootBits
        for code in 0..<clear { suffixes[code] = UInt8(truncatingIfNeeded: code) }
        var (codeBits, next) = (rootBits + 1, clear + 2)
        var last: Int?
        var indices = [UInt8](repeating: 0, count: width)
        var (x, y) = (0, 0)
        while y < rowCount, let code = nextCode(codeBits, file) {
            if code == clear {
                (codeBits, next, last) = (rootBits + 1, clear + 2, nil)
                continue
            }
            if code == clear + 1 { break }
            if let last, next < Self.maximumCodeCount {
                guard code <= next else { throw damaged }
                prefixes[next] = UInt16(truncatingIfNeeded: last)
                lengths[next] = lengths[last] + 1
                // A string that ends in its own first index (the KwKwK case).
                suffixes[next] = firstIndex(of: code == next ? last : code, clear)
                next += 1
                if next == 1 << codeBits, codeBits < 12 { codeBits += 1 }
            }
            guard code < clear || last != nil && code < next else { throw damaged }
            last = code
            let length = spell(code)
            var place = 0
            while place < length, y < rowCount {
                let count = min(length - place, width - x)
                for index in 0..<count { indices[x + index] = string[place + index] }
                place += count
                x += count
                if x == width {
                    try body(y, indices.span)
                    (x, y) = (0, y + 1)
                }
            }
        }
        return y
    }

    /// Writes the string of a code to ``string``, and returns its length.
    private mutating func spell(_ code: Int) -> Int {
        let length = lengths[code]
        var code = code
        for place in stride(from: length - 1, through: 0, by: -1) {
            string[place] = suffixes[code]
            code = Int(prefixes[code])
        }
        return length
    }

    private func firstIndex(of code: Int, _ clear: Int) -> UInt8 {
        var code = code
        while code > clear { code = Int(prefixes[code]) }
        return suffixes[code]
    }

    private mutating func nextCode(_ codeBits: Int, _ file: Span<UInt8>) -> Int? {
        while bitCount < codeBits {
            if blockRest == 0 {
                guard offset < file.count, file[offset] > 0 else { return nil }
                blockRest = Int(file[offset])
                offset += 1
            }
            guard offset < file.count else { return nil }
            bits |= UInt32(file[offset]) << UInt32(bitCount)
            bitCount += 8
            offset += 1
            blockRest -= 1
        }
        let code = Int(bits & (1 << UInt32(codeBits) - 1))
        bits >>= UInt32(codeBits)
        bitCount -= codeBits
        return code
    }
}
