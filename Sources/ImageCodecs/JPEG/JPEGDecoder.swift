// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// Decodes reduced images with ``ShrinkingDecoder``, and what that does not handle with
/// libjpeg-turbo.
struct JPEGDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        var reader = JPEGHeaderReader(limits: limits)
        return try reader.read(bytes)
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        try JPEGMetadata.read(bytes, limits)
    }

    func gainMap(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> GainMap? {
        JPEGGainMapReader.read(bytes, limits)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header = try header(of: bytes, limits: rows.limits)
        if let index = rows.index, try decodePart(bytes, index, header, into: &rows) { return }
        if try decodeShrunk(bytes, header, into: &rows) { return }
        // libjpeg-turbo processes all coefficients once for each scan, so scans are counted
        // first.
        let scans = JPEGSegments.scans(bytes, limit: rows.limits.maximumScanCount)
        try rows.limits.check(.scanCount, scans.count)
        // libjpeg would read what it inserts at the end as the rest of a truncated segment.
        let available = scans.count > 0 ? bytes.extracting(first: scans.end) : bytes
        try unsafe available.withUnsafeBufferPointer { buffer throws(CodecError) in
            let reader = try unsafe JPEGReader(
                buffer, fileByteCount: bytes.count,
                maximumScanCount: rows.limits.maximumScanCount)
            try decode(reader, header, into: &rows)
        }
    }

    func sharesPlanes(_ plan: DecodePlan, _ other: DecodePlan) -> Bool {
        ShrinkChoice(plan).isSame(as: ShrinkChoice(other))
    }

    func makeIndex(
        of bytes: Span<UInt8>, limits: DecodeLimits, cancellation: CancellationFlag?,
        releaseInput: (@Sendable (Range<Int>) -> Void)?
    ) throws(CodecError) -> ImageIndex? {
        try JPEGIndexer(limits: limits, cancellation: cancellation, releaseInput: releaseInput)
            .index(of: bytes)
    }

    func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? {
        try JPEGIncrementalDecoder(limits: limits)
    }

    /// Decodes a part of the image at full size, with an index of the file.
    ///
    /// - Returns: whether the part was decoded; if not, `rows` are in their initial state.
    private func decodePart(
        _ bytes: Span<UInt8>, _ index: ImageIndex, _ header: ImageHeader, into rows: inout RowSink
    ) throws(CodecError) -> Bool {
        guard let part = try rows.choose({ $0.copiedPart }) else { return false }
        let (file, pixels): ([UInt8], PixelRect)
        do throws(ShrinkingError) {
            let source = try JPEGPart(bytes, index)
            let mcus = source.mcus(covering: part)
            guard source.isWorthwhile(mcus, limits: rows.workLimits) else { return false }
            (file, pixels) = try source.file(of: mcus, bytes)
        } catch {
            guard case .failed(let error) = error else { return false }
            throw error
        }
        rows.decodes(only: pixels)
        try unsafe file.withUnsafeBufferPointer { buffer throws(CodecError) in
            let reader = try unsafe JPEGReader(
                buffer, fileByteCount: bytes.count, maximumScanCount: 1)
            try decode(reader, header, into: &rows)
        }
        rows.report.decoder += ", indexed"
        return true
    }

    /// Decodes a reduced image.
    ///
    /// - Returns: whether the file was decoded; if not, `rows` are in their initial state.
    private func decodeShrunk(
        _ bytes: Span<UInt8>, _ header: ImageHeader, into rows: inout RowSink
    ) throws(CodecError) -> Bool {
        let decoder = ShrinkingDecoder(
            limits: rows.workLimits, cancellation: rows.cancellation,
            releaseInput: rows.releaseInput, isDraft: rows.quality == .fast)
        var sink = ShrunkImageSink(consume rows, header.colorProfile)
        var stop: ShrinkingError?
        do { try decoder.decode(bytes, into: &sink) } catch { stop = error }
        rows = sink.rows
        switch stop {
        case nil: return true
        case .notHandled:
            rows.restart()
            return false
        case .failed(let error): throw error
        }
    }

    private func decode(
        _ reader: borrowing JPEGReader, _ header: ImageHeader, into rows: inout RowSink
    ) throws(CodecError) {
        let shrink = try rows.choose { $0.shrinkFactor(of: [2, 4, 8]) }
        reader.watch(rows.cancellation)
        if rows.acceptsTruncated { reader.acceptTruncated() }
        try rows.workLimits.check(.memoryByteCount, try reader.coefficientByteCount())
        try reader.start(shrink: shrink, inPasses: false)
        rows.report = DecodeReport(
            decoder: "libjpeg-turbo",
            shrinkFactors: Array(repeating: shrink, count: reader.channelCount))
        var imageRows = try JPEGRows(reader, header)
        try imageRows.begin(&rows)
        while try imageRows.next(reader, &rows) {}
        try reader.finish()
        if reader.isTruncated { rows.report.problem = .truncated(byteCount: reader.byteCount) }
    }
}
#endif
