// SPDX-License-Identifier: Apache-2.0

#if AVIF || JPEGXL
internal import EncodedImages
internal import Pixels

/// The colour profile and the metadata of an image, as AVIF and JPEG XL store them.
struct EmbeddedBlocks {
    /// The code points of the colours (ITU-T H.273); those of sRGB if there is an ICC profile.
    var primaries: Int32 = 1
    var transfer: Int32 = 13
    /// The ICC profile; empty for profiles with code points.
    var icc: [UInt8] = []
    let exif: [UInt8]
    let xmp: [UInt8]

    /// Collects the blocks of an image.
    ///
    /// - Parameters:
    ///   - profile: the colour profile of the pixels.
    ///   - format: the format of the pixels; grey pixels have a profile of their own.
    ///   - metadata: the metadata to embed.
    ///   - enumerates: whether the file format has a short form for code points.
    init(
        _ profile: ColorProfile, _ format: PixelFormat, _ metadata: MetadataBlocks,
        enumerates: (CICP) -> Bool = { _ in true }
    ) {
        exif = metadata.exif ?? []
        xmp = metadata.xmp ?? []
        if case .coded(let points) = profile, enumerates(points) {
            primaries = Int32(clamping: points.primaries)
            transfer = Int32(clamping: points.transfer)
        } else {
            let isGray = format.channelCount == 1 && format.planeCount == 1
            icc = profile.iccBytes(isGray: isGray) ?? []
        }
    }

    /// The ICC profile, the EXIF block and the XMP packet, one after the other.
    var bytes: [UInt8] { icc + exif + xmp }
}
#endif
