// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import CJPEG
internal import EncodedImages
internal import Pixels

/// The unique owner of a libjpeg decompressor.
///
/// It must not outlive the bytes that it reads.
@safe struct JPEGReader: ~Copyable {
    private let raw: OpaquePointer
    private(set) var byteCount: Int
    private let maximumScanCount: Int

    @unsafe init(
        _ bytes: UnsafeBufferPointer<UInt8>, fileByteCount: Int, maximumScanCount: Int
    ) throws(CodecError) {
        guard
            let raw = unsafe calotype_jpeg_reader_create(bytes.baseAddress, bytes.count)
        else { throw .library(message: "out of memory for a JPEG decompressor") }
        unsafe self.raw = raw
        byteCount = fileByteCount
        self.maximumScanCount = maximumScanCount
    }

    deinit { unsafe calotype_jpeg_reader_destroy(raw) }

    /// Reads from `bytes`, which begin with the bytes of the last call, until `body` returns.
    ///
    /// Where more bytes are needed, calls throw ``CodecError/truncated(byteCount:)`` and are
    /// repeated later.
    mutating func withMore(
        _ bytes: Span<UInt8>, _ body: (borrowing JPEGReader) throws(CodecError) -> Void
    ) throws(CodecError) {
        byteCount = bytes.count
        let failure = unsafe bytes.withUnsafeBufferPointer { buffer -> CodecError? in
            unsafe calotype_jpeg_reader_supply(raw, buffer.baseAddress, buffer.count)
            do throws(CodecError) { try body(self) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    /// Whether the image has several scans.
    var hasPasses: Bool { unsafe calotype_jpeg_reader_has_passes(raw) }

    /// Decodes scans up to the end of the bytes.
    ///
    /// - Parameter scanCount: receives the total number of scans decoded.
    /// - Throws: ``CodecError/truncated(byteCount:)`` at the end of the bytes.
    func consume(_ scanCount: inout Int) throws(CodecError) {
        var count: Int32 = 0
        let status = unsafe calotype_jpeg_reader_consume(raw, &count)
        scanCount = max(scanCount, Int(count))
        try check(status)
    }

    /// Starts a pass over the rows in the state after a decoded scan, counted from 1.
    func beginPass(_ scan: Int) throws(CodecError) {
        try check(unsafe calotype_jpeg_reader_begin_pass(raw, Int32(clamping: scan)))
    }

    func endPass() throws(CodecError) {
        try check(unsafe calotype_jpeg_reader_end_pass(raw))
    }

    var size: PixelSize {
        PixelSize(
            width: unsafe Int(calotype_jpeg_reader_width(raw)),
            height: unsafe Int(calotype_jpeg_reader_height(raw)))
    }
    var channelCount: Int { unsafe Int(calotype_jpeg_reader_channels(raw)) }
    var isInverted: Bool { unsafe calotype_jpeg_reader_is_inverted(raw) }

    /// Fills missing data at the end of the file with grey from now on.
    func acceptTruncated() { unsafe calotype_jpeg_reader_accept_truncated(raw) }

    /// Whether missing data has been filled.
    var isTruncated: Bool { unsafe calotype_jpeg_reader_is_truncated(raw) }

    /// Checks a cancellation flag, which must outlive the reader, and the number of scans while
    /// decoding.
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

    /// Reads the header and returns the bytes of coefficients that a file with several scans
    /// takes.
    func coefficientByteCount() throws(CodecError) -> Int {
        try check(unsafe calotype_jpeg_reader_read_header(raw))
        return unsafe calotype_jpeg_reader_coefficient_bytes(raw)
    }

    func start(shrink: Int, inPasses: Bool) throws(CodecError) {
        try check(unsafe calotype_jpeg_reader_start(raw, Int32(shrink), inPasses))
    }

    func readRow(into row: inout [UInt8]) throws(CodecError) {
        precondition(row.count >= size.width * channelCount, "the row is too short")
        let status = unsafe row.withUnsafeMutableBufferPointer {
            unsafe calotype_jpeg_reader_read_row(raw, $0.baseAddress)
        }
        try check(status)
    }

    /// Reads to the end of the file after the last row.
    func finish() throws(CodecError) {
        try check(unsafe calotype_jpeg_reader_finish(raw))
    }

    private func check(_ status: calotype_jpeg_status) throws(CodecError) {
        let offset = unsafe calotype_jpeg_reader_offset(raw)
        switch status {
        case calotype_jpeg_ok: return
        case calotype_jpeg_truncated, calotype_jpeg_suspended:
            throw .truncated(byteCount: byteCount)
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
