// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// The content of an index of a sequential scan: where every *n*-th MCU begins, and the DC predictors
/// there (T.81 F.1.1.5.1), which is all that a Huffman decoder carries from one MCU to the next.
///
/// All integers are unsigned and little-endian:
///
/// | bytes | |
/// |---|---|
/// | 1 | ``version`` |
/// | 1 | the number of components of the scan |
/// | 2 | ``mcusPerEntry`` |
/// | 4 | ``mcuCount`` |
/// | 8 | ``dataEnd`` |
/// | 8 | the identity of the file, see ``identity(of:dataStart:dataEnd:)`` |
/// | entries | 5 for the position in bits from the start of the file, then 2 for each predictor |
struct JPEGIndex {
    /// An MCU from which decoding can start.
    struct Entry: Equatable {
        /// The offset in the file of the byte in which the MCU begins, and the bit in it from its top.
        var offset: Int
        var bit: Int
        /// By scan component, the DC predictor.
        var predictors: [Int16]
    }

    /// The number of MCUs from one entry to the next.
    let mcusPerEntry: Int
    /// The number of MCUs in the scan.
    let mcuCount: Int
    /// The offset in the file at which the data of the scan ends.
    let dataEnd: Int
    private let identity: [UInt8]
    private let componentCount: Int
    private let index: ImageIndex

    private static let version = 1
    private static let headerByteCount = 24
    private static let positionByteCount = 5

    /// Reads the header of an index; the result is `nil` if it is not that of a JPEG file.
    init?(_ index: ImageIndex) {
        let header = index.withContent { content -> JPEGIndex? in
            guard content.count >= Self.headerByteCount, content[0] == Self.version else {
                return nil
            }
            return JPEGIndex(index, content)
        }
        guard let header else { return nil }
        self = header
    }

    private init?(_ index: ImageIndex, _ content: Span<UInt8>) {
        componentCount = Int(content[1])
        mcusPerEntry = content.littleEndian(at: 2, byteCount: 2)
        mcuCount = content.littleEndian(at: 4, byteCount: 4)
        dataEnd = content.littleEndian(at: 8, byteCount: 8)
        identity = (16..<Self.headerByteCount).map { content[$0] }
        self.index = index
        guard (1...4).contains(componentCount), mcusPerEntry > 0, mcuCount > 0, dataEnd > 0
        else { return nil }
        let count = (mcuCount + mcusPerEntry - 1) / mcusPerEntry
        guard content.count == Self.headerByteCount + count * entryByteCount else { return nil }
    }

    private var entryByteCount: Int { Self.positionByteCount + 2 * componentCount }

    /// Returns whether this is the index of a scan of a file.
    func belongs(to file: Span<UInt8>, _ scan: JPEGScan, mcuCount: Int) -> Bool {
        self.mcuCount == mcuCount && componentCount == scan.components.count
            && scan.dataStart < dataEnd && dataEnd <= file.count
            && identity == Self.identity(of: file, dataStart: scan.dataStart, dataEnd: dataEnd)
    }

    /// Returns an entry, whose values are not checked, by its number from 0.
    ///
    /// The number of the entry at or before MCU *m* is *m* / ``mcusPerEntry``.
    func entry(_ number: Int) -> Entry {
        index.withContent { content in
            let start = Self.headerByteCount + number * entryByteCount
            let position = content.littleEndian(at: start, byteCount: Self.positionByteCount)
            let predictors = (0..<componentCount).map { component in
                Int16(
                    truncatingIfNeeded: content.littleEndian(
                        at: start + Self.positionByteCount + component * 2, byteCount: 2))
            }
            return Entry(offset: position / 8, bit: position & 7, predictors: predictors)
        }
    }

    /// Returns a checksum of the length of the file, of all before the data, and of samples of the
    /// data.
    ///
    /// A whole checksum would need as long as the index saves.
    private static func identity(
        of file: Span<UInt8>, dataStart: Int, dataEnd: Int
    ) -> [UInt8] {
        var parts = ImageIndex.checksum(file.extracting(first: dataStart))
        parts.append(file.count, byteCount: 8)
        let (sampleCount, sampleByteCount) = (16, 64)
        let step = (dataEnd - dataStart) / sampleCount
        for number in 0..<sampleCount {
            let start = dataStart + number * step
            let end = min(start + sampleByteCount, dataEnd)
            parts += ImageIndex.checksum(file.extracting(start..<end))
        }
        parts += ImageIndex.checksum(
            file.extracting(max(dataStart, dataEnd - sampleByteCount)..<dataEnd))
        return ImageIndex.checksum(parts.span)
    }

    /// Collects entries in the order of the scan.
    struct Builder {
        let mcusPerEntry: Int
        private(set) var entries: [UInt8] = []

        /// The number of blocks that are passed at most to reach the first one needed; with it, an
        /// index takes 0.7 bytes per 1000 pixels of a photograph with 4:2:0 chroma.
        private static let blocksPerEntry = 384

        init(blocksPerMCU: Int) { mcusPerEntry = max(1, Self.blocksPerEntry / blocksPerMCU) }

        mutating func append(_ entry: Entry) {
            entries.append(
                entry.offset * 8 + entry.bit, byteCount: JPEGIndex.positionByteCount,
                .littleEndian)
            for predictor in entry.predictors {
                entries.append(Int(predictor), byteCount: 2, .littleEndian)
            }
        }

        /// Returns the index of a scan.
        func index(
            of file: Span<UInt8>, _ scan: JPEGScan, mcuCount: Int, dataEnd: Int
        ) -> ImageIndex {
            var content = [UInt8(JPEGIndex.version), UInt8(scan.components.count)]
            content.append(mcusPerEntry, byteCount: 2, .littleEndian)
            content.append(mcuCount, byteCount: 4, .littleEndian)
            content.append(dataEnd, byteCount: 8, .littleEndian)
            content += JPEGIndex.identity(of: file, dataStart: scan.dataStart, dataEnd: dataEnd)
            return ImageIndex(content: content + entries)
        }
    }
}
#endif
