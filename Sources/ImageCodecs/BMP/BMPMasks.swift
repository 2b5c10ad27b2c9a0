// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The channel masks of 16-bit and 32-bit pixels; 0 for missing channels.
struct BMPMasks: Equatable {
    var red: UInt32 = 0
    var green: UInt32 = 0
    var blue: UInt32 = 0
    var alpha: UInt32 = 0

    /// 8-bit blue, green, red and alpha, from the lowest byte.
    static let bgra = BMPMasks(
        red: 0xFF_0000, green: 0xFF00, blue: 0xFF, alpha: 0xFF00_0000)

    /// The masks that the encoder writes for a pixel format; `nil` where none are needed.
    static func stated(for format: PixelFormat) -> BMPMasks? {
        switch format {
        case .rgba8: bgra
        case .rgb565: BMPMasks(red: 0xF800, green: 0x7E0, blue: 0x1F)
        case .rgb555: BMPMasks(red: 0x7C00, green: 0x3E0, blue: 0x1F)
        default: nil
        }
    }

    init(red: UInt32, green: UInt32, blue: UInt32, alpha: UInt32 = 0) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Reads the masks, or returns the default ones.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - offset: the offset of the masks, inside or after the bitmap header.
    ///   - compression: the compression, which determines whether masks are present.
    ///   - bitsPerPixel: the bit depth, which determines the default masks.
    ///   - count: 3, or 4 with alpha.
    ///   - isIcon: whether 32-bit pixels have alpha by default.
    init(
        _ file: Span<UInt8>, at offset: Int, _ compression: BMPHeader.Compression,
        _ bitsPerPixel: Int, count: Int, isIcon: Bool
    ) {
        if compression == .bitFields || compression == .alphaBitFields {
            let masks = (0..<4).map { index in
                index < count ? file.littleEndian32(at: offset + index * 4) ?? 0 : 0
            }
            self.init(red: masks[0], green: masks[1], blue: masks[2], alpha: masks[3])
        } else if bitsPerPixel == 16 {
            self.init(red: 0x7C00, green: 0x3E0, blue: 0x1F)
        } else {
            self = .bgra
            if !isIcon || bitsPerPixel != 32 { alpha = 0 }
        }
    }

    /// Red, green, blue, alpha.
    var all: [UInt32] { [red, green, blue, alpha] }

    var maximumBitsPerComponent: Int { all.map(Self.bitCount).max() ?? 8 }

    /// Returns the number of bits from the lowest to the highest of a mask.
    static func bitCount(_ mask: UInt32) -> Int {
        mask == 0 ? 0 : 32 - mask.leadingZeroBitCount - mask.trailingZeroBitCount
    }
}
