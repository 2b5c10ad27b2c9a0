// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import CJPEG
    internal import EncodedImages
    internal import Pixels

    /// Decodes shrunk with ``ShrinkingDecoder``, and all that it leaves with libjpeg-turbo.
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

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            let header = try header(of: bytes, limits: rows.limits)
            if try decodeShrunk(bytes, header, into: &rows) { return }
            // libjpeg-turbo goes through all coefficients for each of them: they are counted before.
            try rows.limits.check(
                .scanCount,
                JPEGSegments.scanCount(bytes, limit: rows.limits.maximumScanCount))
            try unsafe bytes.withUnsafeBufferPointer { buffer throws(CodecError) in
                let reader = try unsafe JPEGReader(
                    buffer, maximumScanCount: rows.limits.maximumScanCount)
                try decode(reader, header, into: &rows)
            }
        }

        /// - Returns: whether it could; if not, no row has been given out.
        private func decodeShrunk(
            _ bytes: Span<UInt8>, _ header: ImageHeader, into rows: inout RowSink
        ) throws(CodecError) -> Bool {
            let choice = ShrinkChoice(rows.plan)
            let decoder = ShrinkingDecoder(
                limits: rows.limits, cancellation: rows.cancellation,
                isDraft: rows.plan.quality == .fast
            ) { choice.blockSides($0, $1) }
            var sink = ShrunkPictureSink(consume rows, header.colorProfile)
            var stop: ShrinkingStop?
            do { try decoder.decode(bytes, into: &sink) } catch { stop = error }
            rows = sink.rows
            switch stop {
            case nil: return true
            case .notHandled: return false
            case .failed(let error): throw error
            }
        }

        private func decode(
            _ reader: borrowing JPEGReader, _ header: ImageHeader, into rows: inout RowSink
        ) throws(CodecError) {
            let shrink = rows.plan.shrinkFactor(of: [2, 4, 8])
            reader.watch(rows.cancellation)
            if rows.plan.acceptsTruncated { reader.acceptTruncated() }
            try rows.limits.check(.memoryByteCount, try reader.coefficientByteCount())
            try reader.start(shrink: shrink)
            rows.report = DecodeReport(
                decoder: "libjpeg-turbo",
                shrinkFactors: Array(repeating: shrink, count: reader.channelCount))
            let width = reader.size.width
            switch reader.channelCount {
            case 1, 3:
                let format: PixelFormat = reader.channelCount == 1 ? .gray8 : .rgb8
                try rows.begin(reader.size, format, header.colorProfile)
                var row = [UInt8](repeating: 0, count: width * reader.channelCount)
                for _ in 0..<reader.size.height {
                    try reader.readRow(into: &row)
                    try rows.append(row.span)
                }
            case 4:
                try rows.begin(reader.size, .rgb8, .sRGB)
                let conversion = CMYKConversion(
                    header.colorProfile, isInverted: reader.isInverted)
                var inks = [UInt8](repeating: 0, count: width * 4)
                var row = [UInt8](repeating: 0, count: width * 3)
                for _ in 0..<reader.size.height {
                    try reader.readRow(into: &inks)
                    conversion.convert(inks.span, into: &row)
                    try rows.append(row.span)
                }
            default:
                throw .unsupported(feature: "a JPEG of \(reader.channelCount) components")
            }
            try reader.finish()
            if reader.isTruncated { rows.report.problem = .truncated(byteCount: reader.byteCount) }
        }
    }

    /// The only owner of a libjpeg decompressor.
    ///
    /// It must not outlive the bytes that it reads.
    @safe private struct JPEGReader: ~Copyable {
        private let raw: OpaquePointer
        let byteCount: Int
        private let maximumScanCount: Int

        @unsafe init(
            _ bytes: UnsafeBufferPointer<UInt8>, maximumScanCount: Int
        ) throws(CodecError) {
            guard
                let raw = unsafe calotype_jpeg_reader_create(bytes.baseAddress, bytes.count)
            else { throw .library(message: "no memory for a JPEG decoder") }
            unsafe self.raw = raw
            byteCount = bytes.count
            self.maximumScanCount = maximumScanCount
        }

        deinit { unsafe calotype_jpeg_reader_destroy(raw) }

        var size: PixelSize {
            PixelSize(
                width: unsafe Int(calotype_jpeg_reader_width(raw)),
                height: unsafe Int(calotype_jpeg_reader_height(raw)))
        }
        var channelCount: Int { unsafe Int(calotype_jpeg_reader_channels(raw)) }
        var isInverted: Bool { unsafe calotype_jpeg_reader_is_inverted(raw) }

        /// From here on, what is missing at the end of the file is grey.
        func acceptTruncated() { unsafe calotype_jpeg_reader_accept_truncated(raw) }

        var isTruncated: Bool { unsafe calotype_jpeg_reader_is_truncated(raw) }

        /// The flag must outlive the reader.
        func watch(_ cancellation: CancellationFlag?) {
            let context = unsafe cancellation.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
            unsafe calotype_jpeg_reader_watch(
                raw, Int32(clamping: maximumScanCount),
                { context in
                    guard let context = unsafe context else { return false }
                    let flag = unsafe Unmanaged<CancellationFlag>.fromOpaque(context)
                    return unsafe flag.takeUnretainedValue().isCancelled
                }, context)
        }

        /// The bytes that are held for a file of several scans, known from its header.
        func coefficientByteCount() throws(CodecError) -> Int {
            try check(unsafe calotype_jpeg_reader_read_header(raw))
            return unsafe calotype_jpeg_reader_coefficient_bytes(raw)
        }

        func start(shrink: Int) throws(CodecError) {
            try check(unsafe calotype_jpeg_reader_start(raw, Int32(shrink)))
        }

        func readRow(into row: inout [UInt8]) throws(CodecError) {
            precondition(row.count >= size.width * channelCount, "the row is too short")
            let status = unsafe row.withUnsafeMutableBufferPointer {
                unsafe calotype_jpeg_reader_read_row(raw, $0.baseAddress)
            }
            try check(status)
        }

        /// Reads to the end of the file if every row has been read.
        func finish() throws(CodecError) {
            try check(unsafe calotype_jpeg_reader_finish(raw))
        }

        private func check(_ status: calotype_jpeg_status) throws(CodecError) {
            let offset = unsafe calotype_jpeg_reader_offset(raw)
            switch status {
            case calotype_jpeg_ok: return
            case calotype_jpeg_truncated: throw .truncated(byteCount: byteCount)
            case calotype_jpeg_unsupported: throw .unsupported(feature: message)
            case calotype_jpeg_stopped: throw .cancelled
            case calotype_jpeg_too_many_scans:
                throw .limitExceeded(
                    .scanCount, needed: maximumScanCount + 1, allowed: maximumScanCount)
            case calotype_jpeg_out_of_memory: throw .library(message: message)
            default: throw .malformed(reason: message, offset: offset)
            }
        }

        private var message: String {
            unsafe String(cString: calotype_jpeg_reader_message(raw))
        }
    }
#endif
