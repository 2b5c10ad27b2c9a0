// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Testing

@testable import AssetCatalogs

@Suite("Packed samples")
struct PackedSamplesTests {
    /// Samples of shapes, repetitions and noise.
    private func samples(_ width: Int, _ height: Int, _ bitCount: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        let largest = 1 << bitCount - 1
        let kind = random.next() % 4
        return (0..<width * height).map { index in
            let (x, y) = (index % width, index / width)
            let value =
                switch kind {
                case 0: random.next() % UInt64(largest + 1)
                case 1: x > y ? UInt64(largest) : 0
                case 2: UInt64((x * 7 + y % 3) % (largest + 1))
                default: random.next() % 9 == 0 ? random.next() % UInt64(largest + 1) : 0
                }
            return UInt8(value)
        }
    }

    @Test("give the same samples, at all sizes and numbers of bits")
    func roundTrip() throws {
        var packedCount = 0
        for seed in 0..<400 {
            let width = seed % 37 + 1
            let height = seed / 37 * 3 + 1
            let bitCount = [1, 2, 4, 8][seed % 4]
            let samples = samples(width, height, bitCount, seed: UInt64(seed))
            let form = PackedSamples(width: width, count: samples.count, bitCount: bitCount)
            let packed = form.packed(samples)
            #expect(try form.unpacked(packed.span, packed.indices) == samples, "seed \(seed)")
            packedCount += packed.count
        }
        #expect(packedCount > 0)
    }

    @Test("have the codes of the description")
    func codes() throws {
        let form = PackedSamples(width: 4, count: 16, bitCount: 8)
        // A literal 7; 3 as the previous one; 4 as above; from distance 5, 3; 0 and 255; 3 as above.
        let codes = "0 00000111 110 011 10 00100 1110 0101 010 11110 11111 10 011"
        var bytes: [UInt8] = []
        for (index, bit) in codes.filter({ $0 != " " }).enumerated() {
            if index % 8 == 0 { bytes.append(0) }
            if bit == "1" { bytes[bytes.count - 1] |= 0x80 >> UInt8(index % 8) }
        }
        let samples = try form.unpacked(bytes.span, bytes.indices)
        #expect(samples == [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 255, 7, 7, 0])
    }

    @Test("of blank images take few bytes")
    func blank() throws {
        for width in [1, 256, 65_536] {
            let form = PackedSamples(width: width, count: 65_536, bitCount: 8)
            let samples = [UInt8](repeating: 0, count: 65_536)
            let packed = form.packed(samples)
            #expect(packed.count <= 5)
            #expect(try form.unpacked(packed.span, packed.indices) == samples)
        }
    }

    @Test("that are damaged or cut short are errors or other samples, never a crash")
    func damage() throws {
        let samples = samples(20, 20, 8, seed: 3)
        let form = PackedSamples(width: 20, count: 400, bitCount: 8)
        let packed = form.packed(samples)
        for count in packed.indices {
            #expect(throws: CompiledDamage.self) { try form.unpacked(packed.span, 0..<count) }
        }
        let longer = packed + [0]
        #expect(throws: CompiledDamage.self) { try form.unpacked(longer.span, longer.indices) }
        var random = SeededRandom(seed: 8)
        var errorCount = 0
        for _ in 0..<5_000 {
            var changed = packed
            for _ in 0...random.next() % 3 {
                changed[Int(random.next() % UInt64(changed.count))] = UInt8(
                    truncatingIfNeeded: random.next())
            }
            if (try? form.unpacked(changed.span, changed.indices)) == nil { errorCount += 1 }
        }
        #expect(errorCount > 1_000)
    }
}
