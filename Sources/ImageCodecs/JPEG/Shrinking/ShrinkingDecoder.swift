// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// The image that a ``ShrinkingDecoder`` delivers.
struct ShrunkImage {
    var frame: JPEGFrame
    var colorSpace: JPEGScanReader.ColorSpace
    /// Whether CMYK samples are stored inverted, as Adobe programs do.
    var isInverted: Bool
    /// By component: the side *n* of the *n* × *n* samples to which a block is decoded.
    var blockSides: [Int]
    /// By component: the quantization table in zigzag order.
    var quantization: [[UInt16]]

    /// Returns the size in samples at which a component is delivered.
    func size(of component: Int) -> PixelSize {
        frame.size(of: component, blockSide: blockSides[component])
    }

    /// The total number of samples of all components.
    var sampleCount: Int { blockSides.indices.reduce(0) { $0 + size(of: $1).area } }
}

/// Consumes the rows of the components of an image, each component's from top to bottom.
protocol ComponentSink: ~Copyable {
    /// Chooses the reduction; called first.
    ///
    /// - Returns: for each component the side *n* of the *n* × *n* samples to which a block is
    ///   decoded: 1, 2, 4 or 8; `nil` if the image is needed at full size.
    mutating func blockSides(
        _ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace
    ) throws(CodecError) -> [Int]?
    /// Called once, before the first row.
    mutating func begin(_ image: ShrunkImage) throws(CodecError)
    /// Returns the rows of a component whose samples matter; called after ``begin(_:)``.
    mutating func usedRows(of component: Int) -> Range<Int>
    /// Whether ``locate(_:_:_:)`` is called.
    static var locatesMCUs: Bool { get }
    /// Called for each row of MCUs of a sequential scan, with the reader that has located it.
    mutating func locate(
        _ reader: LowFrequencyReader, _ coefficients: [Int16], _ file: Span<UInt8>)
    /// Consumes the next row of a component.
    mutating func append(_ row: Span<UInt8>, component: Int) throws(CodecError)
}

extension ComponentSink where Self: ~Copyable {
    mutating func usedRows(of component: Int) -> Range<Int> { 0..<Int.max }

    static var locatesMCUs: Bool { false }

    mutating func locate(
        _ reader: LowFrequencyReader, _ coefficients: [Int16], _ file: Span<UInt8>
    ) {}
}

/// Decodes only those coefficients of each block that a smaller image shows.
///
/// A file that is damaged or not supported is left to libjpeg-turbo, which decodes it from the
/// beginning; the consumer then discards the rows that it has received.
struct ShrinkingDecoder {
    let limits: DecodeLimits
    let cancellation: CancellationFlag?
    /// Releases the memory of a range of the file that has been read.
    var releaseInput: (@Sendable (Range<Int>) -> Void)?
    /// Whether the refinement scans of a progressive image are skipped.
    var isDraft = false
    /// The number of bytes of a sequential scan that are processed at a time; tests set less.
    var windowByteCount = EntropyCodedData.windowByteCount
    /// The minimum number of blocks for which a ``BandTable`` is built; tests set fewer.
    var minimumBlocksForTable = BandTable.minimumBlockCount

    /// Decodes an image into `sink`.
    ///
    /// - Throws: ``ShrinkingError/notHandled`` if libjpeg-turbo has to decode the file.
    func decode(
        _ file: Span<UInt8>, into sink: inout some ComponentSink & ~Copyable
    ) throws(ShrinkingError) {
        var scanReader = JPEGScanReader()
        guard let first = try scanReader.next(file), let frame = scanReader.frame else {
            throw .notHandled
        }
        // As in libjpeg-turbo, the colour space is determined before the first scan; later
        // markers do not change it.
        guard let sides = try blockSides(frame, scanReader.colorSpace, &sink) else {
            throw .notHandled
        }
        var image = ShrunkImage(
            frame: frame, colorSpace: scanReader.colorSpace, isInverted: scanReader.isInverted,
            blockSides: sides, quantization: [])
        if frame.isProgressive {
            try decodeProgressive(first, &image, &scanReader, file, into: &sink)
        } else {
            try decodeSequential(first, &image, &scanReader, file, into: &sink)
        }
    }

