// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import CHEIF
internal import EncodedImages
internal import Pixels

/// The sole owner of a libheif context and of an image in it.
///
/// The file's bytes must outlive it.
@safe final class HEIFImage {
    private let raw: OpaquePointer
    private let byteCount: Int
    private let transformations: HEIFTransformations

    @unsafe init(_ file: UnsafeBufferPointer<UInt8>, page: Int) throws(CodecError) {
        try unsafe requireLibrary(calotype_heif_missing())
        guard let raw = unsafe calotype_heif_reader_create() else {
            throw .library(message: "out of memory: cannot create a HEIF decoder")
        }
        unsafe self.raw = raw
        byteCount = file.count
        var info = calotype_heif_info()
        var status = unsafe calotype_heif_reader_parse(raw, file.baseAddress, file.count)
        if status == calotype_heif_ok {
            status = unsafe calotype_heif_reader_select(raw, Int32(clamping: page))
        }
        if status == calotype_heif_ok { unsafe calotype_heif_reader_info(raw, &info) }
        let bytes = unsafe Span(_unsafeElements: file)
        transformations = HEIFTransformations(ofItem: Int(info.item), bytes)
        // libheif skips items of other types, and decodes others as if they were not protected.
        let items = ItemList(bytes)
        let item = status == calotype_heif_ok ? Int(info.item) : items.primary
        if status == calotype_heif_ok || status == calotype_heif_malformed,
            let feature = items.unsupportedFeature(ofItem: item, bytes)
        {
            throw .unsupported(feature: feature)
        }
        // libheif reports a file that ends before `meta` as invalid.
        if status == calotype_heif_malformed,
            BoxReader.first("meta", in: 0..<bytes.count, bytes) == nil
        {
            status = calotype_heif_truncated
        }
        try check(status)
    }

    deinit { unsafe calotype_heif_reader_destroy(raw) }

    func header(_ limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let info = info
        let shown = PixelSize(width: Int(info.width), height: Int(info.height))
        guard !shown.isEmpty else {
            throw .malformed(reason: "invalid image size: \(shown)", offset: 0)
        }
        let orientation = transformations.orientation
        let bits = max(8, Int(info.luma_bits))
        var header = ImageHeader(
            storedSize: orientation.oriented(shown), colorModel: .rgb, bitsPerComponent: bits)
        header.orientation = orientation
        header.hasAlpha = info.has_alpha
        header.pageCount = unsafe max(1, Int(calotype_heif_reader_count(raw)))
        if let profile = profile(limits) {
            header.colorProfile = .icc(profile)
        } else {
            let points = CICP(
                primaries: Int(info.primaries), transfer: Int(info.transfer))
            header.colorProfile = points.isSRGB ? .sRGB : .coded(points)
        }
        if info.thumbnail_width > 0 {
            header.facts.append(
                ImageHeader.Fact(
                    "thumbnail item", "\(info.thumbnail_width)x\(info.thumbnail_height)"))
        }
        return header
    }

    /// Returns whether the thumbnail has the image's proportions and enough pixels for the
    /// plan.
    func thumbnailSuffices(_ plan: DecodePlan) -> Bool {
        let info = info
        let size = transformations.orientation.oriented(
            PixelSize(
                width: Int(info.thumbnail_width), height: Int(info.thumbnail_height)))
        let stored = plan.storedSize
        guard !size.isEmpty, size.width < stored.width else { return false }
        let difference = abs(size.width * stored.height - size.height * stored.width)
        guard difference <= max(stored.width, stored.height) else { return false }
        let residual = plan.quality == .fast ? 1 : DecodePlan.residualFactor
        let factor = Double(stored.width) / Double(size.width)
        return factor * residual <= plan.reduction(ofChroma: false)
    }

