// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Makes a ``JPEGIndex`` in one pass over the data of a scan.
struct JPEGIndexer {
    let limits: DecodeLimits
    let cancellation: CancellationFlag?
    let releaseInput: (@Sendable (Range<Int>) -> Void)?
    /// The number of bytes that are processed at a time; tests set less.
    var windowByteCount = EntropyCodedData.windowByteCount

    /// Makes the index of a file.
    ///
    /// - Returns: `nil` if the file is damaged or does not consist of one sequential scan.
    func index(of file: Span<UInt8>) throws(CodecError) -> ImageIndex? {
        do throws(ShrinkingError) {
            let scan = try IndexedScan(file)
            var recorder = IndexRecorder(scan)
            let end = try SequentialScan(scan.scan, scan.frame).read(
                file, windowByteCount: min(windowByteCount, file.count),
                memoryByteCount: limits.maximumMemoryByteCount, scan.eighth, cancellation,
                releaseInput, into: &recorder)
            return recorder.builder.index(
                of: file, scan.scan, mcuCount: scan.grid.mcuCount, dataEnd: end)
        } catch {
            guard case .failed(let error) = error else { return nil }
            throw error
        }
    }
}

/// The only scan of a sequential file, with its header.
struct IndexedScan {
    let frame: JPEGFrame
    let scan: JPEGScan
    let grid: JPEGScan.Grid
    /// An image of the DC coefficients.
    let eighth: ShrunkImage
    /// By scan component: ``HuffmanTable/lookup`` of its DC table, then of its AC table.
    let lookups: [UInt16]

    /// Reads the header of a file.
    ///
    /// - Throws: ``ShrinkingError/notHandled`` if the file does not consist of one sequential scan.
    init(_ file: Span<UInt8>) throws(ShrinkingError) {
        var reader = JPEGScanReader()
        guard let scan = try reader.next(file), let frame = reader.frame, !frame.isProgressive,
            scan.components.count == frame.components.count
        else { throw .notHandled }
        self.frame = frame
        self.scan = scan
        grid = scan.grid(frame)
        lookups = scan.components.flatMap {
            ($0.dcTable?.lookup ?? []) + ($0.acTable?.lookup ?? [])
        }
        guard lookups.count == scan.components.count * 2 << HuffmanTable.lookaheadBits else {
            throw .notHandled
        }
        eighth = ShrunkImage(
            frame: frame, colorSpace: reader.colorSpace, isInverted: reader.isInverted,
            blockSides: frame.components.map { _ in 1 },
            quantization: reader.quantization.map { $0 ?? [] })
    }

    /// The size of an MCU in pixels.
    var mcuWidth: Int { scan.components.count == 1 ? 8 : frame.maximumHorizontalSampling * 8 }
    var mcuHeight: Int { scan.components.count == 1 ? 8 : frame.maximumVerticalSampling * 8 }

    /// The scan component of each block of an MCU.
    var order: [Int] {
        grid.blocks.enumerated().flatMap { component, blocks in
            Array(repeating: component, count: blocks.across * blocks.down)
        }
    }
}

/// Collects the entries of an index while a scan is read.
private struct IndexRecorder: ComponentSink {
    private(set) var builder: JPEGIndex.Builder
    private var offset: StuffedOffset
    private let mcusAcross: Int
    /// The next MCU in the scan.
    private var mcu = 0

    init(_ scan: IndexedScan) {
        builder = JPEGIndex.Builder(blocksPerMCU: scan.order.count)
        offset = StuffedOffset(from: scan.scan.dataStart)
        mcusAcross = scan.grid.mcusAcross
    }

    static var locatesMCUs: Bool { true }

    mutating func locate(
        _ reader: LowFrequencyReader, _ coefficients: [Int16], _ file: Span<UInt8>
    ) {
        let first = (mcu + builder.mcusPerEntry - 1) / builder.mcusPerEntry * builder.mcusPerEntry
        for next in stride(from: first, to: mcu + mcusAcross, by: builder.mcusPerEntry) {
            let position = reader.position(ofMCU: next - mcu)
            builder.append(
                JPEGIndex.Entry(
                    offset: offset.advance(to: position / 8, file), bit: position & 7,
                    predictors: reader.predictors(beforeMCU: next - mcu, coefficients)))
        }
        mcu += mcusAcross
    }

    func blockSides(_ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace) -> [Int]? { nil }
    func begin(_ image: ShrunkImage) {}
    func append(_ row: Span<UInt8>, component: Int) {}
}
#endif
