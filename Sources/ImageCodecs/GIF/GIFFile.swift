// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A frame of a file, as its blocks describe it.
struct GIFFrame {
    var region: PixelRect
    /// The range of the local or global colour table; `nil` if neither is present.
    var palette: Range<Int>?
    var isInterlaced: Bool
    var transparentIndex: Int?
    var disposal: StoredFrame.Disposal
    /// Hundredths of a second.
    var delay: Int
    /// The offset of the LZW minimum code size; the sub-blocks follow.
    var dataOffset: Int
}

/// The parsed blocks of a file.
struct GIFFile {
    private(set) var canvas: PixelSize
    private(set) var frames: [GIFFrame] = []
    /// The number of times that all frames are shown; 0 means forever.
    private(set) var loopCount = 1
    /// The bytes of the ICC profile, empty without one.
    private(set) var profile: [UInt8] = []
    private(set) var xmp: Range<Int>?
    private(set) var comment: [UInt8] = []
    /// Whether the file ends within a block.
    private(set) var isTruncated = false
    /// Whether the trailer is present.
    private(set) var hasTrailer = false

    private var control = GraphicControl()

    /// The graphic control extension of the next image.
    private struct GraphicControl {
        var transparentIndex: Int?
        var disposal = StoredFrame.Disposal.keep
        var delay = 0
    }

    /// Parses all blocks without decompressing images.
    init(_ file: Span<UInt8>, limits: DecodeLimits) throws(CodecError) {
        guard file.count >= 13 else { throw .truncated(byteCount: file.count) }
        canvas = PixelSize(
            width: Self.number(file, at: 6), height: Self.number(file, at: 8))
        var offset = 13
        let palette = Self.palette(file[10], &offset)
        do throws(CodecError) {
            while try readBlock(file, &offset, palette, limits) {}
        } catch {
            guard case .truncated = error, !frames.isEmpty else { throw error }
            isTruncated = true
        }
        guard !frames.isEmpty else {
            throw .malformed(reason: "no image descriptor", offset: offset)
        }
    }

    /// Reads the next block.
    ///
    /// - Returns: whether more blocks may follow.
    private mutating func readBlock(
        _ file: Span<UInt8>, _ offset: inout Int, _ palette: Range<Int>?, _ limits: DecodeLimits
    ) throws(CodecError) -> Bool {
        guard offset < file.count else {
            // Many encoders omit the trailer.
            guard !frames.isEmpty else { throw .truncated(byteCount: file.count) }
            return false
        }
        switch file[offset] {
        case 0x2C: try readImage(file, &offset, palette, limits)
        case 0x21: try readExtension(file, &offset, limits)
        case 0x3B:
            hasTrailer = true
            return false
        default:
            guard !frames.isEmpty else {
                throw .malformed(reason: "unknown block type \(file[offset])", offset: offset)
            }
            return false
        }
        return true
    }

    private mutating func readImage(
        _ file: Span<UInt8>, _ offset: inout Int, _ palette: Range<Int>?, _ limits: DecodeLimits
    ) throws(CodecError) {
        let start = offset
        guard start + 10 <= file.count else { throw .truncated(byteCount: file.count) }
        let region = PixelRect(
            x: Self.number(file, at: start + 1), y: Self.number(file, at: start + 3),
            width: Self.number(file, at: start + 5), height: Self.number(file, at: start + 7))
        guard !region.isEmpty else {
            throw .malformed(
                reason: "invalid image size: \(region.width) × \(region.height)", offset: start)
        }
        let flags = file[start + 9]
        offset = start + 10
        let own = Self.palette(flags, &offset)
        if frames.isEmpty {
            canvas.width = max(canvas.width, region.x + region.width)
            canvas.height = max(canvas.height, region.y + region.height)
        }
        frames.append(
            GIFFrame(
                region: region, palette: own ?? palette, isInterlaced: flags & 0x40 != 0,
                transparentIndex: control.transparentIndex, disposal: control.disposal,
                delay: control.delay, dataOffset: offset))
        control = GraphicControl()
        try limits.check(.frameCount, frames.count)
        guard offset < file.count else { throw .truncated(byteCount: file.count) }
        offset += 1
        try Self.skipSubBlocks(file, &offset)
    }

