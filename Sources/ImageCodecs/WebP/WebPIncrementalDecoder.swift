// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import EncodedImages
internal import Pixels

/// Decodes the rows of a still image as their bytes arrive.
final class WebPIncrementalDecoder: IncrementalDecoder {
    private var still: WebPBitstream?
    private var reader: WebPReader?

    var passCount: Int { 0 }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        if reader == nil {
            let container = try WebPContainer(bytes)
            // Animations are decoded when the file is complete.
            guard let still = container.still else { throw .truncated(byteCount: bytes.count) }
            try rows.workLimits.check(.memoryByteCount, still.memoryByteCount)
            rows.report = DecodeReport(decoder: "libwebp", shrinkFactors: [1])
            try rows.begin(
                still.size, still.hasAlpha ? .rgba8 : .rgb8,
                WebPDecoder().profile(container, bytes, rows.limits))
            reader = try WebPReader(still.hasAlpha ? .rgba : .rgb)
            self.still = still
        }
        guard let still else { return }
        var premultiplied = [UInt8](repeating: 0, count: still.size.width * 4)
        try reader?.forEachRow(
            still, bytes, rows.cancellation
        ) { row, _ throws(CodecError) in
            guard still.hasAlpha else { return try rows.append(row) }
            var span = premultiplied.mutableSpan
            PremultipliedAlpha.multiply(row, into: &span)
            try rows.append(premultiplied.span)
        }
        if try WebPContainer(bytes).isTruncated { throw .truncated(byteCount: bytes.count) }
    }

    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {}
}
#endif
