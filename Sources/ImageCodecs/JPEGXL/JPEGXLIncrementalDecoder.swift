// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
internal import EncodedImages
internal import Pixels

/// Renders the available part of an image: first at an eighth of its resolution, then group
/// after group.
final class JPEGXLIncrementalDecoder: IncrementalDecoder {
    private let reader: JPEGXLReader
    private var header: ImageHeader?
    private(set) var passCount = 0

    init() throws(CodecError) { reader = try JPEGXLReader() }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header = try begin(bytes, &rows)
        do throws(CodecError) {
            guard try reader.next(bytes) else {
                throw .malformed(reason: "no frame in the codestream", offset: 0)
            }
        } catch {
            if case .truncated = error { passCount += 1 }
            throw error
        }
        try appendRows(header, &rows)
    }

    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        guard let header, reader.flush() else { return }
        try rows.begin(header.storedSize, reader.format, header.colorProfile)
        try appendRows(header, &rows)
    }

    private func begin(
        _ bytes: Span<UInt8>, _ rows: inout RowSink
    ) throws(CodecError) -> ImageHeader {
        if let header { return header }
        try reader.parse(bytes, rows.limits)
        let header = try reader.header()
        try rows.workLimits.check(
            .memoryByteCount, JPEGXLDecoder.byteCount(header, reader.format))
        rows.report = DecodeReport(
            decoder: "libjxl",
            shrinkFactors: Array(repeating: 1, count: reader.format.channelCount))
        try rows.begin(header.storedSize, reader.format, header.colorProfile)
        self.header = header
        return header
    }

    private func appendRows(
        _ header: ImageHeader, _ rows: inout RowSink
    ) throws(CodecError) {
        for y in 0..<header.storedSize.height {
            try reader.withRow(y) { row throws(CodecError) in try rows.append(row) }
        }
    }
}
#endif
