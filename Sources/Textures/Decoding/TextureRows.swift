// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Decodes the texels of a level of a texture to rows of pixels.
public struct TextureRows {
    private let header: TextureHeader
    private let level: Int
    private let surface: Int

    /// - Parameters:
    ///   - header: the texture.
    ///   - level: the number of the mip level, less than `header.levelCount`.
    ///   - surface: the face and the layer; see ``TextureHeader/bytes(ofLevel:surface:)``.
    public init(_ header: TextureHeader, level: Int, surface: Int = 0) {
        self.header = header
        self.level = level
        self.surface = surface
    }

    /// The size of the level.
    public var size: PixelSize { header.size(ofLevel: level) }

    /// The format of the rows.
    ///
    /// Floats become 16 bits of linear light; those below 0 and above 1 are clipped.
    public var pixelFormat: PixelFormat {
        if header.format.isFloat { return .rgb16 }
        if header.format.channelCount == 1 { return .gray8 }
        return header.alpha == .opaque ? .rgb8 : .rgba8
    }

    /// The memory for a row of blocks, in bytes.
    public var workByteCount: Int {
        header.format.blockCount(size).width * header.format.blockSize.width * 64
    }

    /// Decodes the rows, in the order in which they are stored.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - body: receives each row in ``pixelFormat``.
    /// - Throws: `CodecError/truncated(byteCount:)` if the file ends within the level, and the errors of
    ///   `body`.
    public func decode(
        _ file: Span<UInt8>, _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        if let scheme = header.supercompression {
            throw .unsupported(feature: "\(header.container.rawValue) with \(scheme.rawValue)")
        }
        let range = header.bytes(ofLevel: level, surface: surface)
        guard range.lowerBound >= 0, range.upperBound <= file.count else {
            throw .truncated(byteCount: file.count)
        }
        try decode(level: file.extracting(range), body)
    }

    /// Decodes the rows of blocks that have been taken from a file.
    ///
    /// - Parameters:
    ///   - bytes: the blocks of one face of one layer.
    ///   - body: receives each row in ``pixelFormat``.
    /// - Throws: `CodecError/truncated(byteCount:)` if there are too few blocks, and the errors of `body`.
    public func decode(
        level bytes: Span<UInt8>, _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        guard bytes.count >= header.byteCount(ofLevel: level) else {
            throw .truncated(byteCount: bytes.count)
        }
        let (size, format) = (size, pixelFormat)
        var pixels = [UInt8](repeating: 0, count: size.width * format.bytesPerPixel)
        let emit = { (texels: Span<Texel>) throws(CodecError) in
            Self.write(
                texels, size.width, format, premultiplies: header.alpha == .straight, to: &pixels)
            try body(pixels.span)
        }
        switch header.format {
        case .pvrtc2, .pvrtc4:
            var decoder = PVRTCDecoder(header.format, size, bytes)
            try decoder.decode(bytes, rowCount: size.height, emit)
        case .packed(let layout):
            try PackedTexels(layout).decode(bytes, size, emit)
        case .bc6h(let isSigned):
            try decodeFloats(bytes, isSigned: isSigned, body)
        default:
            try decodeBlocks(bytes, emit)
        }
    }

    private func decodeBlocks(
        _ bytes: Span<UInt8>, _ body: (Span<Texel>) throws(CodecError) -> Void
    ) throws(CodecError) {
        let blocks = header.format.blockCount(size)
        let blockSize = header.format.blockSize
        let width = blocks.width * blockSize.width
        let (step, format) = (header.format.blockByteCount, header.format)
        var rows = [Texel](repeating: .opaqueBlack, count: width * blockSize.height)
        for line in 0..<blocks.height {
            let start = line * blocks.width * step
            for column in 0..<blocks.width {
                let offset = start + column * step
                if case .astc = format {
                    let block = ASTCBlock.decode(
                        bytes.word(at: offset), bytes.word(at: offset + 8), blockSize)
                    for place in 0..<blockSize.area {
                        let (y, x) = place.quotientAndRemainder(dividingBy: blockSize.width)
                        rows[y * width + column * blockSize.width + x] = block[place]
                    }
                    continue
                }
                let block = Self.block(bytes, at: offset, format)
                for place in 0..<16 {
                    rows[(place >> 2) &* width &+ column &* 4 &+ place & 3] = block[place]
                }
            }
            for row in 0..<min(blockSize.height, size.height - line * blockSize.height) {
                try body(rows.span.extracting(row * width..<(row + 1) * width))
            }
        }
    }

