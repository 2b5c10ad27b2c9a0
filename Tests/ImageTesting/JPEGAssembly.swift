// SPDX-License-Identifier: Apache-2.0

/// Puts grey JPEG files together to one file of several components, a scan of theirs at a time.
///
/// So there are files that no tool at hand writes: of any sampling factors, of two or four
/// components, with tables that are defined anew between scans.
struct JPEGAssembly {
    var width: Int
    var height: Int
    var sampling: [(h: Int, v: Int)]
    /// Whether all components name the same quantisation table, which is defined anew before the
    /// first scan of each.
    var sharesQuantizationTable: Bool
    var seed: UInt64

    var text: String {
        "\(width)x\(height) " + sampling.map { "\($0.h)x\($0.v)" }.joined(separator: ",")
            + (sharesQuantizationTable ? ", one quantisation table" : "")
    }

    private struct Scan {
        var tables: [JPEGSegment]
        var restartInterval: [UInt8]
        var start: JPEGSegment
    }

    func file(of parts: [[UInt8]]) throws -> [UInt8] {
        var random = SeededRandom(seed: seed)
        let files = try parts.map(JPEGSegment.all)
        let frames = files.compactMap { file in
            file.first { JPEGSegment.startsOfFrame.contains($0.marker) }
        }
        try require(frames.count == parts.count, "a part without frame")
        let isProgressive = frames[0].marker == 0xC2
        let identifiers = identifiers(&random)
        let quantizations = parts.indices.map { sharesQuantizationTable ? 0 : $0 }
        // Baseline files have two tables of a kind, others four.
        let isBaseline = frames.allSatisfy { $0.marker == 0xC0 } && random.chance(50)
        let huffman = parts.map { _ in Int.random(in: 0...(isBaseline ? 1 : 3), using: &random) }

        var header = [8] + twoBytes(height) + twoBytes(width) + [UInt8(parts.count)]
        for (index, factors) in sampling.enumerated() {
            header += [
                identifiers[index], UInt8(factors.h << 4 | factors.v), UInt8(quantizations[index]),
            ]
        }
        let marker: UInt8 = isProgressive ? 0xC2 : isBaseline ? 0xC0 : 0xC1
        var segments = adobe(&random) + [JPEGSegment(marker: marker, payload: header)]

        // Any order that keeps the order within each component.
        var waiting = files.map { scans(of: $0)[...] }
        var order = waiting.indices.flatMap { Array(repeating: $0, count: waiting[$0].count) }
        if random.chance(80) { order.shuffle(using: &random) }
        var started: Set<Int> = []
        var restartInterval: [UInt8] = [0, 0]
        for index in order {
            let scan = waiting[index].removeFirst()
            if started.insert(index).inserted {
                segments += files[index].filter {
                    $0.marker == JPEGSegment.quantizationTables
                }.map { table in
                    var table = table
                    table.payload[0] = table.payload[0] & 0xF0 | UInt8(quantizations[index])
                    return table
                }
            }
            if scan.restartInterval != restartInterval {
                restartInterval = scan.restartInterval
                segments.append(
                    JPEGSegment(marker: JPEGSegment.restartInterval, payload: restartInterval))
            }
            for var table in scan.tables {
                table.payload[0] = table.payload[0] & 0xF0 | UInt8(huffman[index])
                segments.append(table)
            }
            var start = scan.start
            start.payload[1] = identifiers[index]
            start.payload[2] = UInt8(huffman[index] << 4 | huffman[index])
            segments.append(start)
        }
        return JPEGSegment.file(of: segments)
    }

    /// The scans of a grey file that cjpeg wrote: each table of its own in a segment, before the
    /// scan that uses it.
    private func scans(of file: [JPEGSegment]) -> [Scan] {
        var scans: [Scan] = []
        var tables: [JPEGSegment] = []
        var restartInterval: [UInt8] = [0, 0]
        for segment in file {
            switch segment.marker {
            case JPEGSegment.huffmanTables: tables.append(segment)
            case JPEGSegment.restartInterval: restartInterval = segment.payload
            case JPEGSegment.startOfScan:
                scans.append(
                    Scan(tables: tables, restartInterval: restartInterval, start: segment))
                tables = []
            default: break
            }
        }
        return scans
    }

    private func identifiers(_ random: inout SeededRandom) -> [UInt8] {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return [0, 1, 2, 3]
        case 1: return Array("RGBA".utf8)
        case 2: return [200, 7, 3, 90]
        default: return [1, 2, 3, 4]
        }
    }

    /// The marker that distinguishes RGB or CMYK components from luma and chroma.
    private func adobe(_ random: inout SeededRandom) -> [JPEGSegment] {
        guard sampling.count > 2, random.chance(60) else { return [] }
        let transform: UInt8 = random.chance(50) ? 0 : sampling.count == 3 ? 1 : 2
        let payload = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform]
        return [JPEGSegment(marker: 0xEE, payload: payload)]
    }
}

/// Puts into a file what may stand between its segments.
struct JPEGDecoration {
    var seed: UInt64

    func applied(to file: [UInt8]) throws -> [UInt8] {
        var random = SeededRandom(seed: seed)
        var segments: [JPEGSegment] = []
        for segment in try JPEGSegment.all(in: file) {
            let isTable = [JPEGSegment.huffmanTables, JPEGSegment.quantizationTables]
                .contains(segment.marker)
            if isTable, segments.last?.marker == segment.marker, random.chance(40) {
                segments[segments.count - 1].payload += segment.payload
                continue
            }
            if !segments.isEmpty, random.chance(20) { segments.append(comment(&random)) }
            var segment = segment
            segment.codedData = filled(segment.codedData, &random)
            segments.append(segment)
        }
        return JPEGSegment.file(of: segments) { random.chance(25) ? 1 + Int(random.next() % 3) : 0 }
    }

    /// A comment or application segment that resembles the start of a file.
    private func comment(_ random: inout SeededRandom) -> JPEGSegment {
        let noise = (0..<Int.random(in: 0...20, using: &random)).map { _ in
            UInt8(truncatingIfNeeded: random.next())
        }
        return JPEGSegment(
            marker: random.chance(50) ? JPEGSegment.comment : 0xE9,
            payload: noise + [0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 0xFF, 0xDA, 0xFF])
    }

    /// With fill bytes before some of the restart markers.
    private func filled(_ codedData: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var filled: [UInt8] = []
        filled.reserveCapacity(codedData.count)
        for (index, byte) in codedData.enumerated() {
            if byte == 0xFF, index + 1 < codedData.count,
                JPEGSegment.restartMarkers.contains(codedData[index + 1]), random.chance(30)
            {
                filled += [0xFF, 0xFF]
            }
            filled.append(byte)
        }
        return filled
    }
}

extension JPEGSegment {
    /// A complete file.
    ///
    /// - Parameters:
    ///   - segments: All between the start and the end of the image.
    ///   - fillCount: Called before each marker but the first: how many fill bytes to put there.
    /// - Returns: The bytes of the file.
    static func file(of segments: [JPEGSegment], fillCount: () -> Int = { 0 }) -> [UInt8] {
        var file: [UInt8] = [0xFF, startOfImage]
        for segment in segments {
            file += Array(repeating: 0xFF, count: fillCount())
            file += [0xFF, segment.marker] + twoBytes(segment.payload.count + 2)
            file += segment.payload + segment.codedData
        }
        file += Array(repeating: 0xFF, count: fillCount())
        return file + [0xFF, endOfImage]
    }
}

/// The more significant byte first.
func twoBytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
