// SPDX-License-Identifier: Apache-2.0

/// The samples of a small image, compressed to bits that are decoded without tables.
///
/// Each code is a single sample, or a number of samples that are repeated. `Documentation/assets-format.md`
/// lists the codes.
struct PackedSamples {
    /// The largest number of samples, which bounds the memory that a file of few bytes takes.
    static let maximumCount = 65_536

    /// The number of samples from one to the one below it.
    private let width: Int
    private let count: Int
    /// The number of bits of a sample.
    private let bitCount: Int
    /// The number of bits of a distance.
    private let distanceBitCount: Int

    /// The form of an image.
    ///
    /// - Parameters:
    ///   - width: the width in samples.
    ///   - count: the number of samples, from 1 to ``maximumCount``.
    ///   - bitCount: the number of bits of a sample, from 1 to 8.
    init(width: Int, count: Int, bitCount: Int) {
        self.width = width
        self.count = count
        self.bitCount = bitCount
        distanceBitCount = Int.bitWidth - (count - 1).leadingZeroBitCount
    }

    private var largest: UInt8 { UInt8(truncatingIfNeeded: 1 << bitCount - 1) }

    // MARK: Decoding

    /// Decodes the samples.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - range: the bytes of the codes.
    /// - Returns: as many samples as the image has.
    /// - Throws: ``CompiledDamage`` if the bytes are not the codes of exactly as many samples.
    func unpacked(
        _ file: Span<UInt8>, _ range: Range<Int>
    ) throws(CompiledDamage) -> [UInt8] {
        var samples = [UInt8](repeating: 0, count: count)
        var output = samples.mutableSpan
        var bits = PackedBits(range.map { file[$0] })
        var position = 0
        while position < count {
            switch bits.leadingOnes(atMost: 4) {
            case 0:
                output[position] = UInt8(truncatingIfNeeded: bits.next(bitCount))
                position += 1
                continue
            case 1:
                try repeatSamples(width, bits.number(), &output, &position)
            case 2:
                try repeatSamples(1, bits.number(), &output, &position)
            case 3:
                let distance = bits.next(distanceBitCount)
                guard distance <= position else {
                    throw CompiledDamage(reason: "a copy of samples before the image")
                }
                try repeatSamples(distance, bits.number() + 1, &output, &position)
            default:
                output[position] = bits.next(1) == 0 ? 0 : largest
                position += 1
            }
        }
        guard bits.isAtEnd else { throw CompiledDamage(reason: "an image of too few or many bits") }
        return samples
    }

    /// Repeats samples from a distance; those before the image are 0.
    private func repeatSamples(
        _ distance: Int, _ number: Int, _ output: inout MutableSpan<UInt8>, _ position: inout Int
    ) throws(CompiledDamage) {
        guard number <= count - position, distance > 0 else {
            throw CompiledDamage(reason: "a repetition of \(number) samples exceeds the image")
        }
        for index in position..<position + number where index >= distance {
            output[index] = output[index - distance]
        }
        position += number
    }

    // MARK: Encoding

    /// A way to reach a position of the samples.
    private struct Step {
        /// The number of bits of all codes up to the position.
        var cost = Int.max
        var code = Code.literal
        var number = 1
        var distance = 0
    }

    private enum Code: Int {
        case literal, above, previous, copy, extreme
    }

    /// The largest number of earlier places with the same two samples that are compared.
    private static let searchCount = 16
    /// A shorter repetition may be better if it ends where another one starts.
    private static let shortCount = 4
    /// From this number on, no copies are searched.
    private static let longCount = 16
    private static let maximumCopyCount = 256

