// SPDX-License-Identifier: Apache-2.0

#if AVIF
internal import CAVIF
internal import EncodedImages
internal import Pixels

/// The header of an AVIF file.
struct AVIFInfo {
    /// The size of the planes, before the clean aperture is applied.
    let codedSize: PixelSize
    /// The clean aperture, or the whole image.
    let region: PixelRect
    let coding: PlaneCoding
    let hasAlpha: Bool
    private let orientation: Orientation
    private let frameCount: Int
    private let profile: ColorProfile
    private let profileByteCount: Int

    @unsafe init(_ info: calotype_avif_info) {
        codedSize = unsafe PixelSize(width: Int(info.width), height: Int(info.height))
        region = unsafe PixelRect(
            x: Int(info.crop_x), y: Int(info.crop_y), width: Int(info.crop_width),
            height: Int(info.crop_height))
        let depth = unsafe Int(info.depth)
        let chroma: PlaneCoding.Chroma
        switch unsafe info.subsampling {
        case 444: chroma = .full
        case 422: chroma = .halfWidth
        case 420: chroma = .half
        default: chroma = .none
        }
        coding = unsafe PlaneCoding(
            chroma: chroma, bitDepth: depth, isFullRange: info.is_full_range,
            matrix: Int(info.matrix), primaries: Int(info.primaries), alphaBitDepth: depth,
            isPremultiplied: info.is_premultiplied)
        hasAlpha = unsafe info.has_alpha
        orientation = unsafe Orientation(
            quartersCounterClockwise: Int(info.rotation),
            mirroredTopToBottom: info.mirror == 0, leftToRight: info.mirror == 1)
        frameCount = unsafe max(1, Int(info.frame_count))
        profileByteCount = unsafe info.icc_count
        if unsafe info.icc_count > 0 {
            unsafe profile = .icc(
                Array(UnsafeBufferPointer(start: info.icc, count: info.icc_count)))
        } else {
            let points = unsafe CICP(
                primaries: Int(info.primaries), transfer: Int(info.transfer))
            profile = points.isSRGB ? .sRGB : .coded(points)
        }
    }

    /// The estimated number of bytes that libavif and dav1d allocate to decode an image.
    ///
    /// Measured: 1.6 times the planes for a single item; a grid's planes are allocated in
    /// addition to those of its tiles.
    var memoryByteCount: Int {
        let halfSamples: [PlaneCoding.Chroma: Int] = [.none: 2, .half: 3, .halfWidth: 4]
        let bytes = coding.bitDepth > 8 ? 2 : 1
        let (result, overflow) = codedSize.area.multipliedReportingOverflow(
            by: bytes * (halfSamples[coding.chroma, default: 6] + (hasAlpha ? 2 : 0)) * 11)
        return overflow ? .max : result / 8
    }

    func header(_ limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        guard !region.size.isEmpty else {
            throw .malformed(reason: "invalid image size: \(region.size)", offset: 0)
        }
        var header = ImageHeader(
            storedSize: region.size, colorModel: coding.chroma == .none ? .gray : .rgb,
            bitsPerComponent: coding.bitDepth)
        header.orientation = orientation
        header.hasAlpha = hasAlpha
        header.colorProfile =
            limits.allowsProfile(byteCount: profileByteCount) ? profile : .sRGB
        header.frameCount = frameCount
        let names: [PlaneCoding.Chroma: String] = [
            .none: "4:0:0", .full: "4:4:4", .halfWidth: "4:2:2", .half: "4:2:0",
        ]
        header.facts = [
            ImageHeader.Fact("subsampling", names[coding.chroma] ?? ""),
            ImageHeader.Fact("range", coding.isFullRange ? "full" : "limited"),
        ]
        return header
    }
}
#endif
