// SPDX-License-Identifier: Apache-2.0

#if JPEG
    import Testing

    @testable import ImageCodecs

    @Suite("A Huffman code of a JPEG") struct HuffmanTableTests {
        /// A code by what its codes of each length, from 1 on, stand for.
        private func code(_ symbols: [[UInt8]]) throws -> HuffmanTable {
            let counts = symbols.map(\.count) + Array(repeating: 0, count: 16 - symbols.count)
            return try #require(HuffmanTable(counts: counts, symbols: symbols.flatMap { $0 }))
        }

        @Test("tells how many bits a block has at least if it has more than a first coefficient")
        func minimumACBits() throws {
            // A value behind no zeros takes 2 bits and 1 of its own, the end of the block 4.
            let usual = try code([[], [0x01, 0x02], [0x03], [0x00, 0x04, 0x11]])
            #expect(usual.minimumACBits == 7)
            // Three runs of 16 zeros and a value behind 15 more fill a block, which has no end then.
            let runs = try code([[0xF0], [], [], [], [0xE1, 0x00]])
            #expect(runs.minimumACBits == 4)
            // What makes no sense in a sequential file ends the block as well.
            let other = try code([[0x30], [0x01], [], [0x00]])
            #expect(other.minimumACBits == 4)
        }

        @Test("that has no values cannot have any more") func noValues() throws {
            #expect(try code([[0x00]]).minimumACBits > 63)
            #expect(try code([[], []]).minimumACBits > 63)
        }
    }
#endif
