// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Testing

@Suite("Integers in bytes") struct IntegerTests {
    private let bytes: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]

    @Test("are read in both byte orders, at every width", arguments: 0...8)
    func read(byteCount: Int) {
        let stored = bytes.prefix(byteCount)
        let big = stored.reduce(0) { $0 * 256 + Int($1) }
        let little = stored.reversed().reduce(0) { $0 * 256 + Int($1) }
        #expect(bytes.span.integer(at: 0, byteCount: byteCount) == big)
        #expect(bytes.span.integer(at: 0, byteCount: byteCount, .littleEndian) == little)
        #expect(bytes.span.bigEndian(at: 0, byteCount: byteCount) == big)
        #expect(bytes.span.littleEndian(at: 0, byteCount: byteCount) == little)
    }

    @Test("that do not lie within the bytes are nil", arguments: [-1, 5, 8, 9, .min, .max])
    func outside(offset: Int) {
        #expect(bytes.span.integer(at: offset, byteCount: 4) == nil)
        #expect(bytes.span.littleEndian32(at: offset) == nil)
        #expect(bytes.span.text(at: offset, byteCount: 4) == "")
        #expect(bytes.span.extracting(0..<1).littleEndian16(at: 0) == nil)
    }

    @Test("of 64 bits that exceed Int, and longer ones, are nil")
    func tooLarge() {
        let large: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(large.span.integer(at: 0, byteCount: 8) == nil)
        #expect(large.span.integer(at: 0, byteCount: 8, .littleEndian) == 0x80)
        #expect(large.span.integer(at: 0, byteCount: 9) == nil)
    }

    @Test("are read as they were written", arguments: [ByteOrder.bigEndian, .littleEndian])
    func roundTrip(order: ByteOrder) {
        var file: [UInt8] = [0xFF]
        file.append(0x0102_0304, byteCount: 4, order)
        file.append(0, byteCount: 8, order)
        file.set(0xFFFE, at: 5, byteCount: 8, order)
        #expect(file.count == 13)
        #expect(file.span.integer(at: 1, byteCount: 4, order) == 0x0102_0304)
        #expect(file.span.integer(at: 5, byteCount: 8, order) == 0xFFFE)
        #expect([UInt8](-2, byteCount: 2, order).span.integer(at: 0, byteCount: 2) != nil)
    }
}
