// SPDX-License-Identifier: Apache-2.0

/// A JPEG decoder that follows ITU-T T.81 literally: the reference for tests of faster decoders.
///
/// It supports baseline, extended sequential and progressive files of 8 bits with Huffman coding,
/// keeps every coefficient, and expects valid files.
public struct PlainJPEG: Sendable {
    public private(set) var size: (width: Int, height: Int) = (0, 0)
    /// The components in the order of the frame header.
    public internal(set) var components: [Component] = []
    public private(set) var isProgressive = false
    public private(set) var scanCount = 0
    /// The maximum length in bits of the Huffman codes that occurred in scans.
    public internal(set) var longestCode = 0

    /// The tables by their destination identifiers; each is valid until it is redefined.
    private var quantizationTables: [Int: [Int]] = [:]
    var dcTables: [Int: PlainHuffmanTable] = [:]
    var acTables: [Int: PlainHuffmanTable] = [:]
    /// The restart interval in MCUs; 0 disables restarts.
    var restartInterval = 0
    private let skipsRefinement: Bool

    /// Decodes all scans of a file.
    ///
    /// - Parameters:
    ///   - bytes: the complete file.
    ///   - skipsRefinement: whether to skip refinement scans.
    /// - Throws: ``PlainJPEGError``.
    public init(_ bytes: [UInt8], skipsRefinement: Bool = false) throws {
        self.skipsRefinement = skipsRefinement
        for segment in try JPEGSegment.all(in: bytes) {
            switch segment.marker {
            case JPEGSegment.quantizationTables: try readQuantizationTables(segment.payload)
            case JPEGSegment.huffmanTables: try readHuffmanTables(segment.payload)
            case JPEGSegment.restartInterval:
                try require(segment.payload.count == 2, "restart interval")
                restartInterval = segment.payload.number(at: 0)
            case JPEGSegment.startOfScan:
                try readScan(segment)
                scanCount += 1
            case 0xCC: throw PlainJPEGError.unsupported("arithmetic coding")
            case let marker where JPEGSegment.startsOfFrame.contains(marker):
                try readFrame(segment)
            default: break
            }
        }
        try require(scanCount > 0, "no scan")
        try require(components.allSatisfy { !$0.quantization.isEmpty }, "component without scan")
    }

    var maximumHorizontalSampling: Int { components.map(\.horizontalSampling).max() ?? 1 }
    var maximumVerticalSampling: Int { components.map(\.verticalSampling).max() ?? 1 }
    /// The size in MCUs of an interleaved scan.
    var unitsAcross: Int { size.width.divided(roundedUpBy: 8 * maximumHorizontalSampling) }
    var unitsDown: Int { size.height.divided(roundedUpBy: 8 * maximumVerticalSampling) }

    // MARK: Headers

    /// Parses the frame header (B.2.2).
    private mutating func readFrame(_ segment: JPEGSegment) throws {
        let payload = segment.payload
        guard [0xC0, 0xC1, 0xC2].contains(segment.marker) else {
            throw PlainJPEGError.unsupported("frame of marker \(segment.marker)")
        }
        try require(components.isEmpty, "two frames")
        try require(payload.count >= 6, "frame header")
        guard payload[0] == 8 else { throw PlainJPEGError.unsupported("\(payload[0]) bits") }
        isProgressive = segment.marker == 0xC2
        size = (width: payload.number(at: 3), height: payload.number(at: 1))
        guard size.height > 0 else { throw PlainJPEGError.unsupported("height after the scan") }
        let count = Int(payload[5])
        try require(size.width > 0 && (1...4).contains(count), "frame header")
        try require(payload.count == 6 + 3 * count, "frame header")
        components = (0..<count).map { index in
            let offset = 6 + 3 * index
            return Component(
                identifier: Int(payload[offset]),
                horizontalSampling: Int(payload[offset + 1] >> 4),
                verticalSampling: Int(payload[offset + 1] & 15),
                quantizationTable: Int(payload[offset + 2]))
        }
        for component in components {
            try require((1...4).contains(component.horizontalSampling), "sampling")
            try require((1...4).contains(component.verticalSampling), "sampling")
        }
        let (horizontal, vertical) = (maximumHorizontalSampling, maximumVerticalSampling)
        for index in components.indices {
            components[index].allocate(
                imageSize: size, maximumSampling: (horizontal, vertical),
                units: (unitsAcross, unitsDown))
        }
    }

