// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Textures

/// A container of textures, whose blocks graphics processors read as they are.
///
/// The pages of a file are the mip levels of the first face of the first layer, the largest first, then
/// those of the other faces and layers. A page is decoded from the smallest mip level that suffices for the
/// result. See `Textures` for the formats of blocks.
struct TexturesCodec: ImageCodec {
    let format: ImageFormat
    let decoder: any ImageDecoder = TexturesDecoder()
    let encoder: (any ImageEncoder)? = nil

    init(_ name: String, _ mediaType: String, _ signatures: ImageFormat.Signature...) {
        format = ImageFormat(
            name: name, extensions: [name], mediaType: mediaType, signatures: signatures)
    }
}

/// PVR, KTX and DDS.
let textureEntry = CodecEntry(
    TexturesCodec(
        "pvr", "image/x-pvr", .init(PVRReader.magic3),
        .init(PVRReader.magic2, at: 44)),
    TexturesCodec("ktx", "image/ktx", .init(KTXReader.magic)),
    TexturesCodec("dds", "image/vnd.ms-dds", .init(Array("DDS \u{7C}\0\0\0".utf8))))

/// KTX of version 2, whose levels can be compressed once more.
let ktx2Entry = CodecEntry(
    TexturesCodec("ktx2", "image/ktx2", .init(KTX2Reader.magic)),
    preload: Supercompression.preload)

/// Decodes a mip level row by row.
struct TexturesDecoder: ImageDecoder {
    private let page: Int

    init(page: Int = 0) { self.page = page }

    func selecting(page: Int) -> (any ImageDecoder)? { TexturesDecoder(page: page) }

    /// Reads the header of the file, and which level of which face and layer the page is.
    private func open(
        _ bytes: Span<UInt8>
    ) throws(CodecError) -> (texture: TextureHeader, level: Int, surface: Int) {
        let texture = try TextureHeader(bytes)
        guard page < texture.imageCount else {
            throw .unsupported(feature: "page \(page + 1) of \(texture.imageCount)")
        }
        let (surface, level) = page.quotientAndRemainder(dividingBy: texture.levelCount)
        return (texture, level, surface)
    }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let (texture, level, surface) = try open(bytes)
        var header = ImageHeader(
            storedSize: texture.size(ofLevel: level),
            colorModel: texture.format.channelCount == 1 ? .gray : .rgb,
            bitsPerComponent: texture.format.isFloat ? 16 : 8)
        header.hasAlpha = texture.alpha != .opaque
        header.orientation = texture.isFlipped ? .mirroredVertically : .upright
        header.pageCount = texture.imageCount
        if texture.isLinear { header.colorProfile = .calibrated(gamma: 1, .sRGB) }
        header.facts = [
            .init("Container", texture.container.rawValue),
            .init("Texture format", texture.format.name),
            .init("Mip level", "\(level), of \(texture.levelCount)"),
            .init("Alpha", texture.alpha.rawValue),
        ]
        let (layer, face) = surface.quotientAndRemainder(dividingBy: texture.faceCount)
        if texture.faceCount > 1 {
            header.facts.append(.init("Face", "\(face), of \(texture.faceCount)"))
        }
        if texture.layerCount > 1 {
            header.facts.append(.init("Layer", "\(layer), of \(texture.layerCount)"))
        }
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let (texture, first, surface) = try open(bytes)
        let level = try rows.choose { (plan: DecodePlan) throws(CodecError) -> Int in
            self.level(of: texture, from: first, for: plan)
        }
        if level > first { rows.decodes(copyOfSize: texture.size(ofLevel: level)) }
        rows.report = DecodeReport(decoder: "textures", shrinkFactors: [1 << (level - first)])
        let texels = TextureRows(texture, level: level, surface: surface)
        try rows.workLimits.check(.memoryByteCount, texels.workByteCount)
        var decompressed: [UInt8]?
        let part = texture.bytes(ofLevel: level, surface: surface)
        if let scheme = texture.supercompression {
            let range = texture.levels[level]
            guard range.upperBound <= bytes.count else {
                throw .truncated(byteCount: bytes.count)
            }
            decompressed = try Supercompression.decompressed(
                bytes.extracting(range), scheme, byteCount: part.upperBound,
                of: part.count * texture.faceCount * texture.layerCount, limits: rows.workLimits)
        }
        let profile: ColorProfile = texture.isLinear ? .calibrated(gamma: 1, .sRGB) : .sRGB
        try rows.begin(texels.size, texels.pixelFormat, profile)
        guard let decompressed else {
            return try texels.decode(bytes) { (row: Span<UInt8>) throws(CodecError) in
                try rows.append(row)
            }
        }
        try texels.decode(level: decompressed.span.extracting(part)) {
            (row: Span<UInt8>) throws(CodecError) in
            try rows.append(row)
        }
    }

    /// Returns the smallest level that the result does not enlarge.
    private func level(of texture: TextureHeader, from first: Int, for plan: DecodePlan) -> Int {
        (first..<texture.levelCount).last {
            plan.stored(at: texture.size(ofLevel: $0)).reduction(ofChroma: false) >= 1
        } ?? first
    }
}
