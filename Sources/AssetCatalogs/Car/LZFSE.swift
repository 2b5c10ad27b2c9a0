// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Why a block cannot be decompressed.
enum LZFSEError: Error {
    /// The bytes violate the format.
    case malformed(String)
    /// The coding of a block is not supported.
    case unsupported(String)
}

/// Decompresses LZFSE: blocks of literals and matches, coded with finite state entropy (tANS).
///
/// - SeeAlso: the reference implementation, github.com/lzfse/lzfse.
struct LZFSE {
    /// The numbers of states and symbols of a coding.
    private enum Coding: Int, CaseIterable {
        case lengths, matches, distances, literals

        var stateCount: Int { [64, 64, 256, 1024][rawValue] }
        var symbolCount: Int { [20, 20, 64, 256][rawValue] }

        /// The number of bits that follow a symbol, and the value of bits that are all 0.
        func value(of symbol: Int) -> (bitCount: Int, base: Int) {
            switch self {
            case .literals: return (0, symbol)
            case .lengths, .matches:
                if symbol < 16 { return (0, symbol) }
                let bitCounts = self == .lengths ? [2, 3, 5, 8] : [3, 5, 8, 11]
                let base = bitCounts[..<(symbol - 16)].reduce(16) { $0 + 1 << $1 }
                return (bitCounts[symbol - 16], base)
            case .distances:
                // Four symbols for each number of bits.
                let bitCount = symbol / 4
                return (bitCount, ((1 << bitCount) - 1) * 4 + (symbol % 4) << bitCount)
            }
        }
    }

    /// The transition of a state.
    private struct Transition {
        var bitCount: Int
        var delta: Int
        var extraBitCount: Int
        var base: Int
    }

    /// Bits that are read from the last one to the first.
    private struct BackwardBits {
        let file: Range<Int>
        var position: Int

        /// Bits of a range of a file, without the unused ones of its last byte.
        init(_ range: Range<Int>, unused: Int) {
            file = range
            position = range.count * 8 - unused
        }

        mutating func next(_ count: Int, _ input: Span<UInt8>) throws(LZFSEError) -> Int {
            guard count <= position else { throw .malformed("the bits of a block end early") }
            position -= count
            var value = 0
            var filled = 0
            while filled < count {
                let place = position + filled
                let taken = min(count - filled, 8 - place % 8)
                let byte = Int(input[file.lowerBound + place / 8]) >> (place % 8)
                value |= (byte & ((1 << taken) - 1)) << filled
                filled += taken
            }
            return value
        }
    }

    /// The fields of the header of a block.
    private struct Header {
        private(set) var rawByteCount = 0
        private(set) var literalCount = 0
        private(set) var matchCount = 0
        private(set) var literals = BackwardBits(0..<0, unused: 0)
        private(set) var matches = BackwardBits(0..<0, unused: 0)
        private(set) var literalStates: [Int] = []
        private(set) var states: [Int] = []
        private(set) var tables: [[Transition]] = []
        private(set) var end = 0

        init(_ input: Span<UInt8>, at offset: Int) throws(LZFSEError) {
            guard offset <= input.count - 32 else { throw .malformed("a block ends early") }
            rawByteCount = input.littleEndian(at: offset + 4, byteCount: 4)
            let fields = (0..<3).map {
                UInt64(bitPattern: Int64(input.littleEndian(at: offset + 8 + $0 * 8, byteCount: 8)))
            }
            func field(_ index: Int, _ shift: Int, _ count: Int) -> Int {
                Int(fields[index] >> UInt64(shift) & (1 << UInt64(count) - 1))
            }
            literalCount = field(0, 0, 20)
            matchCount = field(0, 40, 20)
            literalStates = (0..<4).map { field(1, $0 * 10, 10) }
            states = [field(2, 32, 10), field(2, 42, 10), field(2, 52, 10)]
            let start = offset + field(2, 0, 32)
            let literalEnd = start + field(0, 20, 20)
            end = literalEnd + field(1, 40, 20)
            // Bits of length 0 would let a small block decode any number of symbols.
            guard rawByteCount > 0, literalCount <= rawByteCount + 3, matchCount <= rawByteCount,
                start >= offset + 32, end <= input.count, literalCount % 4 == 0, states[0] < 64,
                states[1] < 64, states[2] < 256
            else { throw .malformed("invalid header of a block") }
            literals = BackwardBits(start..<literalEnd, unused: 7 - field(0, 60, 3))
            matches = BackwardBits(literalEnd..<end, unused: 7 - field(1, 60, 3))
            var bits = FrequencyBits(position: (offset + 32) * 8, end: start * 8)
            for coding in Coding.allCases {
                var frequencies: [Int] = []
                for _ in 0..<coding.symbolCount { frequencies.append(try bits.next(input)) }
                tables.append(try Self.table(coding, frequencies))
            }
        }

