// SPDX-License-Identifier: Apache-2.0

#if RAW
internal import CRAW
internal import EncodedImages
internal import Pixels

/// The sole owner of a LibRaw processor with an open file.
///
/// The bytes that it reads must outlive it.
@safe struct RAWReader: ~Copyable {
    private let raw: OpaquePointer
    private let byteCount: Int
    private let limits: DecodeLimits

    private init(byteCount: Int, limits: DecodeLimits) throws(CodecError) {
        try unsafe requireLibrary(calotype_raw_missing())
        let megabytes = UInt32(clamping: max(limits.maximumMemoryByteCount >> 20, 1))
        guard let raw = unsafe calotype_raw_create(megabytes) else {
            throw .library(message: "out of memory: cannot create a RAW decoder")
        }
        unsafe self.raw = raw
        self.byteCount = byteCount
        self.limits = limits
    }

    /// Opens a file with `calotype_raw_open`.
    @unsafe static func opening(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> RAWReader {
        let reader = try RAWReader(byteCount: bytes.count, limits: limits)
        try reader.check(
            unsafe calotype_raw_open(reader.raw, bytes.baseAddress, bytes.count))
        return reader
    }

    deinit { unsafe calotype_raw_destroy(raw) }

    /// Returns the header; the reader cannot decode afterwards.
    func info() throws(CodecError) -> calotype_raw_info {
        var info = calotype_raw_info()
        try check(unsafe calotype_raw_get_info(raw, &info))
        return info
    }

    var camera: String {
        let make = unsafe String(cString: calotype_raw_make(raw))
        let model = unsafe String(cString: calotype_raw_model(raw))
        return [make, model].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Returns the largest preview if it is a JPEG file, otherwise `nil`.
    func preview() -> [UInt8]? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard unsafe calotype_raw_preview(raw, &bytes, &count) == calotype_raw_ok else {
            return nil
        }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Develops the image.
    ///
    /// - Parameters:
    ///   - isHalved: whether both sides are halved.
    ///   - isDraft: whether the fastest demosaicing is used.
    ///   - cancellation: set by another thread when the result is no longer needed.
    /// - Throws: ``CodecError`` if the data is damaged, unsupported, or decoding is cancelled.
    func decode(
        isHalved: Bool, isDraft: Bool, _ cancellation: CancellationFlag?
    ) throws(CodecError) {
        var settings = unsafe calotype_raw_settings()
        unsafe settings.is_halved = isHalved
        unsafe settings.is_draft = isDraft
        unsafe settings.context = unsafe cancellation.map {
            unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
        }
        unsafe settings.is_stopped = { context in
            guard let context = unsafe context else { return false }
            let flag = unsafe Unmanaged<CancellationFlag>.fromOpaque(context)
            return unsafe flag.takeUnretainedValue().isCancelled
        }
        try check(unsafe calotype_raw_decode(raw, &settings))
    }

    var isTruncated: Bool { unsafe calotype_raw_is_truncated(raw) }
    var isDamaged: Bool { unsafe calotype_raw_is_damaged(raw) }

    /// Calls `body` with the 16-bit samples of the developed image as bytes.
    func withPixels(
        _ body: (_ size: PixelSize, _ channelCount: Int, Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        var (width, height, channels) = (Int32(0), Int32(0), Int32(0))
        guard
            let pixels = unsafe calotype_raw_pixels(raw, &width, &height, &channels)
        else { throw .library(message: "LibRaw returned no image") }
        let size = PixelSize(width: Int(width), height: Int(height))
        let bytes = unsafe UnsafeRawBufferPointer(
            start: pixels, count: size.area * Int(channels) * 2)
        try body(
            size, Int(channels),
            unsafe Span(_unsafeElements: bytes.bindMemory(to: UInt8.self)))
    }

    private func check(_ status: calotype_raw_status) throws(CodecError) {
        switch status {
        case calotype_raw_ok: return
        case calotype_raw_truncated: throw .truncated(byteCount: byteCount)
        case calotype_raw_unsupported:
            throw .unsupported(feature: "RAW file of this camera or compression")
        case calotype_raw_too_large:
            let allowed = limits.maximumMemoryByteCount
            throw .limitExceeded(.memoryByteCount, needed: allowed + 1, allowed: allowed)
        case calotype_raw_stopped: throw .cancelled
        case calotype_raw_out_of_memory:
            throw .library(message: "out of memory while decoding RAW")
        default: throw .malformed(reason: "invalid RAW data", offset: 0)
        }
    }
}
#endif
