// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Copies consecutive MCUs of a scan, from an index entry at or before the first of them.
struct MCUCopier {
    private let indexed: IndexedScan
    private let index: JPEGIndex
    private let mcus: Range<Int>
    private let start: JPEGIndex.Entry
    private let data: EntropyCodedData
    private let order: [Int]

    /// Locates the data.
    ///
    /// - Parameters:
    ///   - file: the file of the index.
    ///   - indexed: its scan.
    ///   - index: its index.
    ///   - mcus: MCUs of the scan.
    /// - Throws: ``ShrinkingError/notHandled`` if the index contains invalid positions.
    init(
        _ file: Span<UInt8>, _ indexed: IndexedScan, _ index: JPEGIndex, mcus: Range<Int>
    ) throws(ShrinkingError) {
        self.indexed = indexed
        self.index = index
        self.mcus = mcus
        start = index.entry(mcus.lowerBound / index.mcusPerEntry)
        // The byte in which the last MCU may end, and the zero byte that may follow it.
        let next = (mcus.upperBound - 1) / index.mcusPerEntry + 1
        let end =
            next * index.mcusPerEntry < index.mcuCount
            ? min(index.entry(next).offset + 2, index.dataEnd) : index.dataEnd
        guard start.offset >= indexed.scan.dataStart, start.offset < end else {
            throw .notHandled
        }
        data = EntropyCodedData(file.extracting(first: end), from: start.offset)
        order = indexed.order
    }

    /// Copies the MCUs.
    ///
    /// - Returns: whether the data is valid and agrees with the index.
    func copy(to writer: inout EntropyCodeWriter) -> Bool {
        unsafe data.bytes.withUnsafeBufferPointer { bytes in
            guard let bytes = bytes.baseAddress else { return false }
            var cursor = unsafe BitCursor(bytes, 0..<data.window.count)
            cursor.skip(start.bit)
            return copy(&cursor, to: &writer)
        }
    }

    private func copy(_ cursor: inout BitCursor, to writer: inout EntropyCodeWriter) -> Bool {
        var predictors = start.predictors
        // The predictors of the part, 0 at the start of its row.
        var written = predictors.map { _ in Int16(0) }
        var segment = 0
        let interval = indexed.scan.mcusPerSegment(of: indexed.grid.mcuCount)
        let first = mcus.lowerBound / index.mcusPerEntry * index.mcusPerEntry
        for mcu in first..<mcus.upperBound {
            if mcu > first, mcu % interval == 0 {
                segment += 1
                guard segment < data.segments.count,
                    cursor.position <= data.segments[segment].lowerBound * 8
                else { return false }
                cursor.skip(data.segments[segment].lowerBound * 8 - cursor.position)
                for component in predictors.indices { predictors[component] = 0 }
            }
            if mcu > first, mcu % index.mcusPerEntry == 0 {
                let entry = index.entry(mcu / index.mcusPerEntry)
                guard entry.bit == cursor.position & 7, entry.predictors == predictors else {
                    return false
                }
            }
            let isWanted = mcu >= mcus.lowerBound
            for component in order {
                guard let difference = difference(&cursor, component) else { return false }
                predictors[component] &+= difference
                if isWanted {
                    let new = Int(predictors[component]) - Int(written[component])
                    guard PlainDCTable.append(new, to: &writer) else { return false }
                    written[component] = predictors[component]
                }
                guard copyAC(&cursor, component, isWanted, to: &writer), cursor.isInside else {
                    return false
                }
            }
        }
        return true
    }

    /// Decodes a DC difference (T.81 F.2.2.1); `nil` if the code is invalid.
    @inline(always)
    private func difference(_ cursor: inout BitCursor, _ component: Int) -> Int16? {
        let bits = cursor.peek()
        guard let table = indexed.scan.components[component].dcTable,
            let (symbol, length) = table.symbol(bits)
        else { return nil }
        cursor.skip(length + symbol)
        return Int16(
            truncatingIfNeeded: BitField.extend(
                bits &<< UInt64(truncatingIfNeeded: length), symbol))
    }

    /// Passes the AC coefficients of a block (T.81 F.2.2.2).
    ///
    /// - Returns: whether all codes are valid.
    @inline(always)
    private func copyAC(
        _ cursor: inout BitCursor, _ component: Int, _ isWanted: Bool,
        to writer: inout EntropyCodeWriter
    ) -> Bool {
        guard let table = indexed.scan.components[component].acTable else { return false }
        var passed = 1
        while passed < 64 {
            let bits = cursor.peek()
            guard let (symbol, length) = table.symbol(bits) else { return false }
            let count = length + symbol & 15
            cursor.skip(count)
            if isWanted {
                writer.append(
                    bits &>> UInt64(truncatingIfNeeded: 64 - count), count)
            }
            if symbol & 15 == 0, symbol < 0xF0 { break }
            passed += symbol >> 4 + 1
        }
        return true
    }
}

extension HuffmanTable {
    /// Decodes the symbol at the start of bits; `nil` if the code is invalid.
    @inline(always)
    func symbol(_ bits: UInt64) -> (symbol: Int, length: Int)? {
        let entry = Int(lookup[BitWindow.index(bits)])
        return _fastPath(entry != 0) ? (entry >> 8, entry & 255) : decode(Int(bits >> 48))
    }
}
#endif