        /// The transitions of all states; a symbol has as many states as its frequency.
        private static func table(
            _ coding: Coding, _ frequencies: [Int]
        ) throws(LZFSEError) -> [Transition] {
            let stateCount = coding.stateCount
            var table: [Transition] = []
            table.reserveCapacity(stateCount)
            for (symbol, frequency) in frequencies.enumerated() where frequency > 0 {
                guard table.count + frequency <= stateCount else {
                    throw .malformed("the frequencies of a block exceed its states")
                }
                let value = coding.value(of: symbol)
                let shift = frequency.leadingZeroBitCount - stateCount.leadingZeroBitCount
                let split = (2 * stateCount) >> shift - frequency
                for index in 0..<frequency {
                    let isLong = index < split
                    table.append(
                        Transition(
                            bitCount: isLong ? shift : shift - 1,
                            delta: isLong
                                ? (frequency + index) << shift - stateCount
                                : (index - split) << (shift - 1),
                            extraBitCount: value.bitCount, base: value.base))
                }
            }
            return table
        }
    }

    /// The codes of frequencies, from the lowest bit of the first byte on.
    private struct FrequencyBits {
        var position: Int
        let end: Int

        mutating func next(_ input: Span<UInt8>) throws(LZFSEError) -> Int {
            let code = bits(14, input)
            // The codes of 2, 3 and 5 bits by their lowest bits, then longer ones for larger numbers.
            let (count, value): (Int, Int) =
                switch code & 0b11111 {
                case let low where low & 0b11 == 0b00: (2, 0)
                case let low where low & 0b11 == 0b10: (2, 1)
                case let low where low & 0b111 == 0b001: (3, 2)
                case let low where low & 0b111 == 0b101: (3, 3)
                case let low where low & 0b111 == 0b011: (5, 4 + low >> 3)
                case let low where low & 0b1111 == 0b0111: (8, 8 + code >> 4 & 0xF)
                default: (14, 24 + code >> 4 & 0x3FF)
                }
            position += count
            guard position <= end else { throw .malformed("the frequencies of a block end early") }
            return value
        }

        /// The next bits without consuming them; 0 after the end.
        private func bits(_ count: Int, _ input: Span<UInt8>) -> Int {
            var value = 0
            for index in 0..<count {
                let place = position + index
                guard place < end else { break }
                value |= Int(input[place / 8] >> (place % 8) & 1) << index
            }
            return value
        }
    }

    private let byteCount: Int
    private var output: [UInt8] = []

    private init(byteCount: Int) {
        self.byteCount = byteCount
        output.reserveCapacity(byteCount)
    }

    /// Decompresses a range of a file.
    ///
    /// - Parameters:
    ///   - input: the file.
    ///   - range: the compressed bytes.
    ///   - byteCount: the number of bytes of the result, within the limits of the caller.
    /// - Returns: exactly as many bytes.
    /// - Throws: ``LZFSEError``.
    static func decompressed(
        _ input: Span<UInt8>, _ range: Range<Int>, byteCount: Int
    ) throws(LZFSEError) -> [UInt8] {
        var decoder = LZFSE(byteCount: byteCount)
        try decoder.decode(input.extracting(range))
        guard decoder.output.count == byteCount else {
            throw .malformed("\(decoder.output.count) bytes instead of \(byteCount)")
        }
        return decoder.output
    }

