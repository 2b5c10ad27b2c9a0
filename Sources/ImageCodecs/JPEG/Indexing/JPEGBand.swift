// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import Pixels

/// Makes a JPEG file of complete rows of MCUs, whose data is that of the original, byte by byte.
///
/// The rows are preceded by a row of grey MCUs that leaves the DC predictors of the original and ends
/// at the same bit of a byte. Its pixels, in the place of the row before, are not needed.
extension JPEGPart {
    /// Makes the file.
    ///
    /// - Precondition: the file has no restart markers, which would be at the wrong MCUs.
    /// - Parameters:
    ///   - rows: rows of MCUs; the first is 0 or at least 2.
    ///   - file: the whole file.
    /// - Returns: the bytes of a whole file, and the pixels of the image that it contains.
    /// - Throws: ``ShrinkingError/notHandled`` if the data is damaged, or if its Huffman tables lack
    ///   the codes for the first row.
    func band(
        _ rows: Range<Int>, _ file: Span<UInt8>
    ) throws(ShrinkingError) -> (file: [UInt8], pixels: PixelRect) {
        let isFirst = rows.lowerBound == 0
        let columns = 0..<indexed.grid.mcusAcross
        let top = isFirst ? 0 : rows.lowerBound - 1
        let pixels = pixels(of: MCURange(columns: columns, rows: top..<rows.upperBound))
        let header = try header(pixels.size, file, restartInterval: nil)
        let end = try start(ofRow: rows.upperBound, file)
        guard !isFirst else {
            return (header + end.bytes(file, from: indexed.scan.dataStart), pixels)
        }
        let start = try start(ofRow: rows.lowerBound, file)
        var writer = EntropyCodeWriter(after: header)
        guard LeadingRow(indexed).append(start.predictors, bit: start.bit, to: &writer) else {
            throw .notHandled
        }
        guard start.offset < end.offset else { throw .notHandled }
        var offset = start.offset
        if start.bit > 0 {
            let byte = file[offset]
            writer.append(UInt64(byte) & (1 << UInt64(8 - start.bit) - 1), 8 - start.bit)
            // The zero byte after 0xFF is no longer needed, or has been written.
            offset += byte == 0xFF ? 2 : 1
        }
        return (writer.bytes + end.bytes(file, from: min(offset, end.offset)), pixels)
    }

    /// The start of a row of MCUs in the file.
    private struct RowStart {
        var offset: Int
        var bit: Int
        var predictors: [Int16]

        /// Returns the data from an offset to this row, with the byte in which the row begins.
        func bytes(_ file: Span<UInt8>, from start: Int) -> [UInt8] {
            var end = offset
            if bit > 0 { end += file[offset] == 0xFF ? 2 : 1 }
            return unsafe file.extracting(start..<max(start, min(end, file.count)))
                .withUnsafeBufferPointer { unsafe Array($0) } + [0xFF, JPEGSegments.endOfImage]
        }
    }

    private func start(ofRow row: Int, _ file: Span<UInt8>) throws(ShrinkingError) -> RowStart {
        guard row < indexed.grid.mcusDown else {
            return RowStart(offset: index.dataEnd, bit: 0, predictors: [])
        }
        let mcu = row * indexed.grid.mcusAcross
        let copier = try MCUCopier(file, indexed, index, mcus: mcu..<mcu)
        var nothing = EntropyCodeWriter(after: [])
        guard let end = copier.copy(to: &nothing) else { throw .notHandled }
        var offset = StuffedOffset(from: copier.fileOffset)
        let start = offset.advance(to: end.position / 8, file)
        guard start < index.dataEnd else { throw .notHandled }
        return RowStart(offset: start, bit: end.position & 7, predictors: end.predictors)
    }
}

/// Writes a row of MCUs with given DC predictors at its end.
private struct LeadingRow {
    private let components: [JPEGScan.Component]
    private let order: [Int]
    private let mcusAcross: Int

    init(_ indexed: IndexedScan) {
        components = indexed.scan.components
        order = indexed.order
        mcusAcross = indexed.grid.mcusAcross
    }

