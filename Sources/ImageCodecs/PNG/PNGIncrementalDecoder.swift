// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages
    internal import Pixels

    /// Decodes rows as their bytes arrive; an interlaced image is refined pass by pass.
    final class PNGIncrementalDecoder: IncrementalDecoder {
        private var header: PNGHeader?
        private var source: PNGFilteredRows?
        private var pictureRows: PNGRows?
        private(set) var passCount = 0

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            if pictureRows == nil { try begin(bytes, &rows) }
            guard var source = source.take(), var pictureRows = pictureRows.take() else { return }
            var failure: CodecError?
            do throws(CodecError) {
                try pictureRows.forEach(in: bytes, &source) { row throws(CodecError) in
                    try rows.append(row)
                }
                try source.finish(bytes)
            } catch {
                failure = error
            }
            if header?.layout.isInterlaced == true { passCount = pictureRows.gridCount }
            self.source = consume source
            self.pictureRows = consume pictureRows
            if let failure { throw failure }
        }

        func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            guard let header, var pictureRows = pictureRows.take() else { return }
            var failure: CodecError?
            do throws(CodecError) {
                let samples = PNGSamples(header, keepsDepth: rows.keepsDepth)
                try rows.begin(
                    pictureRows.gridSize, samples.format, header.imageHeader.colorProfile,
                    lattice: pictureRows.gridLattice)
                try pictureRows.forEachGridRow { row throws(CodecError) in try rows.append(row) }
            } catch {
                failure = error
            }
            self.pictureRows = consume pictureRows
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
            pictureRows = PNGRows(header.layout, samples, cancellation: rows.cancellation)
            self.header = header
        }
    }
#endif