    private mutating func readExtension(
        _ file: Span<UInt8>, _ offset: inout Int, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard offset + 2 < file.count else { throw .truncated(byteCount: file.count) }
        let label = file[offset + 1]
        let body = offset + 3
        let bodyCount = Int(file[offset + 2])
        offset += 2
        guard body + bodyCount <= file.count else { throw .truncated(byteCount: file.count) }
        switch (label, bodyCount) {
        case (0xF9, 4...):
            let flags = file[body]
            control = GraphicControl(
                transparentIndex: flags & 1 == 1 ? Int(file[body + 3]) : nil,
                // 0 and 1 keep the frame; values above 3 act as 3, as in browsers.
                disposal: [.keep, .keep, .clear][safe: Int(flags >> 2 & 7)] ?? .restore,
                delay: Self.number(file, at: body + 1))
        case (0xFF, 11):
            let name = String(decoding: (body..<body + 11).map { file[$0] }, as: UTF8.self)
            offset = body + 11
            try readApplication(name, file, &offset, limits)
            return
        case (0xFE, _):
            if comment.isEmpty {
                var end = offset
                comment = try Self.joinedSubBlocks(file, &end, limit: 1_000) ?? []
            }
        default: break
        }
        try Self.skipSubBlocks(file, &offset)
    }

    private mutating func readApplication(
        _ name: String, _ file: Span<UInt8>, _ offset: inout Int, _ limits: DecodeLimits
    ) throws(CodecError) {
        let start = offset
        try Self.skipSubBlocks(file, &offset)
        switch name {
        case "NETSCAPE2.0", "ANIMEXTS1.0":
            guard offset >= start + 4, file[start] >= 3, file[start + 1] & 7 == 1 else { return }
            // The file contains the number of repetitions.
            let repeats = Self.number(file, at: start + 2)
            loopCount = repeats == 0 ? 0 : repeats + 1
        case "ICCRGBG1012":
            var place = start
            if let subBlocks = try Self.joinedSubBlocks(
                file, &place, limit: limits.maximumProfileByteCount)
            {
                profile = subBlocks
            }
        case "XMP DataXMP":
            // The packet is stored without sub-blocks. A trailer of the bytes from 255 down to 0
            // leads decoders that skip sub-blocks to the terminator.
            let end = offset - 258
            if end > start, file[end] == 1, file[end + 1] == 0xFF {
                try limits.check(.metadataByteCount, end - start)
                xmp = start..<end
            }
        default: break
        }
    }

    /// Returns the range of the colour table at `offset` if the packed field announces one.
    private static func palette(_ flags: UInt8, _ offset: inout Int) -> Range<Int>? {
        guard flags & 0x80 != 0 else { return nil }
        let start = offset
        offset += 3 << (Int(flags & 7) + 1)
        return start..<offset
    }

    private static func skipSubBlocks(
        _ file: Span<UInt8>, _ offset: inout Int
    ) throws(CodecError) {
        while offset < file.count {
            let count = Int(file[offset])
            offset += count + 1
            if count == 0 { return }
        }
        throw .truncated(byteCount: file.count)
    }

    /// Returns the joined sub-blocks up to the terminator; `nil` if they exceed `limit` bytes.
    static func joinedSubBlocks(
        _ file: Span<UInt8>, _ offset: inout Int, limit: Int
    ) throws(CodecError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while offset < file.count {
            let count = Int(file[offset])
            let end = offset + 1 + count
            if count == 0 { return bytes }
            guard end <= file.count else { break }
            guard bytes.count + count <= limit else { return nil }
            for index in offset + 1..<end { bytes.append(file[index]) }
            offset = end
        }
        throw .truncated(byteCount: file.count)
    }

    static func number(_ file: Span<UInt8>, at offset: Int) -> Int {
        file.littleEndian(at: offset, byteCount: 2)
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
