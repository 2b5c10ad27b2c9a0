// SPDX-License-Identifier: Apache-2.0

/// A Huffman table, decoded by code length (T.81 C.2, F.2.2.3).
struct PlainHuffmanTable {
    /// For each length in bits: the first code, the number of codes, and the index in `values` of
    /// the value of the first code.
    private var lengths: [(firstCode: Int, count: Int, firstIndex: Int)] = []
    private let values: [Int]

    init(counts: [Int], values: [Int]) {
        self.values = values
        var code = 0
        var index = 0
        for count in counts {
            lengths.append((firstCode: code, count: count, firstIndex: index))
            code = (code + count) << 1
            index += count
        }
    }

    func value(_ code: Int, length: Int) -> Int? {
        let row = lengths[length - 1]
        let place = code - row.firstCode
        return (0..<row.count).contains(place) ? values[row.firstIndex + place] : nil
    }
}

/// A decoder of the coefficients of blocks in one restart interval.
struct PlainEntropyDecoder {
    private let bytes: [UInt8]
    private var bitOffset = 0
    /// The DC prediction of each component of the frame.
    private var predictions = [0, 0, 0, 0]
    /// The remaining blocks of the EOB run (G.1.2.2).
    private var blocksWithoutNew = 0
    private(set) var longestCode = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Bits and codes

    private mutating func readBit() throws -> Int {
        guard bitOffset < bytes.count * 8 else { throw PlainJPEGError.damaged("a scan ends early") }
        let bit = Int(bytes[bitOffset / 8] >> UInt8(7 - bitOffset % 8)) & 1
        bitOffset += 1
        return bit
    }

    private mutating func readBits(_ count: Int) throws -> Int {
        var value = 0
        for _ in 0..<count { value = try value * 2 + readBit() }
        return value
    }

    /// The procedure DECODE (F.2.2.3).
    private mutating func readCode(_ table: PlainHuffmanTable) throws -> Int {
        var code = 0
        for length in 1...16 {
            code = try code * 2 + readBit()
            if let value = table.value(code, length: length) {
                longestCode = max(longestCode, length)
                return value
            }
        }
        throw PlainJPEGError.damaged("an unknown code")
    }

    /// The procedures RECEIVE and EXTEND (F.2.2.1).
    private mutating func readSigned(_ bitCount: Int) throws -> Int {
        guard bitCount > 0 else { return 0 }
        let value = try readBits(bitCount)
        return value < 1 << (bitCount - 1) ? value - (1 << bitCount) + 1 : value
    }

    // MARK: DC

    /// Decodes a DC coefficient, or its first scan (F.2.2.1, G.1.2.1).
    mutating func readDC(
        _ block: inout [Int32], of component: Int, _ table: PlainHuffmanTable, bit: Int
    ) throws {
        let bitCount = try readCode(table)
        try require(bitCount <= 16, "a DC difference of \(bitCount) bits")
        predictions[component] += try readSigned(bitCount)
        let value = predictions[component] << bit
        try require(abs(value) < 1 << 24, "a DC coefficient of \(value)")
        block[0] = Int32(value)
    }

    /// Decodes a DC refinement (G.1.2.1).
    mutating func refineDC(_ block: inout [Int32], bit: Int) throws {
        if try readBit() == 1 { block[0] |= 1 << bit }
    }

    // MARK: AC

    /// Decodes the AC coefficients of a sequential scan (F.2.2.2).
    mutating func readAC(_ block: inout [Int32], _ table: PlainHuffmanTable) throws {
        var k = 1
        while k <= 63 {
            let code = try readCode(table)
            let (zeroCount, bitCount) = (code >> 4, code & 15)
            if bitCount == 0 {
                // EOB, or ZRL: sixteen zeros.
                guard zeroCount == 15 else { return }
                k += 16
            } else {
                k += zeroCount
                try require(k <= 63, "a run beyond the block")
                block[naturalOrder[k]] = Int32(try readSigned(bitCount))
                k += 1
            }
        }
    }

    /// Decodes the first scan of a spectral band (G.1.2.2).
    mutating func readACBand(
        _ block: inout [Int32], _ table: PlainHuffmanTable, _ scan: PlainScan
    ) throws {
        if blocksWithoutNew > 0 {
            blocksWithoutNew -= 1
            return
        }
        var k = scan.first
        while k <= scan.last {
            let code = try readCode(table)
            let (zeroCount, bitCount) = (code >> 4, code & 15)
            if bitCount == 0 {
                guard zeroCount == 15 else {
                    // The current block is the first of the EOB run.
                    blocksWithoutNew = try (1 << zeroCount) + readBits(zeroCount) - 1
                    return
                }
                k += 16
            } else {
                k += zeroCount
                try require(k <= scan.last, "a run beyond the band")
                block[naturalOrder[k]] = Int32(try readSigned(bitCount) * (1 << scan.bit))
                k += 1
            }
        }
    }

    /// Decodes a refinement scan of a band: correction bits and new coefficients (G.1.2.3).
    mutating func refineACBand(
        _ block: inout [Int32], _ table: PlainHuffmanTable, _ scan: PlainScan
    ) throws {
        var k = scan.first
        if blocksWithoutNew == 0 {
            while k <= scan.last {
                let code = try readCode(table)
                var zeroCount = code >> 4
                var new: Int32 = 0
                if code & 15 == 0 {
                    if zeroCount < 15 {
                        blocksWithoutNew = try (1 << zeroCount) + readBits(zeroCount)
                        break
                    }
                    // ZRL: fifteen zeros, and one more at the position of the coefficient.
                } else {
                    try require(code & 15 == 1, "a new coefficient of several bits")
                    new = try readBit() == 1 ? 1 << scan.bit : -(1 << scan.bit)
                }
                while k <= scan.last {
                    if block[naturalOrder[k]] != 0 {
                        try refine(&block[naturalOrder[k]], bit: scan.bit)
                    } else if zeroCount > 0 {
                        zeroCount -= 1
                    } else {
                        break
                    }
                    k += 1
                }
                if new != 0 {
                    try require(k <= scan.last, "a run beyond the band")
                    block[naturalOrder[k]] = new
                }
                k += 1
            }
        }
        if blocksWithoutNew > 0 {
            while k <= scan.last {
                if block[naturalOrder[k]] != 0 {
                    try refine(&block[naturalOrder[k]], bit: scan.bit)
                }
                k += 1
            }
            blocksWithoutNew -= 1
        }
    }

    private mutating func refine(_ coefficient: inout Int32, bit: Int) throws {
        if try readBit() == 1 { coefficient += coefficient > 0 ? 1 << bit : -(1 << bit) }
    }
}