    /// A Huffman code.
    private typealias Code = (bits: UInt64, count: Int)

    /// Appends the row.
    ///
    /// - Parameters:
    ///   - predictors: the predictors at its end.
    ///   - bit: the number of bits in its last byte, 0 to 7.
    ///   - writer: receives the bits, from a byte boundary.
    /// - Returns: whether the tables contain the necessary codes.
    func append(
        _ predictors: [Int16], bit: Int, to writer: inout EntropyCodeWriter
    ) -> Bool {
        var differences: [[Int]] = []
        var (ends, zeros): ([Code], [Code]) = ([], [])
        for (component, predictor) in zip(components, predictors) {
            guard let dc = component.dcTable, let zero = dc.code(of: 0),
                let end = component.acTable?.code(of: 0),
                let steps = Self.differences(to: Int(predictor), dc)
            else { return false }
            differences.append(steps)
            ends.append(end)
            zeros.append(zero)
        }
        var bitCount = 0
        var row: [(dc: Code, component: Int)] = []
        for _ in 0..<mcusAcross {
            for component in order {
                var code = zeros[component]
                if let difference = differences[component].popLast() {
                    guard let other = components[component].dcTable?.code(ofDifference: difference)
                    else { return false }
                    code = other
                }
                row.append((code, component))
                bitCount += code.count + ends[component].count
            }
        }
        guard differences.allSatisfy(\.isEmpty),
            let padding = padding((bit - bitCount) & 7, components[order[0]])
        else { return false }
        for (index, block) in row.enumerated() {
            writer.append(block.dc.bits, block.dc.count)
            if index == 0 { for code in padding { writer.append(code.bits, code.count) } }
            writer.append(ends[block.component].bits, ends[block.component].count)
        }
        return true
    }

    /// Returns differences with a code whose sum is `sum`.
    private static func differences(to sum: Int, _ table: HuffmanTable) -> [Int]? {
        let categories = (1...PlainDCTable.maximumCategory).filter {
            table.code(of: $0) != nil
        }
        var (result, left): ([Int], Int) = ([], abs(sum))
        while left > 0 {
            guard let category = categories.last(where: { 1 << ($0 - 1) <= left }),
                result.count < 64
            else { return nil }
            let step = min(left, 1 << category - 1)
            result.append(sum < 0 ? -step : step)
            left -= step
        }
        return result
    }

    /// Returns codes of AC coefficients whose length is `remainder` modulo 8; at most 7.
    private func padding(_ remainder: Int, _ component: JPEGScan.Component) -> [Code]? {
        let codes = (1...10).compactMap { category -> Code? in
            guard let code = component.acTable?.code(of: category) else { return nil }
            // The value is not needed.
            return (code.bits << UInt64(category), code.count + category)
        }
        var found: [Int: [Code]] = [0: []]
        for _ in 0..<7 where found[remainder] == nil {
            for (length, sequence) in found {
                for code in codes where found[(length + code.count) & 7] == nil {
                    found[(length + code.count) & 7] = sequence + [code]
                }
            }
        }
        return found[remainder]
    }
}

extension HuffmanTable {
    /// Returns the code of a symbol; `nil` if it has none of at most ``lookaheadBits``.
    func code(of symbol: Int) -> (bits: UInt64, count: Int)? {
        guard let index = lookup.firstIndex(where: { $0 > 0 && Int($0 >> 8) == symbol }) else {
            return nil
        }
        let count = Int(lookup[index] & 255)
        return (UInt64(index >> (Self.lookaheadBits - count)), count)
    }

    /// Returns the code of a DC difference with its additional bits (T.81 F.1.2.1).
    func code(ofDifference difference: Int) -> (bits: UInt64, count: Int)? {
        let category = Int.bitWidth - abs(difference).leadingZeroBitCount
        guard let code = code(of: category) else { return nil }
        // Negative values are one less in their low bits.
        let value = difference < 0 ? difference - 1 : difference
        let bits = UInt64(value & (1 << category - 1))
        return (code.bits << UInt64(category) | bits, code.count + category)
    }
}
#endif
