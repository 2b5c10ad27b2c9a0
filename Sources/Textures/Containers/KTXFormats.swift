// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The numbers of formats in OpenGL, which KTX 1 uses, and in Vulkan, which KTX 2 uses.
enum KTXFormats {
    /// OpenGL's compressed formats that are opaque though blocks of the format can have alpha.
    static let opaque: Set<Int> = [0x8C00, 0x8C01, 0x8A54, 0x8A55, 0x83F0, 0x8C4C]

    static func compressed(openGL number: Int) throws(CodecError) -> TextureFormat {
        switch number {
        case 0x8C00, 0x8C02, 0x8A55, 0x8A57: return .pvrtc4
        case 0x8C01, 0x8C03, 0x8A54, 0x8A56: return .pvrtc2
        case 0x8D64: return .etc1
        case 0x9274, 0x9275: return .etc2
        case 0x9276, 0x9277: return .etc2PunchThrough
        case 0x9278, 0x9279: return .etc2Alpha
        case 0x9270: return .eacR(isSigned: false)
        case 0x9271: return .eacR(isSigned: true)
        case 0x9272: return .eacRG(isSigned: false)
        case 0x9273: return .eacRG(isSigned: true)
        case 0x83F0, 0x83F1, 0x8C4C, 0x8C4D: return .bc1
        case 0x83F2, 0x8C4E: return .bc2
        case 0x83F3, 0x8C4F: return .bc3
        case 0x8DBB: return .bc4(isSigned: false)
        case 0x8DBC: return .bc4(isSigned: true)
        case 0x8DBD: return .bc5(isSigned: false)
        case 0x8DBE: return .bc5(isSigned: true)
        case 0x8E8C, 0x8E8D: return .bc7
        case 0x8E8E, 0x8E8F: return .bc6h(isSigned: number == 0x8E8E)
        case 0x93B0...0x93BD, 0x93D0...0x93DD:
            return .astc(TextureFormat.astcBlockSizes[number & 15])
        default:
            throw .unsupported(feature: "OpenGL format 0x\(String(number, radix: 16))")
        }
    }

    static func packed(type: Int, format: Int) throws(CodecError) -> TextureFormat {
        switch (type, format) {
        case (0x1401, 0x1907): return .packed(.rgb888)
        case (0x1401, 0x1908): return .packed(.rgba8888)
        case (0x1401, 0x80E1): return .packed(.bgra8888)
        case (0x1401, 0x1909), (0x1401, 0x1903): return .packed(.luminance8)
        case (0x1401, 0x190A): return .packed(.luminanceAlpha88)
        case (0x1401, 0x1906): return .packed(.alpha8)
        case (0x8363, 0x1907): return .packed(.rgb565)
        case (0x8033, 0x1908): return .packed(.rgba4444)
        case (0x8034, 0x1908): return .packed(.rgba5551)
        default:
            throw .unsupported(
                feature: "OpenGL type 0x\(String(type, radix: 16)), "
                    + "format 0x\(String(format, radix: 16))")
        }
    }

    /// Returns the format of a `VkFormat`, whether it is opaque, and whether it states sRGB.
    static func format(
        vulkan number: Int
    ) throws(CodecError) -> (TextureFormat, isOpaque: Bool, isSRGB: Bool) {
        switch number {
        case 2: return (.packed(.rgba4444), false, false)
        case 4: return (.packed(.rgb565), true, false)
        case 6: return (.packed(.rgba5551), false, false)
        case 9, 15: return (.packed(.luminance8), true, number == 15)
        case 23, 29: return (.packed(.rgb888), true, number == 29)
        case 37, 43: return (.packed(.rgba8888), false, number == 43)
        case 44, 50: return (.packed(.bgra8888), false, number == 50)
        case 131, 132: return (.bc1, true, number == 132)
        case 133, 134: return (.bc1, false, number == 134)
        case 135, 136: return (.bc2, false, number == 136)
        case 137, 138: return (.bc3, false, number == 138)
        case 139, 140: return (.bc4(isSigned: number == 140), true, false)
        case 141, 142: return (.bc5(isSigned: number == 142), true, false)
        case 143, 144: return (.bc6h(isSigned: number == 144), true, false)
        case 145, 146: return (.bc7, false, number == 146)
        case 147, 148: return (.etc2, true, number == 148)
        case 149, 150: return (.etc2PunchThrough, false, number == 150)
        case 151, 152: return (.etc2Alpha, false, number == 152)
        case 153, 154: return (.eacR(isSigned: number == 154), true, false)
        case 155, 156: return (.eacRG(isSigned: number == 156), true, false)
        case 157...184:
            let size = TextureFormat.astcBlockSizes[(number - 157) / 2]
            return (.astc(size), false, number & 1 == 0)
        case 1_000_054_000, 1_000_054_004: return (.pvrtc2, false, number == 1_000_054_004)
        case 1_000_054_001, 1_000_054_005: return (.pvrtc4, false, number == 1_000_054_005)
        case 1_000_054_002, 1_000_054_003, 1_000_054_006, 1_000_054_007:
            throw .unsupported(feature: "PVRTC-II")
        default: throw .unsupported(feature: "Vulkan format \(number)")
        }
    }
}
