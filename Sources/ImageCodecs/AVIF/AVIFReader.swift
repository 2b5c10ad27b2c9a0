// SPDX-License-Identifier: Apache-2.0

#if AVIF
internal import CAVIF
internal import EncodedImages
internal import Pixels

/// The sole owner of a libavif decoder; every call takes the same file.
@safe final class AVIFReader {
    private let raw: OpaquePointer
    private let limits: DecodeLimits
    /// A copy of the file with merged property associations, if it needed repair.
    private var repaired: [UInt8]?
    /// The duration of the last decoded frame.
    private(set) var duration = Duration.zero

    init(_ limits: DecodeLimits, readsMetadata: Bool) throws(CodecError) {
        try unsafe requireLibrary(calotype_avif_missing())
        // The caller checks the header and names the exceeded limit; these limits are for AV1
        // data that contradicts the header.
        guard
            let raw = unsafe calotype_avif_reader_create(
                readsMetadata, UInt32(clamping: max(limits.maximumSide, 65_536)),
                UInt32(clamping: max(limits.maximumPixelCount, 1 << 20)),
                UInt32(clamping: max(limits.maximumFrameCount, 1) + 1))
        else { throw .library(message: "out of memory: cannot create an AVIF decoder") }
        unsafe self.raw = raw
        self.limits = limits
    }

    deinit { unsafe calotype_avif_reader_destroy(raw) }

    /// Parses everything except the coded images.
    func parse(_ file: Span<UInt8>) throws(CodecError) {
        try ItemGraph.check(file, limits)
        let status = unsafe file.withUnsafeBufferPointer {
            unsafe calotype_avif_reader_parse(raw, $0.baseAddress, $0.count)
        }
        if status == calotype_avif_malformed,
            let merged = PropertyAssociations.merged(file)
        {
            repaired = merged
            return try check(
                unsafe merged.withUnsafeBufferPointer {
                    unsafe calotype_avif_reader_parse(raw, $0.baseAddress, $0.count)
                }, file.count)
        }
        try check(status, file.count)
    }

    var info: AVIFInfo {
        var info = unsafe calotype_avif_info()
        unsafe calotype_avif_reader_info(raw, &info)
        return unsafe AVIFInfo(info)
    }

    /// Decodes the next image and passes it to `body`.
    ///
    /// - Returns: `false` after the last image.
    func next(
        _ file: Span<UInt8>, _ body: (PlaneImage) throws(CodecError) -> Void
    ) throws(CodecError) -> Bool {
        var frame = unsafe calotype_avif_frame()
        let status: calotype_avif_status
        if let repaired {
            status = unsafe repaired.withUnsafeBufferPointer {
                unsafe calotype_avif_reader_next(raw, $0.baseAddress, $0.count, &frame)
            }
        } else {
            status = unsafe file.withUnsafeBufferPointer {
                unsafe calotype_avif_reader_next(raw, $0.baseAddress, $0.count, &frame)
            }
        }
        if status == calotype_avif_no_more { return false }
        try check(status, file.count)
        let seconds = unsafe frame.duration
        if seconds.isFinite, (0...1e6).contains(seconds) {
            duration = .microseconds(Int64((seconds * 1e6).rounded()))
        }
        try body(try unsafe Self.image(frame))
        return true
    }

    /// Returns the metadata blocks; EXIF begins with its byte order mark.
    func metadata(_ limits: DecodeLimits) throws(CodecError) -> MetadataBlocks {
        var info = unsafe calotype_avif_info()
        unsafe calotype_avif_reader_info(raw, &info)
        var blocks = MetadataBlocks()
        unsafe blocks.exif = try Self.block(
            info.exif, info.exif_count, .metadataByteCount, limits)
        unsafe blocks.xmp = try Self.block(
            info.xmp, info.xmp_count, .metadataByteCount, limits)
        return blocks
    }

    @unsafe private static func block(
        _ start: UnsafePointer<UInt8>?, _ count: Int, _ limit: DecodeLimits.Name,
        _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        guard count > 0 else { return nil }
        try limits.check(limit, count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    @unsafe private static func image(
        _ frame: calotype_avif_frame
    ) throws(CodecError) -> PlaneImage {
        let info = unsafe AVIFInfo(frame.info)
        let size = info.codedSize
        let coding = info.coding
        let isHalfWide = [.half, .halfWidth].contains(coding.chroma)
        let chroma = PixelSize(
            width: isHalfWide ? (size.width + 1) / 2 : size.width,
            height: coding.chroma == .half ? (size.height + 1) / 2 : size.height)
        let isWide = coding.bitDepth > 8
        let starts = unsafe frame.planes
        let steps = unsafe frame.row_bytes
        let luma = unsafe SamplePlane(
            starts.0, bytesPerRow: Int(steps.0), width: size.width, height: size.height,
            isWide: isWide)
        let first = unsafe SamplePlane(
            starts.1, bytesPerRow: Int(steps.1), width: chroma.width, height: chroma.height,
            isWide: isWide)
        let second = unsafe SamplePlane(
            starts.2, bytesPerRow: Int(steps.2), width: chroma.width, height: chroma.height,
            isWide: isWide)
        let alpha = unsafe SamplePlane(
            starts.3, bytesPerRow: Int(steps.3), width: size.width, height: size.height,
            isWide: isWide)
        return try PlaneImage(
            coding, coding.chroma == .none ? [luma] : [luma, first, second],
            alpha: info.hasAlpha ? alpha : nil, region: info.region)
    }

    private func check(
        _ status: calotype_avif_status, _ byteCount: Int
    ) throws(CodecError) {
        switch status {
        case calotype_avif_ok: return
        case calotype_avif_truncated: throw .truncated(byteCount: byteCount)
        case calotype_avif_unsupported: throw .unsupported(feature: message)
        case calotype_avif_failed: throw .library(message: message)
        default: throw .malformed(reason: message, offset: 0)
        }
    }

    private var message: String {
        unsafe String(cString: calotype_avif_reader_message(raw))
    }
}
#endif
