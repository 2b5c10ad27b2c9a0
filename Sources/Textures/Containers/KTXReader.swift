// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Reads the headers of KTX files of version 1.
///
/// - SeeAlso: Khronos Group, *KTX File Format Specification*, version 1.
package enum KTXReader {
    /// The first bytes of a file.
    package static let magic: [UInt8] = [
        0xAB, 0x4B, 0x54, 0x58, 0x20, 0x31, 0x31, 0xBB, 0x0D, 0x0A, 0x1A, 0x0A,
    ]
    private static let headerByteCount = 64

    static func recognizes(_ file: Span<UInt8>) -> Bool { file.has(magic, at: 0) }

    static func header(of file: Span<UInt8>) throws(CodecError) -> TextureHeader {
        guard file.count >= headerByteCount else { throw .truncated(byteCount: file.count) }
        func field(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        guard field(12) == 0x0403_0201 else {
            throw .unsupported(feature: "big-endian KTX files")
        }
        let internalFormat = field(28)
        let format =
            field(16) == 0
            ? try KTXFormats.compressed(openGL: internalFormat)
            : try KTXFormats.packed(type: field(16), format: field(24))
        var header = TextureHeader(
            .ktx, format, PixelSize(width: field(36), height: max(1, field(40))), .straight)
        if KTXFormats.opaque.contains(internalFormat) { header.alpha = .opaque }
        guard field(44) <= 1 else { throw .unsupported(feature: "volume textures") }
        header.layerCount = max(1, field(48))
        header.faceCount = field(52)
        header.levelCount = max(1, field(56))
        let metadataByteCount = field(60)
        guard metadataByteCount <= file.count - headerByteCount else {
            throw .truncated(byteCount: file.count)
        }
        header.isFlipped = isFlipped(
            file.extracting(headerByteCount..<headerByteCount + metadataByteCount))
        try header.check()
        try placeLevels(of: &header, file, from: headerByteCount + metadataByteCount)
        return header
    }

    /// Each level follows its size, and rows of uncompressed texels are padded to four bytes.
    private static func placeLevels(
        of header: inout TextureHeader, _ file: Span<UInt8>, from start: Int
    ) throws(CodecError) {
        var offset = start
        for level in 0..<header.levelCount {
            guard let stated = file.littleEndian32(at: offset) else {
                throw .truncated(byteCount: file.count)
            }
            let size = header.size(ofLevel: level)
            if case .packed(let layout) = header.format, size.width * layout.byteCount % 4 != 0 {
                throw .unsupported(feature: "KTX levels with padded rows")
            }
            header.levels.append(offset + 4..<offset + 4 + header.byteCount(ofLevel: level))
            // The size is that of one face of a cube map, otherwise of all layers.
            let isCube = header.faceCount == 6 && header.layerCount == 1
            offset += 4 + Int(stated) * (isCube ? 6 : 1)
            offset = (offset + 3) & ~3
        }
    }

    /// Returns whether the value of `KTXorientation` states rows from the bottom.
    private static func isFlipped(_ metadata: Span<UInt8>) -> Bool {
        let key = Array("KTXorientation\0".utf8)
        var offset = 0
        while offset <= metadata.count - 4 {
            let byteCount = metadata.littleEndian(at: offset, byteCount: 4)
            guard byteCount <= metadata.count - offset - 4 else { return false }
            if metadata.has(key, at: offset + 4) {
                let value = metadata.text(
                    at: offset + 4 + key.count, byteCount: max(0, byteCount - key.count))
                return value.contains("T=u")
            }
            offset = (offset + 4 + byteCount + 3) & ~3
        }
        return false
    }
}

/// Reads the headers of KTX files of version 2.
///
/// - SeeAlso: Khronos Group, *KTX File Format Specification*, version 2.
package enum KTX2Reader {
    /// The first bytes of a file.
    package static let magic: [UInt8] = [
        0xAB, 0x4B, 0x54, 0x58, 0x20, 0x32, 0x30, 0xBB, 0x0D, 0x0A, 0x1A, 0x0A,
    ]
    static let headerByteCount = 80
    static let levelEntryByteCount = 24

    static func recognizes(_ file: Span<UInt8>) -> Bool { file.has(magic, at: 0) }

    static func header(of file: Span<UInt8>) throws(CodecError) -> TextureHeader {
        guard file.count >= headerByteCount else { throw .truncated(byteCount: file.count) }
        func field(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        let descriptor = field(48)
        func descriptorByte(_ index: Int) -> Int {
            file.integer(at: descriptor + index, byteCount: 1) ?? 0
        }
        var supercompression: TextureHeader.Supercompression?
        switch (field(44), descriptorByte(12)) {
        case (1, _), (_, 163): throw .unsupported(feature: "Basis Universal ETC1S")
        case (_, 166): throw .unsupported(feature: "Basis Universal UASTC")
        case (0, _): break
        case (2, _): supercompression = .zstandard
        case (3, _): throw .unsupported(feature: "KTX 2 with zlib supercompression")
        case (let scheme, _):
            throw .unsupported(feature: "KTX 2 supercompression scheme \(scheme)")
        }
        let (format, isOpaque, isSRGB) = try KTXFormats.format(vulkan: field(12))
        let isPremultiplied = descriptorByte(15) & 1 == 1
        var header = TextureHeader(
            .ktx2, format, PixelSize(width: field(20), height: max(1, field(24))),
            isOpaque || isOpaqueBySwizzle(file)
                ? .opaque : isPremultiplied ? .premultiplied : .straight)
        header.supercompression = supercompression
        header.isLinear = format.isFloat || !isSRGB && descriptorByte(14) == 1
        guard field(28) <= 1 else { throw .unsupported(feature: "volume textures") }
        header.layerCount = max(1, field(32))
        header.faceCount = field(36)
        header.levelCount = max(1, field(40))
        try header.check()
        for level in 0..<header.levelCount {
            let entry = headerByteCount + level * levelEntryByteCount
            guard let offset = file.integer(at: entry, byteCount: 8, .littleEndian),
                offset < 1 << 40
            else { throw .truncated(byteCount: file.count) }
            guard supercompression != nil else {
                header.levels.append(offset..<offset + header.byteCount(ofLevel: level))
                continue
            }
            guard let byteCount = file.integer(at: entry + 8, byteCount: 8, .littleEndian),
                byteCount < 1 << 40
            else { throw .truncated(byteCount: file.count) }
            let wanted =
                header.byteCount(ofLevel: level) * header.faceCount * header.layerCount
            let stated = file.integer(at: entry + 16, byteCount: 8, .littleEndian) ?? 0
            guard stated == wanted else {
                throw .malformed(
                    reason: "level \(level) has \(stated) bytes, not \(wanted)",
                    offset: entry + 16)
            }
            header.levels.append(offset..<offset + byteCount)
        }
        return header
    }

    /// Returns whether the value of `KTXswizzle` replaces alpha by 1.
    private static func isOpaqueBySwizzle(_ file: Span<UInt8>) -> Bool {
        var offset = file.littleEndian(at: 56, byteCount: 4)
        let end = offset + file.littleEndian(at: 60, byteCount: 4)
        let key = Array("KTXswizzle\0".utf8)
        while offset <= min(end, file.count) - 4 {
            let byteCount = file.littleEndian(at: offset, byteCount: 4)
            guard byteCount <= file.count - offset - 4 else { return false }
            if file.has(key, at: offset + 4), byteCount >= key.count + 4 {
                return file[offset + 4 + key.count + 3] == UInt8(ascii: "1")
            }
            offset = (offset + 4 + byteCount + 3) & ~3
        }
        return false
    }
}