    /// Decodes the image or its thumbnail in stored orientation and passes it to `body`.
    func decode(
        isThumbnail: Bool, _ body: (PlaneImage) throws(CodecError) -> Void
    ) throws(CodecError) {
        var image = calotype_heif_image()
        try check(
            unsafe calotype_heif_reader_decode(
                raw, isThumbnail, transformations.isCropped, &image))
        try body(try unsafe Self.planes(image))
    }

    func metadata(_ limits: DecodeLimits) throws(CodecError) -> MetadataBlocks {
        var blocks = MetadataBlocks()
        if let exif = try block(isExif: true, limits) {
            // The block begins with the offset of the TIFF header.
            let offset = exif.span.integer(at: 0, byteCount: 4) ?? 0
            if offset <= exif.count - 4 { blocks.exif = Array(exif[(4 + offset)...]) }
        }
        blocks.xmp = try block(isExif: false, limits)
        return blocks
    }

    private var info: calotype_heif_info {
        var info = calotype_heif_info()
        unsafe calotype_heif_reader_info(raw, &info)
        return info
    }

    private func profile(_ limits: DecodeLimits) -> [UInt8]? {
        let count = info.icc_count
        guard count > 0, limits.allowsProfile(byteCount: count) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let isCopied = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe calotype_heif_reader_copy_icc(raw, $0.baseAddress)
        }
        return isCopied ? bytes : nil
    }

    private func block(isExif: Bool, _ limits: DecodeLimits) throws(CodecError) -> [UInt8]? {
        let count = unsafe calotype_heif_reader_metadata_count(raw, isExif)
        guard count > 0 else { return nil }
        try limits.check(.metadataByteCount, count)
        var bytes = [UInt8](repeating: 0, count: count)
        let isCopied = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe calotype_heif_reader_copy_metadata(raw, isExif, $0.baseAddress)
        }
        return isCopied ? bytes : nil
    }

    @unsafe private static func planes(
        _ image: calotype_heif_image
    ) throws(CodecError) -> PlaneImage {
        let chroma: PlaneCoding.Chroma
        switch image.subsampling {
        case 444: chroma = .full
        case 422: chroma = .halfWidth
        case 420: chroma = .half
        default: chroma = .none
        }
        let coding = PlaneCoding(
            chroma: chroma, bitDepth: Int(image.bits),
            isFullRange: image.is_full_range, matrix: Int(image.matrix),
            primaries: Int(image.primaries), alphaBitDepth: Int(image.alpha_bits),
            isPremultiplied: image.is_premultiplied)
        let (starts, steps) = unsafe (image.planes, image.row_bytes)
        let (widths, heights) = (image.widths, image.heights)
        let wide = image.is_wide
        let planes = unsafe [
            SamplePlane(
                starts.0, bytesPerRow: Int(steps.0), width: Int(widths.0),
                height: Int(heights.0), isWide: wide.0),
            SamplePlane(
                starts.1, bytesPerRow: Int(steps.1), width: Int(widths.1),
                height: Int(heights.1), isWide: wide.1),
            SamplePlane(
                starts.2, bytesPerRow: Int(steps.2), width: Int(widths.2),
                height: Int(heights.2), isWide: wide.2),
        ]
        let alpha = unsafe SamplePlane(
            starts.3, bytesPerRow: Int(steps.3), width: Int(widths.3),
            height: Int(heights.3), isWide: wide.3)
        return try PlaneImage(
            coding, chroma == .none ? Array(planes.prefix(1)) : planes, alpha: alpha,
            region: PixelRect(
                PixelSize(width: Int(image.width), height: Int(image.height))))
    }

    private func check(_ status: calotype_heif_status) throws(CodecError) {
        switch status {
        case calotype_heif_ok: return
        case calotype_heif_truncated: throw .truncated(byteCount: byteCount)
        case calotype_heif_unsupported: throw .unsupported(feature: message)
        case calotype_heif_failed: throw .library(message: message)
        default: throw .malformed(reason: message, offset: 0)
        }
    }

    private var message: String {
        unsafe String(cString: calotype_heif_reader_message(raw))
    }
}
#endif
