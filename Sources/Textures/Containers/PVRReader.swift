// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Reads the headers of PVR files of versions 1 to 3, which are little-endian.
///
/// - SeeAlso: Imagination Technologies, *PVR File Format Specification*.
package enum PVRReader {
    /// The bytes at 44 of version 2.
    package static let magic2 = Array("PVR!".utf8)
    /// The first bytes of version 3.
    package static let magic3 = Array("PVR\u{3}".utf8)
    private static let headerByteCount = 52

    static func recognizes(_ file: Span<UInt8>) -> Bool { isVersion3(file) || isVersion2(file) }

    private static func isVersion3(_ file: Span<UInt8>) -> Bool { file.has(magic3, at: 0) }

    private static func isVersion2(_ file: Span<UInt8>) -> Bool {
        file.has(magic2, at: 44) && file.littleEndian32(at: 0) == 52
    }

    static func header(of file: Span<UInt8>) throws(CodecError) -> TextureHeader {
        guard file.count >= headerByteCount else { throw .truncated(byteCount: file.count) }
        return isVersion3(file) ? try header3(of: file) : try header2(of: file)
    }

    private static func header2(of file: Span<UInt8>) throws(CodecError) -> TextureHeader {
        func field(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        let flags = field(16)
        let format = try format2(flags & 0xFF)
        let hasAlpha = !format.isPVRTC || field(40) != 0 || flags & 0x8000 != 0
        // The files cannot state it; those for this format are premultiplied by convention.
        var header = TextureHeader(
            .pvr2, format, PixelSize(width: field(8), height: field(4)),
            hasAlpha ? .premultiplied : .opaque)
        header.levelCount = field(12) + 1
        header.isFlipped = flags & 0x1_0000 != 0
        guard flags & 0x4000 == 0 else {
            throw .unsupported(feature: "volume textures")
        }
        // Older writers leave the number of surfaces at 0.
        let surfaceCount = max(1, field(48))
        if flags & 0x1000 != 0 {
            header.faceCount = 6
        } else {
            header.layerCount = surfaceCount
        }
        try header.check()
        header.placeLevels(from: headerByteCount, isLevelMajor: false)
        return header
    }

    private static func format2(_ number: Int) throws(CodecError) -> TextureFormat {
        switch number {
        case 0x00, 0x10: .packed(.rgba4444)
        case 0x01, 0x11: .packed(.rgba5551)
        case 0x05, 0x12: .packed(.rgba8888)
        case 0x02, 0x13: .packed(.rgb565)
        case 0x03, 0x14: .packed(.rgb555)
        case 0x04, 0x15: .packed(.rgb888)
        case 0x07, 0x16: .packed(.luminance8)
        case 0x08, 0x17: .packed(.luminanceAlpha88)
        case 0x0C, 0x18: .pvrtc2
        case 0x0D, 0x19: .pvrtc4
        case 0x1A: .packed(.bgra8888)
        case 0x1B: .packed(.alpha8)
        case 0x20: .bc1
        case 0x22: .bc2
        case 0x24: .bc3
        case 0x36: .etc1
        case 0x1C, 0x1D: throw .unsupported(feature: "PVRTC-II")
        default: throw .unsupported(feature: "PVR pixel type 0x\(String(number, radix: 16))")
        }
    }

    private static func header3(of file: Span<UInt8>) throws(CodecError) -> TextureHeader {
        func field(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        let flags = field(4)
        guard flags & 1 == 0 else { throw .unsupported(feature: "compressed PVR 3 files") }
        let format =
            field(12) == 0 ? try format3(field(8), channelType: field(20)) : try packed3(file)
        let hasAlpha = format.isPVRTC ? field(8) & 1 == 1 : true
        var header = TextureHeader(
            .pvr3, format, PixelSize(width: field(28), height: field(24)),
            !hasAlpha ? .opaque : flags & 2 != 0 ? .premultiplied : .straight)
        guard field(32) <= 1 else { throw .unsupported(feature: "volume textures") }
        header.layerCount = field(36)
        header.faceCount = field(40)
        header.levelCount = max(1, field(44))
        let metadataByteCount = field(48)
        guard metadataByteCount <= file.count - headerByteCount else {
            throw .truncated(byteCount: file.count)
        }
        header.isFlipped = isFlipped(
            file.extracting(headerByteCount..<headerByteCount + metadataByteCount))
        try header.check()
        header.placeLevels(from: headerByteCount + metadataByteCount, isLevelMajor: true)
        return header
    }

    /// Returns whether the block of metadata about the orientation states rows from the bottom.
    private static func isFlipped(_ metadata: Span<UInt8>) -> Bool {
        var offset = 0
        while offset <= metadata.count - 12 {
            let key = metadata.littleEndian(at: offset + 4, byteCount: 4)
            let byteCount = metadata.littleEndian(at: offset + 8, byteCount: 4)
            guard byteCount <= metadata.count - offset - 12 else { return false }
            if metadata.has(magic3, at: offset), key == 3, byteCount >= 2 {
                return metadata[offset + 13] == 1
            }
            offset += 12 + byteCount
        }
        return false
    }

    private static func format3(
        _ number: Int, channelType: Int
    ) throws(CodecError) -> TextureFormat {
        let isSigned = channelType == 1 || channelType == 3
        switch number {
        case 0, 1: return .pvrtc2
        case 2, 3: return .pvrtc4
        case 6: return .etc1
        case 7: return .bc1
        case 8, 9: return .bc2
        case 10, 11: return .bc3
        case 12: return .bc4(isSigned: isSigned)
        case 13: return .bc5(isSigned: isSigned)
        case 14: return .bc6h(isSigned: channelType == 12)
        case 15: return .bc7
        case 22: return .etc2
        case 23: return .etc2Alpha
        case 24: return .etc2PunchThrough
        case 25: return .eacR(isSigned: isSigned)
        case 26: return .eacRG(isSigned: isSigned)
        case 27...40: return .astc(TextureFormat.astcBlockSizes[number - 27])
        case 4, 5: throw .unsupported(feature: "PVRTC-II")
        case 41...50: throw .unsupported(feature: "ASTC of three dimensions")
        case 51, 52: throw .unsupported(feature: "Basis Universal")
        default: throw .unsupported(feature: "PVR pixel format \(number)")
        }
    }

    /// Returns the layout of four letters of channels and their numbers of bits, from the first byte
    /// for whole bytes, otherwise from the highest bit.
    private static func packed3(_ file: Span<UInt8>) throws(CodecError) -> TextureFormat {
        let channels = (0..<4).map { (name: file[8 + $0], bitCount: Int(file[12 + $0])) }
            .filter { $0.bitCount > 0 }
        let bitCount = channels.reduce(0) { $0 + $1.bitCount }
        let name = channels.map { "\(Character(Unicode.Scalar($0.name)))\($0.bitCount)" }.joined()
        guard bitCount % 8 == 0, bitCount <= 32, file.littleEndian(at: 20, byteCount: 4) < 4 else {
            throw .unsupported(feature: "PVR pixel format \(name)")
        }
        let areBytes = channels.allSatisfy { $0.bitCount == 8 }
        var layout = TexelLayout(byteCount: bitCount / 8, red: 0)
        var used = 0
        for (letter, count) in channels {
            let shift = areBytes ? used : bitCount - used - count
            let mask = UInt32(truncatingIfNeeded: (1 << count) - 1) << UInt32(shift)
            used += count
            switch letter {
            case UInt8(ascii: "r"): layout.red = mask
            case UInt8(ascii: "g"): layout.green = mask
            case UInt8(ascii: "b"): layout.blue = mask
            case UInt8(ascii: "a"): layout.alpha = mask
            case UInt8(ascii: "l"), UInt8(ascii: "i"):
                layout.red = mask
                layout.isLuminance = true
            case UInt8(ascii: "x"): break
            default: throw .unsupported(feature: "PVR pixel format \(name)")
            }
        }
        guard layout.isValid else { throw .unsupported(feature: "PVR pixel format \(name)") }
        return .packed(layout)
    }
}

extension Span<UInt8> {
    /// Returns whether these bytes stand at an offset.
    func has(_ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset <= count - bytes.count else { return false }
        for (index, byte) in bytes.enumerated() where self[offset + index] != byte { return false }
        return true
    }
}