    private mutating func decode(_ input: Span<UInt8>) throws(LZFSEError) {
        var offset = 0
        while true {
            guard offset <= input.count - 4 else { throw .malformed("no end of the blocks") }
            let magic = input.text(at: offset, byteCount: 4)
            switch magic {
            case "bvx$": return
            case "bvx-":
                guard offset <= input.count - 8 else { throw .malformed("a block ends early") }
                let count = input.littleEndian(at: offset + 4, byteCount: 4)
                guard count <= input.count - offset - 8, count <= byteCount - output.count else {
                    throw .malformed("a block exceeds the image")
                }
                for index in 0..<count { output.append(input[offset + 8 + index]) }
                offset += 8 + count
            case "bvx2":
                let header = try Header(input, at: offset)
                try decode(header, input)
                offset = header.end
            case "bvxn": throw .unsupported("LZVN blocks in LZFSE (bvxn)")
            default: throw .unsupported("LZFSE blocks “\(magic)”")
            }
        }
    }

    private mutating func decode(
        _ header: Header, _ input: Span<UInt8>
    ) throws(LZFSEError) {
        let blockEnd = output.count + header.rawByteCount
        guard blockEnd <= byteCount else { throw .malformed("a block exceeds the image") }
        var decoder = BlockDecoder(header: header)
        let literals = try decoder.literals(input)
        var used = 0
        var distance = 0
        for _ in 0..<header.matchCount {
            let literalCount = try decoder.next(.lengths, input)
            let matchCount = try decoder.next(.matches, input)
            let newDistance = try decoder.next(.distances, input)
            if newDistance != 0 { distance = newDistance }
            guard literalCount <= literals.count - used,
                literalCount + matchCount <= blockEnd - output.count
            else { throw .malformed("a match exceeds its block") }
            output += literals[used..<used + literalCount]
            used += literalCount
            guard matchCount == 0 || (distance >= 1 && distance <= output.count) else {
                throw .malformed("a match starts before the image")
            }
            for _ in 0..<matchCount { output.append(output[output.count - distance]) }
        }
        guard output.count == blockEnd else { throw .malformed("a block is incomplete") }
    }

    /// The states while a block is decoded.
    private struct BlockDecoder {
        private let tables: [[Transition]]
        private let literalCount: Int
        private var literalBits: BackwardBits
        private var matchBits: BackwardBits
        private var literalStates: [Int]
        private var states: [Int]

        init(header: Header) {
            tables = header.tables
            literalCount = header.literalCount
            literalBits = header.literals
            matchBits = header.matches
            literalStates = header.literalStates
            states = header.states
        }

        /// Decodes the literals, which four states produce in turn.
        mutating func literals(_ input: Span<UInt8>) throws(LZFSEError) -> [UInt8] {
            var literals: [UInt8] = []
            let table = tables[Coding.literals.rawValue]
            for index in 0..<literalCount {
                let value = try Self.step(
                    table, &literalStates[index % 4], &literalBits, input)
                literals.append(UInt8(truncatingIfNeeded: value))
            }
            return literals
        }

        mutating func next(_ coding: Coding, _ input: Span<UInt8>) throws(LZFSEError) -> Int {
            try Self.step(tables[coding.rawValue], &states[coding.rawValue], &matchBits, input)
        }

        private static func step(
            _ table: [Transition], _ state: inout Int, _ bits: inout BackwardBits,
            _ input: Span<UInt8>
        ) throws(LZFSEError) -> Int {
            guard state < table.count else { throw .malformed("an invalid state of a block") }
            let transition = table[state]
            let value = try bits.next(transition.bitCount + transition.extraBitCount, input)
            state = transition.delta + value >> transition.extraBitCount
            return transition.base + value & ((1 << transition.extraBitCount) - 1)
        }
    }
}