    private func checkCancellation() throws(ShrinkingError) {
        if cancellation?.isCancelled == true { throw .failed(.cancelled) }
    }

    private func check(_ name: DecodeLimits.Name, _ needed: Int) throws(ShrinkingError) {
        try ShrinkingError.wrap { () throws(CodecError) in try limits.check(name, needed) }
    }

    private func blockSides(
        _ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace,
        _ sink: inout some ComponentSink & ~Copyable
    ) throws(ShrinkingError) -> [Int]? {
        try ShrinkingError.wrap { () throws(CodecError) in try sink.blockSides(frame, space) }
    }

    private func begin(
        _ image: ShrunkImage, _ sink: inout some ComponentSink & ~Copyable
    ) throws(ShrinkingError) {
        try ShrinkingError.wrap { () throws(CodecError) in try sink.begin(image) }
    }

    // MARK: Sequential

    private func decodeSequential(
        _ first: JPEGScan, _ image: inout ShrunkImage, _ scanReader: inout JPEGScanReader,
        _ file: Span<UInt8>, into sink: inout some ComponentSink & ~Copyable
    ) throws(ShrinkingError) {
        let frame = image.frame
        // Components with scans of their own are buffered as a whole.
        let isInterleaved = first.components.count == frame.components.count
        let left = limits.maximumMemoryByteCount - (isInterleaved ? 0 : image.sampleCount)
        let window = min(windowByteCount, file.count)
        guard window * SequentialScan.byteCountPerByte <= left else { throw .notHandled }
        try begin(image, &sink)
        var next: JPEGScan? = first
        var missing = Set(frame.components.indices)
        while let scan = next {
            for component in scan.components where missing.remove(component.frameIndex) == nil {
                throw .notHandled
            }
            image.quantization = scanReader.quantization.map { $0 ?? [] }
            let end = try SequentialScan(scan, frame).read(
                file, windowByteCount: window, memoryByteCount: left, image, cancellation,
                releaseInput, into: &sink)
            scanReader.skip(to: end)
            // Data after the last scan is ignored.
            next = missing.isEmpty ? nil : try scanReader.next(file)
        }
        guard missing.isEmpty else { throw .notHandled }
    }

    // MARK: Progressive

    /// Decodes the scans with coefficients that are kept, and skips the others.
    private func decodeProgressive(
        _ first: JPEGScan, _ image: inout ShrunkImage, _ scanReader: inout JPEGScanReader,
        _ file: Span<UInt8>, into sink: inout some ComponentSink & ~Copyable
    ) throws(ShrinkingError) {
        let frame = image.frame
        try check(
            .memoryByteCount,
            ProgressiveImage.byteCount(frame, blockSides: image.blockSides))
        var coefficients = ProgressiveImage(frame, blockSides: image.blockSides)
        var next: JPEGScan? = first
        var count = 0
        while let scan = next {
            count += 1
            try check(.scanCount, count)
            try checkCancellation()
            guard coefficients.record(scan) else { throw .notHandled }
            let end: Int
            if contributes(scan, coefficients) {
                let data = EntropyCodedData(file, from: scan.dataStart, releaseInput)
                end = data.end
                try ProgressiveScan(scan, frame, data).read(
                    into: &coefficients, minimumBlocksForTable: minimumBlocksForTable)
            } else {
                end = EntropyCodedData.end(file, from: scan.dataStart, releaseInput)
            }
            scanReader.skip(to: end)
            releaseInput?(scan.dataStart..<end)
            next = coefficients.isComplete(asDraft: isDraft) ? nil : try scanReader.next(file)
        }
        guard coefficients.hasEveryFirstCoefficient else { throw .notHandled }
        image.quantization = scanReader.quantization.map { $0 ?? [] }
        try begin(image, &sink)
        try ShrinkingError.wrap { () throws(CodecError) in
            try coefficients.deliver(image, cancellation, into: &sink)
        }
    }

    private func contributes(_ scan: JPEGScan, _ coefficients: ProgressiveImage) -> Bool {
        guard !isDraft || scan.highBit == 0 else { return false }
        guard scan.spectralSelection.lowerBound > 0 else { return true }
        let component = coefficients.components[scan.components[0].frameIndex]
        guard component.blockSide > 1 else { return false }
        return !isDraft || component.keeps(any: scan.spectralSelection)
    }
}
#endif
