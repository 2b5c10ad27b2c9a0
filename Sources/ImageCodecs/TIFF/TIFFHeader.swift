// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages
internal import Pixels

extension TIFFImage {
    /// The embedded profile, or sRGB if it is missing, too long or for another colour space.
    func colorProfile(
        _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) -> ColorProfile {
        guard let range = directory.range(.iccProfile),
            limits.allowsProfile(byteCount: range.count)
        else { return .sRGB }
        let profile = range.map { bytes[$0] }
        let expected: String
        switch model {
        case .gray: expected = "GRAY"
        case .cmyk: expected = "CMYK"
        case .rgb, .palette, .converted: expected = "RGB "
        case .lab: return .sRGB
        }
        return ICCProfile(profile)?.colorSpace == expected ? .icc(profile) : .sRGB
    }

    func header(
        _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) -> ImageHeader {
        let colors: ImageHeader.ColorModel
        switch model {
        case .gray: colors = .gray
        case .rgb, .converted: colors = .rgb
        case .palette: colors = .palette
        case .cmyk: colors = .cmyk
        case .lab: colors = .lab
        }
        var header = ImageHeader(
            storedSize: size, colorModel: colors, bitsPerComponent: bitsPerSample)
        header.hasAlpha = alpha != nil
        header.colorProfile = colorProfile(bytes, limits)
        header.orientation =
            directory.unsigned(.orientation, bytes).flatMap { UInt8(exactly: $0) }
            .flatMap(Orientation.init(rawValue:)) ?? .upright
        header.facts = [.init("compression", compressionName)]
        if isTiled {
            header.facts.append(.init("tiles", "\(blockSize.width)x\(blockSize.height)"))
        }
        #if JPEG
        header.jpegTileSize = jpegTileSize
        #endif
        return header
    }

    private var compressionName: String {
        let names = [
            1: "none", 2: "CCITT RLE", 3: "CCITT group 3", 4: "CCITT group 4", 5: "LZW",
            6: "old-style JPEG", 7: "JPEG", 8: "Deflate", 32766: "NeXT", 32771: "CCITT RLE",
            32773: "PackBits", 32809: "ThunderScan", 32909: "PixarLog", 32946: "Deflate",
            34676: "SGILog", 34677: "SGILog24", 34887: "LERC", 34925: "LZMA",
            50000: "Zstandard",
            50001: "WebP",
        ]
        return names[compression] ?? "\(compression)"
    }
}
#endif
