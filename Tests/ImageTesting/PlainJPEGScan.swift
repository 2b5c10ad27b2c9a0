// SPDX-License-Identifier: Apache-2.0

/// The parameters of a scan header (B.2.3).
struct PlainScan {
    struct Part {
        /// The index of the component in the frame.
        var component: Int
        var dcTable: Int
        var acTable: Int
    }

    var parts: [Part]
    /// The spectral selection in zigzag order: Ss and Se.
    var first: Int
    var last: Int
    /// The bit positions of successive approximation: Ah and Al.
    var previousBit: Int
    var bit: Int
}

extension PlainJPEG {
    /// Decodes the data of one scan into the coefficients of its components.
    mutating func decode(_ scan: PlainScan, _ codedData: [UInt8]) throws {
        var intervals = try Self.intervals(of: codedData)[...]
        var decoder = PlainEntropyDecoder(intervals.removeFirst())
        let isInterleaved = scan.parts.count > 1
        // A non-interleaved scan contains only the blocks that cover the samples (A.2.2); an
        // interleaved scan contains complete MCUs (A.2.3).
        let single = components[scan.parts[0].component]
        let across = isInterleaved ? unitsAcross : single.blocksAcross
        let down = isInterleaved ? unitsDown : single.blocksDown
        for unit in 0..<across * down {
            if restartInterval > 0, unit > 0, unit.isMultiple(of: restartInterval) {
                try require(!intervals.isEmpty, "a restart is missing")
                longestCode = max(longestCode, decoder.longestCode)
                decoder = PlainEntropyDecoder(intervals.removeFirst())
            }
            let (unitX, unitY) = (unit % across, unit / across)
            for part in scan.parts {
                let h = isInterleaved ? components[part.component].horizontalSampling : 1
                let v = isInterleaved ? components[part.component].verticalSampling : 1
                for y in unitY * v..<(unitY + 1) * v {
                    for x in unitX * h..<(unitX + 1) * h {
                        let start = (y * components[part.component].storedAcross + x) * 64
                        var block = Array(components[part.component].storage[start..<start + 64])
                        try decode(&block, part, scan, &decoder)
                        for k in 0..<64 {
                            components[part.component].storage[start + k] = block[k]
                        }
                    }
                }
            }
        }
        try require(intervals.isEmpty, "a restart too many")
        longestCode = max(longestCode, decoder.longestCode)
    }

    /// Splits the data at restart markers and removes stuffed zeros (B.1.1.5).
    private static func intervals(of codedData: [UInt8]) throws -> [[UInt8]] {
        var intervals: [[UInt8]] = []
        var interval: [UInt8] = []
        var offset = 0
        while offset < codedData.count {
            let byte = codedData[offset]
            offset += 1
            guard byte == 0xFF else {
                interval.append(byte)
                continue
            }
            while codedData[offset] == 0xFF { offset += 1 }
            if codedData[offset] == 0 {
                interval.append(0xFF)
            } else {
                try require(
                    Int(codedData[offset]) == 0xD0 + intervals.count % 8, "restarts out of order")
                intervals.append(interval)
                interval = []
            }
            offset += 1
        }
        return intervals + [interval]
    }

    /// Decodes one block; coefficients that are not in the scan are unchanged.
    private func decode(
        _ block: inout [Int32], _ part: PlainScan.Part, _ scan: PlainScan,
        _ decoder: inout PlainEntropyDecoder
    ) throws {
        if scan.first == 0 {
            if scan.previousBit > 0 {
                try decoder.refineDC(&block, bit: scan.bit)
            } else {
                guard let table = dcTables[part.dcTable] else {
                    throw PlainJPEGError.damaged("no DC table \(part.dcTable)")
                }
                try decoder.readDC(&block, of: part.component, table, bit: scan.bit)
            }
        }
        guard scan.last > 0 else { return }
        guard let table = acTables[part.acTable] else {
            throw PlainJPEGError.damaged("no AC table \(part.acTable)")
        }
        if !isProgressive {
            try decoder.readAC(&block, table)
        } else if scan.previousBit == 0 {
            try decoder.readACBand(&block, table, scan)
        } else {
            try decoder.refineACBand(&block, table, scan)
        }
    }
}
