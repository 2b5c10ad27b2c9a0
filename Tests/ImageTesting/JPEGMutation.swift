// SPDX-License-Identifier: Apache-2.0

/// Damages JPEG files, at random or at critical positions; deterministic for a seed.
public struct JPEGMutation {
    private var random: SeededRandom

    public init(seed: UInt64) { random = SeededRandom(seed: seed) }

    // MARK: Bytes

    /// Changes, inserts and deletes up to four bytes at random positions.
    public mutating func bytes(of file: [UInt8]) -> [UInt8] {
        var file = file
        for _ in 0..<Int.random(in: 1...4, using: &random) { changeByte(of: &file) }
        return file
    }

    private mutating func changeByte(of bytes: inout [UInt8]) {
        guard let index = bytes.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes[index] = [0, 0xFF, 1, 0x80, 0x7F].randomElement(using: &random) ?? 0
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 4: bytes.insert(contentsOf: [0xFF, 0xD0 + UInt8(random.next() & 7)], at: index)
        default: bytes.remove(at: index)
        }
    }

    // MARK: Segments

    /// Damages the segments of a file in one to three ways.
    ///
    /// - Parameters:
    ///   - file: the file; an incomplete one is only damaged byte by byte.
    ///   - other: a file from which segments are taken.
    /// - Returns: the damaged file.
    public mutating func structure(of file: [UInt8], with other: [UInt8]) -> [UInt8] {
        guard var segments = try? JPEGSegment.all(in: file), !segments.isEmpty else {
            return bytes(of: file)
        }
        let others = (try? JPEGSegment.all(in: other)) ?? []
        var isWhole = true
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            isWhole = change(&segments, others) && isWhole
        }
        for index in segments.indices where segments[index].payload.count > 65_533 {
            segments[index].payload.removeLast(segments[index].payload.count - 65_533)
        }
        var result = JPEGSegment.file(of: segments)
        if !isWhole { changeByte(of: &result) }
        if random.chance(5) { result.removeLast(Int.random(in: 0..<result.count, using: &random)) }
        return result
    }

    /// - Returns: whether the segments were damaged; if not, the caller changes a byte.
    private mutating func change(_ segments: inout [JPEGSegment], _ others: [JPEGSegment]) -> Bool {
        let index = Int.random(in: 0..<segments.count, using: &random)
        switch Int.random(in: 0..<11, using: &random) {
        case 0:
            changeByte(of: &segments[index].payload)
        case 1:
            guard
                let frame = segments.firstIndex(where: {
                    JPEGSegment.startsOfFrame.contains($0.marker)
                })
            else { return false }
            changeFrame(&segments[frame])
        case 2, 3:
            guard let scan = scan(of: segments) else { return false }
            changeByte(of: &segments[scan].codedData)
        case 4:
            guard let scan = scan(of: segments) else { return false }
            changeByte(of: &segments[scan].payload)
        case 5:
            segments.insert(segments[index], at: Int.random(in: 0...segments.count, using: &random))
        case 6:
            if segments.count > 1 { segments.remove(at: index) }
        case 7:
            segments.swapAt(index, Int.random(in: 0..<segments.count, using: &random))
        case 8:
            guard let new = others.randomElement(using: &random) else { return false }
            segments.insert(new, at: Int.random(in: 0...segments.count, using: &random))
        case 9:
            segments.insert(segment(), at: Int.random(in: 0...segments.count, using: &random))
        default:
            // The data of a scan: truncated, repeated, or from another file.
            guard let scan = scan(of: segments) else { return false }
            let data = segments[scan].codedData
            let cut = Int.random(in: 0...data.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: segments[scan].codedData = Array(data[..<cut])
            case 1: segments[scan].codedData = data[..<cut] + data
            default:
                let new = others.filter { !$0.codedData.isEmpty }.randomElement(using: &random)
                segments[scan].codedData = data[..<cut] + (new?.codedData ?? data)
            }
        }
        return true
    }

    private mutating func scan(of segments: [JPEGSegment]) -> Int? {
        segments.indices.filter { segments[$0].marker == JPEGSegment.startOfScan }
            .randomElement(using: &random)
    }

    /// Changes the size, the sampling factors or the SOF marker.
    private mutating func changeFrame(_ frame: inout JPEGSegment) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where frame.payload.count > 4:
            let size = UInt16(
                truncatingIfNeeded: random.chance(80) ? random.next() & 255 : random.next())
            let place = random.chance(50) ? 1 : 3
            frame.payload[place] = UInt8(size >> 8)
            frame.payload[place + 1] = UInt8(size & 255)
        case 1 where frame.payload.count > 7:
            let component = Int.random(in: 0..<(frame.payload.count - 5) / 3, using: &random)
            let factors = (random.next() % 4 + 1) << 4 | (random.next() % 4 + 1)
            frame.payload[7 + component * 3] = UInt8(factors)
        case 2: frame.marker = [0xC0, 0xC1, 0xC2].randomElement(using: &random) ?? 0xC0
        default: changeByte(of: &frame.payload)
        }
    }

    /// Makes a segment that affects others: Adobe, JFIF or a restart interval.
    private mutating func segment() -> JPEGSegment {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return JPEGSegment(
                marker: 0xEE,
                payload: Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, UInt8(random.next() % 3)])
        case 1:
            return JPEGSegment(
                marker: 0xE0, payload: Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
        default:
            return JPEGSegment(
                marker: JPEGSegment.restartInterval,
                payload: [random.chance(90) ? 0 : 1, UInt8(random.next() % 32)])
        }
    }
}
