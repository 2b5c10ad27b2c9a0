// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// Decodes row by row; an interlaced image is held in memory as a whole, unless it is much reduced.
struct PNGDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        try PNGHeader(bytes, limits: limits).imageHeader
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header = try PNGHeader(bytes, limits: rows.limits)
        do throws(CodecError) {
            try decode(header, bytes, into: &rows)
        } catch {
            guard case .truncated = error, header.layout.isInterlaced, rows.acceptsTruncated,
                rows.canRestart
            else { throw error }
            rows.restart()
            try decodeCompletePasses(header, bytes, into: &rows)
            rows.report.problem = error
        }
    }

    /// Decodes the pixels of the complete passes of a truncated interlaced image.
    ///
    /// - Throws: ``CodecError/truncated(byteCount:)`` if there is none.
    private func decodeCompletePasses(
        _ header: PNGHeader, _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) {
        let samples = PNGSamples(header, keepsDepth: rows.keepsDepth)
        let size = header.layout.size
        try rows.workLimits.check(
            .memoryByteCount, PixelBuffer.byteCount(of: size, samples.format))
        var source = try PNGFilteredRows(
            header.dataChunks, verifiesChecksums: rows.verifiesChecksums)
        var imageRows = PNGRows(header.layout, samples, cancellation: rows.cancellation)
        let profile = header.imageHeader.colorProfile
        do throws(CodecError) {
            try imageRows.forEach(in: bytes, &source) { _ throws(CodecError) in }
        } catch {
            guard case .truncated = error, imageRows.gridCount > 0 else {
                try rows.begin(size, samples.format, profile)
                throw error
            }
        }
        try rows.begin(
            imageRows.gridSize, samples.format, profile, lattice: imageRows.gridLattice)
        try imageRows.forEachGridRow { row throws(CodecError) in try rows.append(row) }
    }

    private func decode(
        _ header: PNGHeader, _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) {
        let samples = PNGSamples(header, keepsDepth: rows.keepsDepth)
        let size = header.layout.size
        try rows.begin(size, samples.format, header.imageHeader.colorProfile)
        let isInterlaced = header.layout.isInterlaced
        let byteCount = PixelBuffer.byteCount(of: size, samples.format)
        let isUnordered = isInterlaced && rows.beginUnordered(maximumByteCount: byteCount)
        if isInterlaced && !isUnordered { try rows.workLimits.check(.memoryByteCount, byteCount) }
        var source = try PNGFilteredRows(
            header.dataChunks, verifiesChecksums: rows.verifiesChecksums,
            releaseInput: rows.releaseInput)
        var imageRows = PNGRows(header.layout, samples, cancellation: rows.cancellation)
        if isUnordered {
            try imageRows.forEachPassRow(
                in: bytes, &source
            ) { pixels, y, column, step throws(CodecError) in
                try rows.append(pixels, y: y, from: column, step: step)
            }
            rows.finishUnordered()
        } else {
            try imageRows.forEach(in: bytes, &source) { row throws(CodecError) in
                try rows.append(row)
            }
        }
        try finish(&source, bytes, acceptsTruncated: rows.acceptsTruncated)
    }

    /// Reads what follows the last row; unless the decode is strict, none of it need be present.
    private func finish(
        _ source: inout PNGFilteredRows, _ bytes: Span<UInt8>, acceptsTruncated: Bool
    ) throws(CodecError) {
        guard acceptsTruncated else { return try source.finish(bytes) }
        do throws(CodecError) {
            _ = try source.finishStream(bytes)
        } catch {
            guard case .truncated = error else { throw error }
        }
    }

    func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? {
        PNGIncrementalDecoder()
    }

    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? {
        try bytes.withBytes { file throws(CodecError) in
            let header = try PNGHeader(file, limits: limits)
            return PNGFrameReader(bytes, header, limits)
        }
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        try PNGMetadata(bytes, limits: limits).blocks
    }
}
#endif
