// SPDX-License-Identifier: Apache-2.0

#if JPEG

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
    ///   - mcus: MCUs of the scan; if there are none, only those before them are passed.
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
    /// - Returns: the end of the last MCU; `nil` if the data is invalid or contradicts the index.
    func copy(to writer: inout EntropyCodeWriter) -> End? {
        unsafe data.bytes.withUnsafeBufferPointer { bytes in
            unsafe indexed.lookups.withUnsafeBufferPointer { lookups in
                guard let bytes = bytes.baseAddress, let lookups = lookups.baseAddress else {
                    return nil
                }
                var reader = unsafe BlockCopier(
                    cursor: BitCursor(bytes, 0..<data.window.count), lookups: lookups,
                    components: indexed.scan.components)
                reader.cursor.skip(start.bit)
                return copy(&reader, to: &writer)
            }
        }
    }

    private func copy(
        _ reader: inout BlockCopier, to writer: inout EntropyCodeWriter
    ) -> End? {
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
                    reader.cursor.move(to: data.segments[segment].lowerBound * 8)
                else { return nil }
                for component in predictors.indices { predictors[component] = 0 }
            }
            if mcu > first, mcu % index.mcusPerEntry == 0 {
                let entry = index.entry(mcu / index.mcusPerEntry)
                guard entry.bit == reader.cursor.position & 7, entry.predictors == predictors
                else { return nil }
            }
            let isWanted = mcu >= mcus.lowerBound
            for component in order {
                guard let difference = reader.difference(component) else { return nil }
                predictors[component] &+= difference
                if isWanted {
                    let new = Int(predictors[component]) - Int(written[component])
                    guard PlainDCTable.append(new, to: &writer) else { return nil }
                    written[component] = predictors[component]
                    guard reader.copyAC(component, to: &writer) else { return nil }
                } else {
                    guard reader.skipAC(component) else { return nil }
                }
                guard reader.cursor.isInside else { return nil }
            }
        }
        return End(position: reader.cursor.position, predictors: predictors)
    }

    /// The end of an MCU.
    struct End {
        /// The position in bits from the byte at ``MCUCopier/fileOffset``, without stuffed bytes.
        var position: Int
        var predictors: [Int16]
    }

    /// The offset in the file at which the data of the copier begins.
    var fileOffset: Int { start.offset }
}

/// Passes and copies blocks; it must not outlive the data and the tables.
@safe private struct BlockCopier {
    var cursor: BitCursor
    private let lookups: UnsafePointer<UInt16>
    private let components: [JPEGScan.Component]

    @unsafe init(
        cursor: BitCursor, lookups: UnsafePointer<UInt16>, components: [JPEGScan.Component]
    ) {
        self.cursor = cursor
        unsafe self.lookups = unsafe lookups
        self.components = components
    }

    /// Decodes a DC difference (T.81 F.2.2.1); `nil` if the code is invalid.
    @inline(always)
    mutating func difference(_ component: Int) -> Int16? {
        let bits = cursor.peek()
        let (symbol, length) = symbol(bits, component, isAC: false)
        cursor.skip(length &+ symbol)
        let value = BitField.extend(bits &<< UInt64(truncatingIfNeeded: length), symbol)
        return length > 0 ? Int16(truncatingIfNeeded: value) : nil
    }

    /// Passes the AC coefficients of a block (T.81 F.2.2.2); returns whether all codes are valid.
    @inline(always)
    mutating func skipAC(_ component: Int) -> Bool {
        var passed = 1
        while passed < 64 {
            let (symbol, length) = symbol(cursor.peek(), component, isAC: true)
            guard length > 0 else { return false }
            cursor.skip(length &+ (symbol & 15))
            if symbol & 15 == 0, symbol < 0xF0 { break }
            passed &+= symbol &>> 4 &+ 1
        }
        return true
    }

    /// Copies the AC coefficients of a block; returns whether all codes are valid.
    @inline(always)
    mutating func copyAC(_ component: Int, to writer: inout EntropyCodeWriter) -> Bool {
        var position = cursor.position
        guard skipAC(component) else { return false }
        while position < cursor.position {
            let count = min(cursor.position &- position, 48)
            let bits = cursor.peek(after: position &- cursor.position)
            writer.append(bits &>> UInt64(truncatingIfNeeded: 64 &- count), count)
            position &+= count
        }
        return true
    }

    /// Decodes the symbol at the start of bits; the length is 0 if the code is invalid.
    @inline(always)
    private func symbol(
        _ bits: UInt64, _ component: Int, isAC: Bool
    ) -> (symbol: Int, length: Int) {
        let table = (component &* 2 &+ (isAC ? 1 : 0)) &<< HuffmanTable.lookaheadBits
        let entry = unsafe Int(lookups[table &+ BitWindow.index(bits)])
        return _fastPath(entry != 0)
            ? (entry &>> 8, entry & 255) : longSymbol(bits, component, isAC: isAC)
    }

    @inline(never)
    private func longSymbol(
        _ bits: UInt64, _ component: Int, isAC: Bool
    ) -> (symbol: Int, length: Int) {
        let table = isAC ? components[component].acTable : components[component].dcTable
        return table?.decode(Int(bits >> 48)) ?? (0, 0)
    }
}
#endif
