// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Decodes rows, or scan after scan, as bytes arrive, with libjpeg-turbo.
///
/// Each coefficient is decoded once. The coefficients of a file with several scans are kept in
/// memory, and each version that is shown is computed from them.
final class JPEGIncrementalDecoder: IncrementalDecoder {
    private enum Stage {
        case header, start, scans, rows, over
    }

    private var reader: JPEGReader
    private var header: ImageHeader?
    private var stage = Stage.header
    private var imageRows: JPEGRows?
    private(set) var passCount = 0

    init(limits: DecodeLimits) throws(CodecError) {
        reader = try unsafe JPEGReader(
            UnsafeBufferPointer(start: nil, count: 0), fileByteCount: 0,
            maximumScanCount: limits.maximumScanCount)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header =
            if let header { header } else {
                try JPEGDecoder().header(of: bytes, limits: rows.limits)
            }
        self.header = header
        try reader.withMore(bytes) { reader throws(CodecError) in
            reader.watch(rows.cancellation)
            try decode(reader, header, into: &rows)
        }
    }

    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        guard let header else { return }
        try reader.withMore(bytes) { reader throws(CodecError) in
            reader.watch(rows.cancellation)
            try reader.beginPass(passCount)
            var imageRows = try JPEGRows(reader, header)
            try imageRows.begin(&rows)
            while try imageRows.next(reader, &rows) {}
            try reader.endPass()
        }
    }

    private func decode(
        _ reader: borrowing JPEGReader, _ header: ImageHeader, into rows: inout RowSink
    ) throws(CodecError) {
        if stage == .header {
            try rows.workLimits.check(.memoryByteCount, try reader.coefficientByteCount())
            stage = .start
        }
        if stage == .start {
            let shrink = try rows.choose { $0.shrinkFactor(of: [2, 4, 8]) }
            try reader.start(shrink: shrink, inPasses: reader.hasPasses)
            rows.report = DecodeReport(
                decoder: "libjpeg-turbo",
                shrinkFactors: Array(repeating: shrink, count: reader.channelCount))
            let imageRows = try JPEGRows(reader, header)
            try imageRows.begin(&rows)
            self.imageRows = consume imageRows
            stage = reader.hasPasses ? .scans : .rows
        }
        if stage == .scans {
            try reader.consume(&passCount)
            try reader.beginPass(passCount)
            stage = .rows
        }
        if stage == .rows {
            while try imageRows?.next(reader, &rows) == true {}
            // The end of the file has been reached; decoding of truncated files is left to the
            // full decoder.
            if reader.isTruncated { throw .truncated(byteCount: reader.byteCount) }
            if reader.hasPasses { try reader.endPass() }
            try reader.finish()
            stage = .over
        }
    }
}
#endif
