// SPDX-License-Identifier: Apache-2.0

#if JPEG
import Testing

@testable import ImageCodecs

@Suite("JPEG Huffman table") struct HuffmanTableTests {
    /// Creates a table from the symbols of each code length, beginning with 1.
    private func code(_ symbols: [[UInt8]]) throws -> HuffmanTable {
        let counts = symbols.map(\.count) + Array(repeating: 0, count: 16 - symbols.count)
        return try #require(HuffmanTable(counts: counts, symbols: symbols.flatMap { $0 }))
    }

    @Test("minimum number of bits of a block with a nonzero AC coefficient")
    func minimumACBits() throws {
        // A value after a run of 0 takes 2 bits and 1 additional bit, EOB takes 4.
        let usual = try code([[], [0x01, 0x02], [0x03], [0x00, 0x04, 0x11]])
        #expect(usual.minimumACBits == 7)
        // Three ZRL and a value after a run of 14 fill a block, which then has no EOB.
        let runs = try code([[0xF0], [], [], [], [0xE1, 0x00]])
        #expect(runs.minimumACBits == 4)
        // Symbols that are invalid in a sequential file end the block as well.
        let other = try code([[0x30], [0x01], [], [0x00]])
        #expect(other.minimumACBits == 4)
    }

    @Test("a table without value symbols allows no AC coefficients") func noValues() throws {
        #expect(try code([[0x00]]).minimumACBits > 63)
        #expect(try code([[], []]).minimumACBits > 63)
    }
}
#endif