    /// Encodes samples with the fewest bits among the codes that are tried.
    ///
    /// - Parameter samples: as many as the image has.
    /// - Returns: the bytes of the codes.
    func packed(_ samples: [UInt8]) -> [UInt8] {
        let above = repetitions(samples, width)
        let previous = repetitions(samples, 1)
        var steps = [Step](repeating: Step(), count: count + 1)
        steps[0].cost = 0
        var last = [Int](repeating: -1, count: 1 << 16)
        var earlier = [Int](repeating: -1, count: count)
        func reach(_ end: Int, _ cost: Int, _ code: Code, _ number: Int, _ distance: Int = 0) {
            if cost < steps[end].cost {
                steps[end] = Step(cost: cost, code: code, number: number, distance: distance)
            }
        }
        for position in 0..<count {
            let cost = steps[position].cost
            let sample = samples[position]
            reach(position + 1, cost + 1 + bitCount, .literal, 1)
            if sample == 0 || sample == largest { reach(position + 1, cost + 5, .extreme, 1) }
            for (code, longest, prefix) in [
                (Code.above, above[position], 2), (.previous, previous[position], 3),
            ] where longest > 0 {
                for number in Array(1...min(longest, Self.shortCount)) + [longest] {
                    reach(
                        position + number, cost + prefix + Self.bitCount(of: number), code, number)
                }
            }
            guard position + 1 < count else { continue }
            let pair = Int(sample) << 8 | Int(samples[position + 1])
            var place = last[pair]
            var searched = 0
            while place >= 0, searched < Self.searchCount,
                max(above[position], previous[position]) < Self.longCount
            {
                let distance = position - place
                var number = 2
                while number < Self.maximumCopyCount, position + number < count,
                    samples[position + number] == samples[position + number - distance]
                {
                    number += 1
                }
                let prefix = 4 + distanceBitCount
                for number in Array(2...min(number, Self.shortCount)) + [number] {
                    reach(
                        position + number, cost + prefix + Self.bitCount(of: number - 1), .copy,
                        number, distance)
                }
                place = earlier[place]
                searched += 1
            }
            earlier[position] = last[pair]
            last[pair] = position
        }
        return bytes(of: steps, samples)
    }

    /// For each position, the number of samples that equal those at a distance before it.
    private func repetitions(_ samples: [UInt8], _ distance: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: count + 1)
        for position in (0..<count).reversed() {
            let source = position < distance ? 0 : samples[position - distance]
            counts[position] = samples[position] == source ? counts[position + 1] + 1 : 0
        }
        return counts
    }

    private func bytes(of steps: [Step], _ samples: [UInt8]) -> [UInt8] {
        var path: [Step] = []
        var position = count
        while position > 0 {
            path.append(steps[position])
            position -= steps[position].number
        }
        var writer = PackedBitWriter()
        for step in path.reversed() {
            let sample = Int(samples[position])
            switch step.code {
            case .literal:
                writer.append(sample, bitCount + 1)
            case .above:
                writer.append(0b10, 2)
                writer.append(number: step.number)
            case .previous:
                writer.append(0b110, 3)
                writer.append(number: step.number)
            case .copy:
                writer.append(0b1110, 4)
                writer.append(step.distance, distanceBitCount)
                writer.append(number: step.number - 1)
            case .extreme:
                writer.append(0b1111 << 1 | (sample == 0 ? 0 : 1), 5)
            }
            position += step.number
        }
        return writer.bytes
    }

    /// The number of bits of a number in Elias gamma code.
    private static func bitCount(of number: Int) -> Int {
        2 * (Int.bitWidth - number.leadingZeroBitCount) - 1
    }
}

/// Bits of a file, the first in the highest bit of a byte.
private struct PackedBits {
    private let bytes: [UInt8]
    /// The next bits, the first in the highest bit.
    private var window: UInt64 = 0
    /// The number of bits in the window.
    private var available = 0
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether all bits were read, except those that fill the last byte.
    var isAtEnd: Bool {
        let rest = (bytes.count - offset) * 8 + available
        return (0..<8).contains(rest) && window == 0
    }

    private mutating func fill() {
        while available <= 48 {
            // Bits after the end are 0.
            if offset < bytes.count {
                window |= UInt64(bytes[offset]) << UInt64(56 - available)
            }
            offset += 1
            available += 8
        }
    }

    private mutating func skip(_ count: Int) {
        window <<= UInt64(count)
        available -= count
    }

    /// Reads up to 16 bits.
    mutating func next(_ count: Int) -> Int {
        if available < 16 { fill() }
        let value = Int(truncatingIfNeeded: window >> UInt64(64 - count))
        skip(count)
        return value
    }

    /// Reads bits up to the first 0, which is not counted.
    mutating func leadingOnes(atMost limit: Int) -> Int {
        if available < 16 { fill() }
        let count = min((~window).leadingZeroBitCount, limit)
        skip(count < limit ? count + 1 : count)
        return count
    }

    /// Reads a number in Elias gamma code; a large one if the code is too long.
    mutating func number() -> Int {
        if available < 48 { fill() }
        let zeros = window.leadingZeroBitCount
        guard zeros <= 16 else { return .max / 2 }
        skip(zeros)
        return next(zeros + 1)
    }
}

/// Appends bits, the first in the highest bit of a byte.
private struct PackedBitWriter {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    mutating func append(_ value: Int, _ count: Int) {
        for bit in (0..<count).reversed() {
            if bitCount % 8 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << (7 - bitCount % 8)
            bitCount += 1
        }
    }

    /// Appends a number from 1 on in Elias gamma code.
    mutating func append(number: Int) {
        let count = Int.bitWidth - number.leadingZeroBitCount
        append(number, 2 * count - 1)
    }
}
