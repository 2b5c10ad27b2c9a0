// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// Decodes rows as their bytes arrive; an interlaced image is refined pass by pass.
final class PNGIncrementalDecoder: IncrementalDecoder {
    private var header: PNGHeader?
    private var source: PNGFilteredRows?
    private var imageRows: PNGRows?
    private(set) var passCount = 0

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        if imageRows == nil { try begin(bytes, &rows) }
        guard var source = source.take(), var imageRows = imageRows.take() else { return }
        var failure: CodecError?
        do throws(CodecError) {
            try imageRows.forEach(in: bytes, &source) { row throws(CodecError) in
                try rows.append(row)
            }
            try source.finish(bytes)
        } catch {
            failure = error
        }
        if header?.layout.isInterlaced == true { passCount = imageRows.gridCount }
        self.source = consume source
        self.imageRows = consume imageRows
        if let failure { throw failure }
    }

    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        guard let header, var imageRows = imageRows.take() else { return }
        var failure: CodecError?
        do throws(CodecError) {
            let samples = PNGSamples(header, keepsDepth: rows.keepsDepth)
            try rows.begin(
                imageRows.gridSize, samples.format, header.imageHeader.colorProfile,
                lattice: imageRows.gridLattice)
            try imageRows.forEachGridRow { row throws(CodecError) in try rows.append(row) }
        } catch {
            failure = error
        }
        self.imageRows = consume imageRows
        if let failure { throw failure }
    }

    private func begin(_ bytes: Span<UInt8>, _ rows: inout RowSink) throws(CodecError) {
        let header = try PNGHeader(bytes, limits: rows.limits)
        let samples = PNGSamples(header, keepsDepth: rows.keepsDepth)
        if header.layout.isInterlaced {
            try rows.workLimits.check(
                .memoryByteCount, PixelBuffer.byteCount(of: header.layout.size, samples.format))
        }
        try rows.begin(header.layout.size, samples.format, header.imageHeader.colorProfile)
        source = try PNGFilteredRows(
            header.dataChunks, verifiesChecksums: rows.verifiesChecksums)
        imageRows = PNGRows(header.layout, samples, cancellation: rows.cancellation)
        self.header = header
    }
}
#endif
