// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import EncodedImages
internal import Pixels

/// One chunk of a file: its FourCC and the range of its payload.
struct WebPChunk {
    let name: String
    let start: Int
    /// May extend beyond the end of a truncated file.
    let body: Range<Int>

    /// Reads the header of the chunk at `offset`; `nil` if the file ends before it does.
    init?(_ file: Span<UInt8>, at offset: Int) {
        guard offset >= 0, offset <= file.count - 8 else { return nil }
        name = String(decoding: (offset..<offset + 4).map { file[$0] }, as: UTF8.self)
        start = offset
        body = offset + 8..<offset + 8 + file.littleEndian(at: offset + 4, byteCount: 4)
    }

    /// The offset of the next chunk.
    var end: Int { body.upperBound + body.count % 2 }
}

/// The bitstream of an image or of a frame.
struct WebPBitstream {
    /// From `ALPH`, if present, to the end of `VP8 ` or `VP8L`.
    let range: Range<Int>
    let size: PixelSize
    let isLossless: Bool
    let hasAlpha: Bool

    /// Reads the header of a `VP8 ` or `VP8L` chunk.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - chunk: the chunk.
    ///   - alpha: the `ALPH` chunk of the image, if any.
    /// - Throws: ``CodecError`` if the header is truncated or invalid.
    init(
        _ file: Span<UInt8>, _ chunk: WebPChunk, alpha: WebPChunk?
    ) throws(CodecError) {
        isLossless = chunk.name == "VP8L"
        let offset = chunk.body.lowerBound
        let byteCount = isLossless ? 5 : 10
        guard chunk.body.count >= byteCount else {
            throw .malformed(
                reason: "\(chunk.name) chunk is shorter than its header", offset: offset)
        }
        guard file.count >= offset + byteCount else {
            throw .truncated(byteCount: file.count)
        }
        if isLossless {
            let bits = file.littleEndian(at: offset + 1, byteCount: 4)
            guard file[offset] == 0x2F, bits >> 29 == 0 else {
                throw .malformed(reason: "invalid VP8L signature or version", offset: offset)
            }
            size = PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
            hasAlpha = bits >> 28 & 1 == 1
            range = chunk.start..<chunk.body.upperBound
        } else {
            guard file[offset] & 1 == 0,
                file.littleEndian(at: offset + 3, byteCount: 3) == 0x2A_019D
            else { throw .malformed(reason: "VP8 frame is not a key frame", offset: offset) }
            size = PixelSize(
                width: file.littleEndian(at: offset + 6, byteCount: 2) & 0x3FFF,
                height: file.littleEndian(at: offset + 8, byteCount: 2) & 0x3FFF)
            hasAlpha = alpha != nil
            range = (alpha?.start ?? chunk.start)..<chunk.body.upperBound
        }
        guard !size.isEmpty else {
            throw .malformed(reason: "invalid image size: \(size)", offset: offset)
        }
    }

    /// The estimated number of bytes that libwebp allocates to decode the image.
    var memoryByteCount: Int {
        let area = size.area
        return isLossless ? area * 8 : hasAlpha ? area * 6 : area * 3
    }
}

/// A frame of an animation as stored.
struct WebPFrame {
    let region: PixelRect
    let milliseconds: Int
    let isBlended: Bool
    let clearsRegion: Bool
    let bitstream: WebPBitstream

    /// Reads an `ANMF` chunk of an animation with the deliveredRowCounts canvas.
    init(_ file: Span<UInt8>, _ chunk: WebPChunk, canvas: PixelSize) throws(CodecError) {
        let offset = chunk.body.lowerBound
        guard chunk.body.count >= 16 else {
            throw .malformed(reason: "ANMF chunk is shorter than its header", offset: offset)
        }
        guard file.count >= offset + 16 else { throw .truncated(byteCount: file.count) }
        func number(_ place: Int) -> Int {
            file.littleEndian(at: offset + place, byteCount: 3)
        }
        region = PixelRect(
            x: number(0) * 2, y: number(3) * 2, width: number(6) + 1, height: number(9) + 1)
        guard PixelRect(canvas).contains(region) else {
            throw .malformed(reason: "frame exceeds the canvas of \(canvas)", offset: offset)
        }
        milliseconds = number(12)
        isBlended = file[offset + 15] & 2 == 0
        clearsRegion = file[offset + 15] & 1 == 1
        var alpha: WebPChunk?
        var place = offset + 16
        while place < chunk.body.upperBound {
            guard let part = WebPChunk(file, at: place) else {
                throw .truncated(byteCount: file.count)
            }
            guard part.body.upperBound <= chunk.body.upperBound else { break }
            if part.name == "ALPH" { alpha = alpha ?? part }
            if part.name == "VP8 " || part.name == "VP8L" {
                bitstream = try WebPBitstream(file, part, alpha: alpha)
                guard bitstream.size == region.size else {
                    throw .malformed(
                        reason: "bitstream is \(bitstream.size), ANMF specifies \(region.size)",
                        offset: place)
                }
                return
            }
            place = part.end
        }
        throw .malformed(reason: "ANMF chunk without a bitstream", offset: offset)
    }
}