    /// Parses quantization tables (B.2.4.1).
    private mutating func readQuantizationTables(_ payload: [UInt8]) throws {
        var offset = 0
        while offset < payload.count {
            let isWide = payload[offset] >> 4 == 1
            let number = Int(payload[offset] & 15)
            offset += 1
            let byteCount = isWide ? 128 : 64
            try require(offset + byteCount <= payload.count, "quantization table")
            var table = [Int](repeating: 0, count: 64)
            for k in 0..<64 {
                table[naturalOrder[k]] =
                    isWide ? payload.number(at: offset + 2 * k) : Int(payload[offset + k])
            }
            quantizationTables[number] = table
            offset += byteCount
        }
    }

    /// Parses Huffman tables (B.2.4.2).
    private mutating func readHuffmanTables(_ payload: [UInt8]) throws {
        var offset = 0
        while offset < payload.count {
            try require(offset + 17 <= payload.count, "Huffman table")
            let isAC = payload[offset] >> 4 == 1
            let number = Int(payload[offset] & 15)
            let counts = payload[offset + 1..<offset + 17].map(Int.init)
            offset += 17
            let valueCount = counts.reduce(0, +)
            try require(offset + valueCount <= payload.count, "Huffman table")
            let values = payload[offset..<offset + valueCount].map(Int.init)
            offset += valueCount
            let table = PlainHuffmanTable(counts: counts, values: values)
            if isAC { acTables[number] = table } else { dcTables[number] = table }
        }
    }

    /// Parses a scan header (B.2.3).
    private mutating func readScan(_ segment: JPEGSegment) throws {
        let payload = segment.payload
        try require(!components.isEmpty, "scan before frame")
        let count = payload.first.map(Int.init) ?? 0
        try require((1...4).contains(count) && payload.count == 4 + 2 * count, "scan header")
        var parts: [PlainScan.Part] = []
        for index in 0..<count {
            let identifier = Int(payload[1 + 2 * index])
            let tables = payload[2 + 2 * index]
            guard let component = components.firstIndex(where: { $0.identifier == identifier })
            else { throw PlainJPEGError.damaged("scan of an unknown component") }
            parts.append(
                .init(component: component, dcTable: Int(tables >> 4), acTable: Int(tables & 15)))
            // A component uses the table that is valid at its first scan.
            if components[component].quantization.isEmpty {
                let number = components[component].quantizationTable
                guard let table = quantizationTables[number] else {
                    throw PlainJPEGError.damaged("no quantization table \(number)")
                }
                components[component].quantization = table
            }
        }
        let scan = PlainScan(
            parts: parts,
            first: Int(payload[1 + 2 * count]), last: Int(payload[2 + 2 * count]),
            previousBit: Int(payload[3 + 2 * count] >> 4), bit: Int(payload[3 + 2 * count] & 15))
        try require(scan.first <= scan.last && scan.last < 64, "spectral selection")
        if skipsRefinement, scan.previousBit > 0 { return }
        try decode(scan, segment.codedData)
    }
}

func require(_ condition: Bool, _ what: String) throws {
    guard condition else { throw PlainJPEGError.damaged(what) }
}

/// The index in an 8×8 block, row by row, of each coefficient in zigzag order (figure A.6).
let naturalOrder: [Int] = (0..<15).flatMap { diagonal in
    let places = (max(0, diagonal - 7)...min(7, diagonal)).map { $0 * 8 + diagonal - $0 }
    return diagonal.isMultiple(of: 2) ? places.reversed() : places
}

extension [UInt8] {
    /// Returns the big-endian 16-bit integer at `offset`.
    func number(at offset: Int) -> Int { Int(self[offset]) << 8 + Int(self[offset + 1]) }
}

extension Int {
    func divided(roundedUpBy divisor: Int) -> Int { (self + divisor - 1) / divisor }
}
