// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// How the texels of a texture are stored: in compressed blocks, or as packed samples.
public enum TextureFormat: Hashable, Sendable {
    /// PVRTC1 with 2 bits per pixel, in words of 8×4 pixels.
    case pvrtc2
    /// PVRTC1 with 4 bits per pixel, in words of 4×4 pixels.
    case pvrtc4
    /// ETC1, opaque colour in 4 bits per pixel.
    case etc1
    /// ETC2, opaque colour in 4 bits per pixel.
    case etc2
    /// ETC2 with one bit of alpha, in 4 bits per pixel.
    case etc2PunchThrough
    /// ETC2 with EAC alpha, in 8 bits per pixel.
    case etc2Alpha
    /// EAC with one channel of 11 bits, in 4 bits per pixel.
    case eacR(isSigned: Bool)
    /// EAC with two channels of 11 bits, in 8 bits per pixel.
    case eacRG(isSigned: Bool)
    /// BC1 (DXT1), colour with at most one bit of alpha in 4 bits per pixel.
    case bc1
    /// BC2 (DXT3), colour and 4 bits of alpha in 8 bits per pixel.
    case bc2
    /// BC3 (DXT5), colour and interpolated alpha in 8 bits per pixel.
    case bc3
    /// BC4 (ATI1), one interpolated channel in 4 bits per pixel.
    case bc4(isSigned: Bool)
    /// BC5 (ATI2), two interpolated channels in 8 bits per pixel.
    case bc5(isSigned: Bool)
    /// BC6H, opaque colour as half-precision floats in 8 bits per pixel.
    case bc6h(isSigned: Bool)
    /// BC7, colour and alpha in 8 bits per pixel.
    case bc7
    /// ASTC, colour and alpha in 128 bits per block of a size in pixels.
    case astc(PixelSize)
    /// Uncompressed texels of one to four bytes.
    case packed(TexelLayout)

    /// The size of a block in pixels; 1×1 for uncompressed texels.
    public var blockSize: PixelSize {
        switch self {
        case .pvrtc2: PixelSize(width: 8, height: 4)
        case .astc(let size): size
        case .packed: PixelSize(width: 1, height: 1)
        default: PixelSize(width: 4, height: 4)
        }
    }

    /// The size of a block in bytes.
    public var blockByteCount: Int {
        switch self {
        case .pvrtc2, .pvrtc4, .etc1, .etc2, .etc2PunchThrough, .eacR, .bc1, .bc4: 8
        case .etc2Alpha, .eacRG, .bc2, .bc3, .bc5, .bc6h, .bc7, .astc: 16
        case .packed(let layout): layout.byteCount
        }
    }

    /// Whether the format is PVRTC, whose words depend on their neighbours.
    public var isPVRTC: Bool { self == .pvrtc2 || self == .pvrtc4 }

    /// Whether samples are floats of linear light, which can exceed 1.
    public var isFloat: Bool {
        if case .bc6h = self { true } else { false }
    }

    /// The sizes of blocks of ASTC, in the order in which containers number them.
    static let astcBlockSizes = [
        (4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8),
        (10, 10), (12, 10), (12, 12),
    ].map { PixelSize(width: $0.0, height: $0.1) }

    /// The number of channels that the texels have: 1, 2, 3, or 4 if they can be transparent.
    public var channelCount: Int {
        switch self {
        case .eacR, .bc4: 1
        case .eacRG, .bc5: 2
        case .etc1, .etc2, .bc6h: 3
        case .packed(let layout): layout.channelCount
        default: 4
        }
    }

    /// The field's name for the format.
    public var name: String {
        switch self {
        case .pvrtc2: "PVRTC 2 bpp"
        case .pvrtc4: "PVRTC 4 bpp"
        case .etc1: "ETC1"
        case .etc2: "ETC2 RGB"
        case .etc2PunchThrough: "ETC2 RGB A1"
        case .etc2Alpha: "ETC2 RGBA"
        case .eacR(let isSigned): isSigned ? "EAC R11 signed" : "EAC R11"
        case .eacRG(let isSigned): isSigned ? "EAC RG11 signed" : "EAC RG11"
        case .bc1: "BC1"
        case .bc2: "BC2"
        case .bc3: "BC3"
        case .bc4(let isSigned): isSigned ? "BC4 signed" : "BC4"
        case .bc5(let isSigned): isSigned ? "BC5 signed" : "BC5"
        case .bc6h(let isSigned): isSigned ? "BC6H signed" : "BC6H"
        case .bc7: "BC7"
        case .astc(let size): "ASTC \(size)"
        case .packed(let layout): layout.name
        }
    }

