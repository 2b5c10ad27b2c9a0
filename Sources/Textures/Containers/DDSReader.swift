// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Reads the headers of DirectDraw Surface files.
///
/// - SeeAlso: Microsoft, “Programming Guide for DDS”.
enum DDSReader {
    static let magic = Array("DDS ".utf8)
    private static let headerByteCount = 128

    static func recognizes(_ file: Span<UInt8>) -> Bool {
        file.has(magic, at: 0) && file.littleEndian32(at: 4) == 124
    }

    static func header(of file: Span<UInt8>) throws(CodecError) -> TextureHeader {
        guard file.count >= headerByteCount else { throw .truncated(byteCount: file.count) }
        func field(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        var start = headerByteCount
        let format: TextureFormat
        var alpha = TextureHeader.Alpha.straight
        var layerCount = 1
        if field(80) & 4 == 0 {
            format = .packed(try layout(file))
        } else if file.has(Array("DX10".utf8), at: 84) {
            start += 20
            guard file.count >= start else { throw .truncated(byteCount: file.count) }
            format = try DDSReader.format(dxgi: field(128))
            guard field(132) == 3 else { throw .unsupported(feature: "volume textures") }
            layerCount = max(1, field(140))
            switch field(144) & 7 {
            case 2: alpha = .premultiplied
            case 3: alpha = .opaque
            default: break
            }
        } else {
            (format, alpha) = try DDSReader.format(fourCC: file.text(at: 84, byteCount: 4))
        }
        var header = TextureHeader(
            .dds, format, PixelSize(width: field(16), height: field(12)), alpha)
        header.levelCount = field(8) & 0x2_0000 == 0 ? 1 : max(1, field(28))
        header.layerCount = layerCount
        if field(112) & 0x200 != 0 { header.faceCount = 6 }
        guard field(112) & 0x20_0000 == 0 else {
            throw .unsupported(feature: "volume textures")
        }
        try header.check()
        header.placeLevels(from: start, isLevelMajor: false)
        return header
    }

    private static func layout(_ file: Span<UInt8>) throws(CodecError) -> TexelLayout {
        func field(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        func mask(_ offset: Int) -> UInt32 { UInt32(truncatingIfNeeded: field(offset)) }
        let flags = field(80)
        let layout = TexelLayout(
            byteCount: field(88) / 8, red: flags & 2 != 0 ? 0 : mask(92), green: mask(96),
            blue: mask(100), alpha: flags & 3 != 0 ? mask(104) : 0,
            isLuminance: flags & 0x2_0000 != 0)
        guard layout.isValid else {
            throw .unsupported(feature: "DDS with \(field(88)) bits per pixel and these masks")
        }
        return layout
    }

    private static func format(
        fourCC: String
    ) throws(CodecError) -> (TextureFormat, TextureHeader.Alpha) {
        switch fourCC {
        case "DXT1": (.bc1, .straight)
        case "DXT2": (.bc2, .premultiplied)
        case "DXT3": (.bc2, .straight)
        case "DXT4": (.bc3, .premultiplied)
        case "DXT5": (.bc3, .straight)
        case "ATI1", "BC4U": (.bc4(isSigned: false), .opaque)
        case "BC4S": (.bc4(isSigned: true), .opaque)
        case "ATI2", "BC5U": (.bc5(isSigned: false), .opaque)
        case "BC5S": (.bc5(isSigned: true), .opaque)
        default: throw .unsupported(feature: "DDS with the compression \(fourCC)")
        }
    }

    private static func format(
        dxgi number: Int
    ) throws(CodecError) -> TextureFormat {
        // Formats without sRGB in the name are linear by definition, but hardly ever in practice.
        switch number {
        case 28, 29: .packed(.rgba8888)
        case 61: .packed(.luminance8)
        case 65: .packed(.alpha8)
        case 71, 72: .bc1
        case 74, 75: .bc2
        case 77, 78: .bc3
        case 80, 81: .bc4(isSigned: number == 81)
        case 83, 84: .bc5(isSigned: number == 84)
        case 85: .packed(.rgb565)
        case 87, 91: .packed(.bgra8888)
        case 95, 96: .bc6h(isSigned: number == 96)
        case 98, 99: .bc7
        default: throw .unsupported(feature: "DXGI format \(number)")
        }
    }
}