/// The parsed chunks of a file.
struct WebPContainer {
    private(set) var canvas = PixelSize(width: 0, height: 0)
    private(set) var isAnimated = false
    /// The image of a file that is not animated.
    private(set) var still: WebPBitstream?
    /// The `ANMF` chunks.
    private(set) var frames: [WebPChunk] = []
    private(set) var profile: Range<Int>?
    /// The EXIF block from its byte order mark on.
    private(set) var exifBlock: Range<Int>?
    private(set) var xmp: Range<Int>?
    private(set) var hasAlpha = false
    private(set) var loopCount = 1
    /// Whether the file is shorter than its RIFF header specifies.
    let isTruncated: Bool
    /// Whether the file ends before a chunk that its flags announce.
    private(set) var lacksChunks = false

    init(_ file: Span<UInt8>) throws(CodecError) {
        guard let riff = WebPChunk(file, at: 0), file.count >= 12 else {
            throw .truncated(byteCount: file.count)
        }
        guard riff.name == "RIFF",
            (8..<12).map({ file[$0] }) == Array("WEBP".utf8)
        else { throw .malformed(reason: "missing RIFF or WEBP signature", offset: 0) }
        isTruncated = riff.body.upperBound > file.count
        let end = min(riff.body.upperBound, file.count)
        var flags = 0
        var alpha: WebPChunk?
        var offset = 12
        while let chunk = WebPChunk(file, at: offset), chunk.body.lowerBound <= end {
            let isWhole = chunk.body.upperBound <= end
            // Only the end of a truncated chunk is known.
            if !isWhole, !isTruncated { break }
            switch chunk.name {
            case "VP8X" where offset == 12:
                guard isWhole || chunk.body.count < 10 else {
                    throw .truncated(byteCount: file.count)
                }
                flags = try readExtendedHeader(file, chunk)
            case "ANIM" where isAnimated && chunk.body.count >= 6 && isWhole:
                loopCount = file.littleEndian(at: offset + 12, byteCount: 2)
            case "ANMF" where isAnimated: frames.append(chunk)
            case "ALPH" where !isAnimated: alpha = alpha ?? chunk
            case "VP8 ", "VP8L":
                guard still == nil, !isAnimated else { break }
                let bitstream = try WebPBitstream(file, chunk, alpha: alpha)
                guard offset == 12 || bitstream.size == canvas else {
                    throw .malformed(
                        reason: "bitstream is \(bitstream.size), VP8X specifies \(canvas)",
                        offset: offset)
                }
                canvas = bitstream.size
                hasAlpha = hasAlpha || bitstream.hasAlpha
                still = bitstream
            case "ICCP" where profile == nil && isWhole: profile = chunk.body
            case "EXIF" where exifBlock == nil && isWhole:
                // Some encoders keep the prefix of a JPEG APP1 segment.
                let isPrefixed =
                    chunk.body.count >= 6
                    && file.littleEndian(at: chunk.body.lowerBound, byteCount: 4) == 0x6669_7845
                exifBlock = isPrefixed ? chunk.body.dropFirst(6) : chunk.body
            case "XMP " where xmp == nil && isWhole: xmp = chunk.body
            default: break
            }
            offset = chunk.end
        }
        guard still != nil || !frames.isEmpty else {
            if isTruncated { throw .truncated(byteCount: file.count) }
            throw .malformed(reason: "no image chunk", offset: min(offset, end))
        }
        lacksChunks = isTruncated && (isAnimated || (flags & 0x08 != 0 && exifBlock == nil))
    }

    /// Reads the `VP8X` chunk.
    ///
    /// - Returns: its feature flags.
    private mutating func readExtendedHeader(
        _ file: Span<UInt8>, _ chunk: WebPChunk
    ) throws(CodecError) -> Int {
        guard chunk.body.count >= 10 else {
            throw .malformed(
                reason: "invalid VP8X length \(chunk.body.count)", offset: chunk.start)
        }
        let flags = Int(file[chunk.start + 8])
        isAnimated = flags & 0x02 != 0
        hasAlpha = flags & 0x10 != 0
        canvas = PixelSize(
            width: file.littleEndian(at: chunk.start + 12, byteCount: 3) + 1,
            height: file.littleEndian(at: chunk.start + 15, byteCount: 3) + 1)
        return flags
    }
}
#endif
