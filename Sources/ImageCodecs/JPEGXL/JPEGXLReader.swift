// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import CJPEGXL
internal import EncodedImages
internal import Pixels

/// The sole owner of a libjxl decoder; every call takes the same file.
@safe final class JPEGXLReader {
    private let raw: OpaquePointer
    private var info = calotype_jxl_info()
    private var profile = ColorProfile.sRGB
    /// A buffer for a row that is multiplied by alpha.
    private var multiplied: [UInt8] = []

    init() throws(CodecError) {
        try unsafe requireLibrary(calotype_jxl_reader_missing())
        guard let raw = unsafe calotype_jxl_reader_create() else {
            throw .library(message: "out of memory: cannot create a JPEG XL decoder")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_jxl_reader_destroy(raw) }

    /// Reads everything before the first frame.
    func parse(_ file: Span<UInt8>, _ limits: DecodeLimits) throws(CodecError) {
        let status = unsafe file.withUnsafeBufferPointer {
            unsafe calotype_jxl_reader_parse(raw, $0.baseAddress, $0.count)
        }
        try Self.check(status, file.count)
        unsafe calotype_jxl_reader_info(raw, &info)
        if info.icc_count > 0 {
            profile =
                limits.allowsProfile(byteCount: info.icc_count)
                ? .icc(
                    unsafe Array(
                        UnsafeBufferPointer(
                            start: calotype_jxl_reader_icc(raw), count: info.icc_count)))
                : .sRGB
        } else {
            let points = CICP(primaries: Int(info.primaries), transfer: Int(info.transfer))
            profile = points.isSRGB ? .sRGB : .coded(points)
        }
    }

    var isAnimated: Bool { info.is_animated }

    func header() throws(CodecError) -> ImageHeader {
        if info.has_black { throw .unsupported(feature: "JPEG XL with a black channel (CMYK)") }
        let size = PixelSize(width: Int(info.width), height: Int(info.height))
        guard !size.isEmpty else {
            throw .malformed(reason: "invalid image size: \(size)", offset: 0)
        }
        var header = ImageHeader(
            storedSize: size, colorModel: info.color_channels == 1 ? .gray : .rgb,
            bitsPerComponent: Int(info.bits))
        header.orientation =
            Orientation(rawValue: UInt8(clamping: info.orientation)) ?? .upright
        header.hasAlpha = info.has_alpha
        header.colorProfile = profile
        header.loopCount = isAnimated ? Int(info.loop_count) : 1
        header.facts = [
            ImageHeader.Fact("colours", info.is_xyb ? "XYB" : "as in the original")
        ]
        if info.is_float { header.facts.append(ImageHeader.Fact("samples", "floating point")) }
        return header
    }

    /// The format of the rows.
    var format: PixelFormat {
        let isWide = info.bits > 8 || info.is_float
        if info.has_alpha { return isWide ? .rgba16 : .rgba8 }
        if info.color_channels == 1 { return isWide ? .gray16 : .gray8 }
        return isWide ? .rgb16 : .rgb8
    }

    /// The duration of the last decoded frame.
    var duration: Duration {
        let seconds = unsafe Double(calotype_jxl_reader_ticks(raw)) * info.seconds_per_tick
        guard seconds.isFinite, (0...1e6).contains(seconds) else { return .zero }
        return .microseconds(Int64((seconds * 1e6).rounded()))
    }

    /// Decodes the next frame.
    ///
    /// - Returns: `false` after the last frame.
    func next(_ file: Span<UInt8>) throws(CodecError) -> Bool {
        let format = format
        let isWide = format.with8BitChannels != format
        let status = unsafe file.withUnsafeBufferPointer {
            unsafe calotype_jxl_reader_next(
                raw, $0.baseAddress, $0.count, Int32(format.channelCount), isWide)
        }
        if status == calotype_jxl_no_more { return false }
        try Self.check(status, file.count)
        return true
    }

    /// Renders the available part of an incomplete frame.
    ///
    /// - Returns: `false` if no pixels are available yet.
    func flush() -> Bool { unsafe calotype_jxl_reader_flush(raw) }

    /// Calls `body` with row `y` of the last decoded frame, premultiplied.
    func withRow<Failure: Error>(
        _ y: Int, _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(y >= 0 && y < Int(info.height), "the row is outside of the image")
        let format = format
        let count = Int(info.width) * format.bytesPerPixel
        guard let start = unsafe calotype_jxl_reader_pixels(raw) else { return }
        let bytes = unsafe UnsafeBufferPointer(start: start + y * count, count: count)
        guard format.hasAlpha, !info.is_premultiplied else {
            return try body(unsafe Span(_unsafeElements: bytes))
        }
        var row: [UInt8] = []
        swap(&row, &multiplied)
        if row.count != count { row = Array(repeating: 0, count: count) }
        unsafe row.withUnsafeMutableBytes { unsafe $0.copyMemory(from: .init(bytes)) }
        var pixels = row.mutableSpan
        if format == .rgba8 {
            PremultipliedAlpha.multiply(&pixels)
        } else {
            PremultipliedAlpha.multiply16(&pixels)
        }
        defer { swap(&row, &multiplied) }
        try body(row.span)
    }

    static func frameCount(_ file: Span<UInt8>, limit: Int) throws(CodecError) -> Int {
        try unsafe requireLibrary(calotype_jxl_reader_missing())
        var count: Int32 = 0
        let status = unsafe file.withUnsafeBufferPointer {
            unsafe calotype_jxl_count_frames(
                $0.baseAddress, $0.count, Int32(clamping: limit) &+ 1, &count)
        }
        try check(status, file.count)
        return Int(count)
    }

    /// Returns the contents of a box, decompressed; `nil` if it is missing.
    static func box(
        _ type: String, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        try unsafe requireLibrary(calotype_jxl_reader_missing())
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        let status = unsafe file.withUnsafeBufferPointer {
            unsafe calotype_jxl_copy_box(
                $0.baseAddress, $0.count, type, limits.maximumMetadataByteCount, &start,
                &count)
        }
        defer { unsafe free(start) }
        try check(status, file.count)
        try limits.check(.metadataByteCount, count)
        return unsafe count > 0 ? Array(UnsafeBufferPointer(start: start, count: count)) : nil
    }

    static func check(_ status: calotype_jxl_status, _ byteCount: Int) throws(CodecError) {
        switch status {
        case calotype_jxl_ok: return
        case calotype_jxl_truncated: throw .truncated(byteCount: byteCount)
        case calotype_jxl_unsupported:
            throw .unsupported(feature: "JPEG XL feature of this image")
        case calotype_jxl_failed: throw .library(message: "libjxl failed")
        default: throw .malformed(reason: "invalid JPEG XL codestream or container", offset: 0)
        }
    }
}
#endif
