// SPDX-License-Identifier: Apache-2.0

#if WebP
    internal import EncodedImages
    internal import Pixels

    /// One chunk of a file: its name, and where its body stands.
    struct WebPChunk {
        let name: String
        let start: Int
        /// May reach behind the end of a file that is cut short.
        let body: Range<Int>

        /// Reads the head of the chunk at `offset`; `nil` if it does not fit into the bytes.
        init?(_ file: Span<UInt8>, at offset: Int) {
            guard offset >= 0, offset <= file.count - 8 else { return nil }
            name = String(decoding: (offset..<offset + 4).map { file[$0] }, as: UTF8.self)
            start = offset
            body = offset + 8..<offset + 8 + file.littleEndian(at: offset + 4, byteCount: 4)
        }

        /// Where the next chunk stands.
        var end: Int { body.upperBound + body.count % 2 }
    }

    /// The compressed pixels of a picture or of a frame.
    struct WebPBitstream {
        /// From `ALPH`, if there is one, to the end of `VP8 ` or `VP8L`.
        let range: Range<Int>
        let size: PixelSize
        let isLossless: Bool
        let hasAlpha: Bool

        /// Reads the chunk `VP8 ` or `VP8L`.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - chunk: where it stands.
        ///   - alpha: the chunk `ALPH` that belongs to it.
        /// - Throws: ``CodecError``.
        init(
            _ file: Span<UInt8>, _ chunk: WebPChunk, alpha: WebPChunk?
        ) throws(CodecError) {
            isLossless = chunk.name == "VP8L"
            let offset = chunk.body.lowerBound
            let byteCount = isLossless ? 5 : 10
            guard chunk.body.count >= byteCount else {
                throw .malformed(reason: "a picture without a header", offset: offset)
            }
            guard file.count >= offset + byteCount else {
                throw .truncated(byteCount: file.count)
            }
            if isLossless {
                let bits = file.littleEndian(at: offset + 1, byteCount: 4)
                guard file[offset] == 0x2F, bits >> 29 == 0 else {
                    throw .malformed(reason: "no lossless picture", offset: offset)
                }
                size = PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
                hasAlpha = bits >> 28 & 1 == 1
                range = chunk.start..<chunk.body.upperBound
            } else {
                guard file[offset] & 1 == 0,
                    file.littleEndian(at: offset + 3, byteCount: 3) == 0x2A_019D
                else { throw .malformed(reason: "no key frame of VP8", offset: offset) }
                size = PixelSize(
                    width: file.littleEndian(at: offset + 6, byteCount: 2) & 0x3FFF,
                    height: file.littleEndian(at: offset + 8, byteCount: 2) & 0x3FFF)
                hasAlpha = alpha != nil
                range = (alpha?.start ?? chunk.start)..<chunk.body.upperBound
            }
            guard !size.isEmpty else {
                throw .malformed(reason: "a picture without pixels", offset: offset)
            }
        }

        /// The bytes that libwebp allocates for the pixels and on the way to them.
        var memoryByteCount: Int {
            let area = size.area
            return isLossless ? area * 8 : hasAlpha ? area * 6 : area * 3
        }
    }

    /// A frame of an animation as the file holds it.
    struct WebPFrame {
        let region: PixelRect
        let milliseconds: Int
        let isBlended: Bool
        let isCleared: Bool
        let bitstream: WebPBitstream

        /// Reads the chunk `ANMF` of an animation of that size.
        init(_ file: Span<UInt8>, _ chunk: WebPChunk, canvas: PixelSize) throws(CodecError) {
            let offset = chunk.body.lowerBound
            guard chunk.body.count >= 16 else {
                throw .malformed(reason: "a frame without a header", offset: offset)
            }
            guard file.count >= offset + 16 else { throw .truncated(byteCount: file.count) }
            func number(_ place: Int) -> Int {
                file.littleEndian(at: offset + place, byteCount: 3)
            }
            region = PixelRect(
                x: number(0) * 2, y: number(3) * 2, width: number(6) + 1, height: number(9) + 1)
            guard PixelRect(canvas).contains(region) else {
                throw .malformed(reason: "a frame outside of the canvas", offset: offset)
            }
            milliseconds = number(12)
            isBlended = file[offset + 15] & 2 == 0
            isCleared = file[offset + 15] & 1 == 1
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
                        throw .malformed(reason: "a frame of another size", offset: place)
                    }
                    return
                }
                place = part.end
            }
            throw .malformed(reason: "a frame without a picture", offset: offset)
        }
    }

    /// What the chunks of a file say.
    struct WebPContainer {
        private(set) var canvas = PixelSize(width: 0, height: 0)
        private(set) var isAnimated = false
        /// The picture of a file that is not animated.
        private(set) var still: WebPBitstream?
        /// Where the chunks `ANMF` stand.
        private(set) var frames: [WebPChunk] = []
        private(set) var profile: Range<Int>?
        /// From the byte order mark on.
        private(set) var exifBlock: Range<Int>?
        private(set) var xmp: Range<Int>?
        private(set) var hasAlpha = false
        private(set) var loopCount = 1
        /// Whether the file is shorter than it says.
        let isTruncated: Bool
        /// Whether the file has been cut before a chunk that it announces.
        private(set) var lacksChunks = false

        init(_ file: Span<UInt8>) throws(CodecError) {
            guard let riff = WebPChunk(file, at: 0), file.count >= 12 else {
                throw .truncated(byteCount: file.count)
            }
            guard riff.name == "RIFF",
                (8..<12).map({ file[$0] }) == Array("WEBP".utf8)
            else { throw .malformed(reason: "no WebP file", offset: 0) }
            isTruncated = riff.body.upperBound > file.count
            let end = min(riff.body.upperBound, file.count)
            var flags = 0
            var alpha: WebPChunk?
            var offset = 12
            while let chunk = WebPChunk(file, at: offset), chunk.body.lowerBound <= end {
                let isWhole = chunk.body.upperBound <= end
                // What is known of a chunk that has been cut is where it would have ended.
                if !isWhole, !isTruncated { break }
                switch chunk.name {
                case "VP8X" where offset == 12:
                    guard chunk.body.count >= 10 else {
                        throw .malformed(reason: "a header that is too short", offset: offset)
                    }
                    guard isWhole else { throw .truncated(byteCount: file.count) }
                    flags = Int(file[offset + 8])
                    isAnimated = flags & 0x02 != 0
                    hasAlpha = flags & 0x10 != 0
                    canvas = PixelSize(
                        width: file.littleEndian(at: offset + 12, byteCount: 3) + 1,
                        height: file.littleEndian(at: offset + 15, byteCount: 3) + 1)
                case "ANIM" where isAnimated && chunk.body.count >= 6 && isWhole:
                    loopCount = file.littleEndian(at: offset + 12, byteCount: 2)
                case "ANMF" where isAnimated: frames.append(chunk)
                case "ALPH" where !isAnimated: alpha = alpha ?? chunk
                case "VP8 ", "VP8L":
                    guard still == nil, !isAnimated else { break }
                    let bitstream = try WebPBitstream(file, chunk, alpha: alpha)
                    guard offset == 12 || bitstream.size == canvas else {
                        throw .malformed(reason: "a picture of another size", offset: offset)
                    }
                    canvas = bitstream.size
                    hasAlpha = hasAlpha || bitstream.hasAlpha
                    still = bitstream
                case "ICCP" where profile == nil && isWhole: profile = chunk.body
                case "EXIF" where exifBlock == nil && isWhole:
                    // Some programs leave what a JPEG has in front of it.
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
                throw .malformed(reason: "the file has no picture", offset: min(offset, end))
            }
            lacksChunks = isTruncated && (isAnimated || (flags & 0x08 != 0 && exifBlock == nil))
        }
    }
#endif