    private func decodeFloats(
        _ bytes: Span<UInt8>, isSigned: Bool, _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        let blocks = header.format.blockCount(size)
        let stride = size.width * PixelFormat.rgb16.bytesPerPixel
        var rows = [UInt8](repeating: 0, count: stride * 4)
        for line in 0..<blocks.height {
            for column in 0..<blocks.width {
                let offset = (line * blocks.width + column) * 16
                let block = BC6HBlock.decode(
                    bytes.word(at: offset), bytes.word(at: offset + 8), isSigned: isSigned)
                var span = rows.mutableSpan
                for place in 0..<16 where column * 4 + place & 3 < size.width {
                    let pixel = (place >> 2) * size.width + column * 4 + place & 3
                    for channel in 0..<3 {
                        let value = Float(Float16(bitPattern: block[place][channel]))
                        span.storeSample16(
                            UInt16(min(max(value, 0), 1) * 65535 + 0.5), at: pixel * 3 + channel)
                    }
                }
            }
            for row in 0..<min(4, size.height - line * 4) {
                try body(rows.span.extracting(row * stride..<(row + 1) * stride))
            }
        }
    }

    private static func block(
        _ bytes: Span<UInt8>, at offset: Int, _ format: TextureFormat
    ) -> TexelBlock {
        let first = bytes.word(at: offset)
        func second() -> UInt64 { bytes.word(at: offset + 8) }
        switch format {
        case .etc1: return ETCBlocks.colors(first.byteSwapped, .etc1)
        case .etc2: return ETCBlocks.colors(first.byteSwapped, .etc2)
        case .etc2PunchThrough: return ETCBlocks.colors(first.byteSwapped, .punchThrough)
        case .etc2Alpha:
            var block = ETCBlocks.colors(second().byteSwapped, .etc2)
            let alphas = ETCBlocks.alpha(first.byteSwapped)
            for place in 0..<16 { block[place].w = alphas[place] }
            return block
        case .eacR(let isSigned):
            return gray(ETCBlocks.channel(first.byteSwapped, isSigned: isSigned))
        case .eacRG(let isSigned):
            return twoChannels(
                ETCBlocks.channel(first.byteSwapped, isSigned: isSigned),
                ETCBlocks.channel(second().byteSwapped, isSigned: isSigned))
        case .bc1: return BCBlocks.colors(first, hasFourColors: false)
        case .bc2: return BCBlocks.bc2(first, second())
        case .bc3: return BCBlocks.bc3(first, second())
        case .bc4(let isSigned): return gray(BCBlocks.channel(first, isSigned: isSigned))
        case .bc5(let isSigned):
            return twoChannels(
                BCBlocks.channel(first, isSigned: isSigned),
                BCBlocks.channel(second(), isSigned: isSigned))
        case .bc7: return BC7Block.decode(first, second())
        case .pvrtc2, .pvrtc4, .bc6h, .astc, .packed:
            preconditionFailure("\(format) has no separate blocks")
        }
    }

    private static func gray(_ values: InlineArray<16, UInt8>) -> TexelBlock {
        TexelBlock { Texel(values[$0], values[$0], values[$0], 255) }
    }

    private static func twoChannels(
        _ red: InlineArray<16, UInt8>, _ green: InlineArray<16, UInt8>
    ) -> TexelBlock {
        TexelBlock { Texel(red[$0], green[$0], 0, 255) }
    }

    /// Writes texels as pixels of a format.
    private static func write(
        _ texels: Span<Texel>, _ width: Int, _ format: PixelFormat, premultiplies: Bool,
        to pixels: inout [UInt8]
    ) {
        precondition(
            texels.count >= width && pixels.count >= width * format.bytesPerPixel, "a short row")
        if format == .rgb8 {
            writeOpaque(texels, width, to: &pixels)
            return
        }
        var result = pixels.mutableSpan
        switch format {
        case .gray8:
            for x in 0..<width { result[x] = texels[x].x }
        default:
            for x in 0..<width {
                let texel = texels[x]
                for channel in 0..<4 { result[x &* 4 &+ channel] = texel[channel] }
            }
            if premultiplies { PremultipliedAlpha.multiply(&result) }
        }
    }

    /// Writes red, green and blue of texels whose number was checked, four texels at a time.
    private static func writeOpaque(
        _ texels: Span<Texel>, _ width: Int, to pixels: inout [UInt8]
    ) {
        let wholeCount = width & ~3
        unsafe texels.withUnsafeBytes { source in
            unsafe pixels.withUnsafeMutableBytes { target in
                func texel(_ x: Int) -> UInt32 {
                    let word = unsafe source.load(fromByteOffset: x &* 4, as: UInt32.self)
                    return UInt32(littleEndian: word) & 0xFF_FFFF
                }
                func store(_ word: UInt32, _ offset: Int) {
                    unsafe target.storeBytes(
                        of: word.littleEndian, toByteOffset: offset, as: UInt32.self)
                }
                for x in stride(from: 0, to: wholeCount, by: 4) {
                    let (second, third) = (texel(x &+ 1), texel(x &+ 2))
                    store(texel(x) | second << 24, x &* 3)
                    store(second >> 8 | third << 16, x &* 3 &+ 4)
                    store(third >> 16 | texel(x &+ 3) << 8, x &* 3 &+ 8)
                }
            }
        }
        for x in wholeCount..<width {
            for channel in 0..<3 { pixels[x * 3 + channel] = texels[x][channel] }
        }
    }
}