    /// Returns the number of blocks in each direction that a level of a size consists of.
    public func blockCount(_ size: PixelSize) -> PixelSize {
        let least = isPVRTC ? 2 : 1
        let block = blockSize
        return PixelSize(
            width: max(least, (size.width + block.width - 1) / block.width),
            height: max(least, (size.height + block.height - 1) / block.height))
    }

    /// Returns the number of bytes of a level of a size whose sides are at most 65,535.
    public func byteCount(_ size: PixelSize) -> Int {
        let blocks = blockCount(size)
        return blocks.width * blocks.height * blockByteCount
    }
}

/// The samples of an uncompressed texel, as bit masks of a little-endian integer.
public struct TexelLayout: Hashable, Sendable {
    /// The number of bytes of a texel, 1 to 4.
    public var byteCount: Int
    /// The bits of red, or of luminance.
    public var red: UInt32
    /// The bits of green; 0 if there is none.
    public var green: UInt32
    /// The bits of blue; 0 if there is none.
    public var blue: UInt32
    /// The bits of alpha; 0 if the texels are opaque.
    public var alpha: UInt32
    /// Whether ``red`` is a grey level.
    public var isLuminance = false

    /// A layout with these masks.
    ///
    /// - Parameters:
    ///   - byteCount: the number of bytes of a texel, 1 to 4.
    ///   - red: the bits of red, or of luminance.
    ///   - green: the bits of green.
    ///   - blue: the bits of blue.
    ///   - alpha: the bits of alpha.
    ///   - isLuminance: whether `red` is a grey level.
    public init(
        byteCount: Int, red: UInt32, green: UInt32 = 0, blue: UInt32 = 0, alpha: UInt32 = 0,
        isLuminance: Bool = false
    ) {
        self.byteCount = byteCount
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
        self.isLuminance = isLuminance
    }

    /// Bytes of red, green, blue and alpha.
    public static let rgba8888 = TexelLayout(
        byteCount: 4, red: 0xFF, green: 0xFF00, blue: 0xFF_0000, alpha: 0xFF00_0000)
    /// Bytes of blue, green, red and alpha.
    public static let bgra8888 = TexelLayout(
        byteCount: 4, red: 0xFF_0000, green: 0xFF00, blue: 0xFF, alpha: 0xFF00_0000)
    /// Bytes of red, green and blue.
    public static let rgb888 = TexelLayout(
        byteCount: 3, red: 0xFF, green: 0xFF00, blue: 0xFF_0000)
    /// 5, 6 and 5 bits, red in the highest.
    public static let rgb565 = TexelLayout(
        byteCount: 2, red: 0xF800, green: 0x07E0, blue: 0x001F)
    /// 4 bits each, red in the highest and alpha in the lowest.
    public static let rgba4444 = TexelLayout(
        byteCount: 2, red: 0xF000, green: 0x0F00, blue: 0x00F0, alpha: 0x000F)
    /// 5 bits each, red in the highest, and alpha in the lowest bit.
    public static let rgba5551 = TexelLayout(
        byteCount: 2, red: 0xF800, green: 0x07C0, blue: 0x003E, alpha: 0x0001)
    /// 5 bits each, red in the highest but one.
    public static let rgb555 = TexelLayout(
        byteCount: 2, red: 0x7C00, green: 0x03E0, blue: 0x001F)
    /// A grey level of 8 bits.
    public static let luminance8 = TexelLayout(byteCount: 1, red: 0xFF, isLuminance: true)
    /// A grey level and alpha of 8 bits each.
    public static let luminanceAlpha88 = TexelLayout(
        byteCount: 2, red: 0xFF, alpha: 0xFF00, isLuminance: true)
    /// Alpha of 8 bits, without colour.
    public static let alpha8 = TexelLayout(byteCount: 1, red: 0, alpha: 0xFF)

    /// Whether each mask is one run of at most 8 bits within the texel and no two overlap.
    public var isValid: Bool {
        guard (1...4).contains(byteCount) else { return false }
        var used: UInt32 = byteCount == 4 ? 0 : ~0 << UInt32(byteCount * 8)
        for mask in [red, green, blue, alpha] where mask != 0 {
            let run = mask >> UInt32(mask.trailingZeroBitCount)
            guard run & (run &+ 1) == 0, run <= 0xFF, used & mask == 0 else { return false }
            used |= mask
        }
        return red | green | blue | alpha != 0
    }

    var channelCount: Int {
        if alpha != 0 { return 4 }
        return isLuminance || green | blue == 0 ? 1 : 3
    }

    /// The letters of the channels from the lowest bit, and their numbers of bits.
    var name: String {
        let channels = [
            (isLuminance ? "L" : "R", red), ("G", green), ("B", blue), ("A", alpha),
        ].filter { $0.1 != 0 }.sorted { $0.1 < $1.1 }
        return channels.map(\.0).joined() + " "
            + channels.map { String($0.1.nonzeroBitCount) }.joined(separator: ":")
    }
}
