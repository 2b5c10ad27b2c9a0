// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import EncodedImages
internal import Pixels

/// Adds a colour profile and metadata to a WebP file.
struct WebPMuxer {
    private let profile: [UInt8]
    private let metadata: MetadataBlocks

    init(_ profile: ColorProfile, _ metadata: MetadataBlocks) {
        self.profile = profile.iccBytes(isGray: false) ?? []
        self.metadata = metadata
    }

    /// Rewrites a file with a `VP8X` header, the profile and the metadata.
    ///
    /// - Parameters:
    ///   - file: a file without profile and metadata.
    ///   - hasAlpha: whether its pixels may be transparent.
    /// - Returns: the same file if there is no profile and no metadata.
    /// - Throws: ``CodecError`` if the file is invalid or the result exceeds 4 GiB.
    func completed(_ file: [UInt8], hasAlpha: Bool) throws(CodecError) -> [UInt8] {
        guard !profile.isEmpty || metadata.exif != nil || metadata.xmp != nil else {
            return file
        }
        let bytes = file.span
        let container = try WebPContainer(bytes)
        var flags: UInt8 = container.isAnimated ? 0x02 : 0
        if hasAlpha && container.hasAlpha { flags |= 0x10 }
        if !profile.isEmpty { flags |= 0x20 }
        if metadata.exif != nil { flags |= 0x08 }
        if metadata.xmp != nil { flags |= 0x04 }
        let size = container.canvas
        var chunks = Self.chunk(
            "VP8X",
            [flags, 0, 0, 0] + Self.number(size.width - 1, byteCount: 3)
                + Self.number(size.height - 1, byteCount: 3))
        if !profile.isEmpty { chunks += Self.chunk("ICCP", profile) }
        var offset = 12
        while let chunk = WebPChunk(bytes, at: offset) {
            if chunk.name != "VP8X" {
                chunks += file[chunk.start..<min(chunk.end, file.count)]
            }
            offset = chunk.end
        }
        if let exif = metadata.exif { chunks += Self.chunk("EXIF", exif) }
        if let xmp = metadata.xmp { chunks += Self.chunk("XMP ", xmp) }
        guard chunks.count < UInt32.max - 16 else {
            throw .unsupported(feature: "WebP of more than 4 GiB")
        }
        return Self.chunk("RIFF", Array("WEBP".utf8) + chunks)
    }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + number(body.count, byteCount: 4) + body
            + (body.count.isMultiple(of: 2) ? [] : [0])
    }

    private static func number(_ value: Int, byteCount: Int) -> [UInt8] {
        [UInt8](value, byteCount: byteCount, .littleEndian)
    }
}
#endif
