// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// The chunks before the first `IDAT`.
struct PNGHeader {
    let layout: PNGLayout
    private(set) var palette: [UInt8] = []
    /// The data of `tRNS`: alpha of the palette's colours, or the transparent colour.
    private(set) var transparency: [UInt8]?
    /// A cursor at the first `IDAT` chunk.
    private(set) var dataChunks: PNGChunkCursor
    /// The frame control of the default image; `nil` if it is not a frame of the animation.
    private(set) var firstFrame: PNGFrameControl?
    private var facts: ImageHeader
    private var gamma: Double?
    private var primaries: ColorProfile.Chromaticities?
    private var isSRGB = false
    private var codePoints: CICP?

    init(_ file: Span<UInt8>, limits: DecodeLimits) throws(CodecError) {
        var chunks = PNGChunkCursor(limits: limits)
        dataChunks = chunks
        let first = try chunks.next(file)
        guard first.type == "IHDR" else {
            throw .malformed(reason: "first chunk is \(first.type), not IHDR", offset: 8)
        }
        layout = try PNGLayout(file, first.body)
        let models: [PNGLayout.ColorType: ImageHeader.ColorModel] = [
            .gray: .gray, .grayAlpha: .gray, .palette: .palette,
        ]
        facts = ImageHeader(
            storedSize: layout.size, colorModel: models[layout.colorType] ?? .rgb,
            bitsPerComponent: layout.bitDepth)
        while true {
            let start = chunks.offset
            // The CRC of `IDAT` is compared when pixels are decoded.
            if PNGChunk.isData(file, at: start) { break }
            let chunk: PNGChunk
            do throws(CodecError) {
                chunk = try chunks.next(file)
            } catch {
                // A damaged ancillary chunk does not prevent decoding.
                guard case .malformed = error, chunks.offset > start,
                    file[start + 4] & 0x20 != 0
                else { throw error }
                continue
            }
            try take(chunk, file, limits)
        }
        dataChunks = chunks
        guard layout.colorType != .palette || !palette.isEmpty else {
            throw .malformed(reason: "missing PLTE chunk", offset: chunks.offset)
        }
    }

    var imageHeader: ImageHeader {
        var header = facts
        header.hasAlpha =
            transparency != nil || [.grayAlpha, .rgba].contains(layout.colorType)
        if layout.isInterlaced { header.facts.append(.init("interlace", "Adam7")) }
        if let codePoints {
            header.colorProfile = codePoints.isSRGB ? .sRGB : .coded(codePoints)
            return header
        }
        guard header.colorProfile == .sRGB, !isSRGB, gamma != nil || primaries != nil else {
            return header
        }
        let gamma = gamma ?? 2.2
        let primaries = primaries ?? .sRGB
        // The values that sRGB files contain, rounded as PNG rounds them.
        if abs(gamma - 2.2) > 0.01 || !primaries.isClose(to: .sRGB) {
            header.colorProfile = .calibrated(gamma: gamma, primaries)
        }
        return header
    }

    private mutating func take(
        _ chunk: PNGChunk, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) {
        let body = file.extracting(chunk.body)
        switch chunk.type {
        case "PLTE":
            guard body.count % 3 == 0, (3...768).contains(body.count) else {
                throw .malformed(
                    reason: "invalid PLTE length \(body.count)", offset: chunk.body.lowerBound)
            }
            palette = body.indices.map { body[$0] }
        case "tRNS" where body.count <= 256:
            let needed = [.gray: 2, .rgb: 6, .palette: 1][layout.colorType] ?? .max
            if body.count >= needed { transparency = body.indices.map { body[$0] } }
        case "sRGB": isSRGB = true
        case "cICP": codePoints = PNGColorChunks.codePoints(body)
        case "gAMA":
            if let value = body.integer(at: 0, byteCount: 4), value > 0 {
                gamma = 100_000 / Double(value)
            }
        case "cHRM": primaries = ColorProfile.Chromaticities(body)
        case "iCCP":
            if let profile = Self.profile(body, limits) {
                facts.colorProfile = .icc(profile)
            }
        case "acTL":
            // A frame count that cannot fit in the file is ignored.
            if let count = body.integer(at: 0, byteCount: 4),
                let plays = body.integer(at: 4, byteCount: 4), count > 0,
                count <= file.count / PNGFrameControl.chunkByteCount
            {
                facts.frameCount = count
                facts.loopCount = plays
            }
        case "fcTL": firstFrame = PNGFrameControl(body)
        case "eXIf":
            try limits.check(.metadataByteCount, body.count)
            facts.orientation = EXIF(body).orientation ?? .upright
        case "IEND":
            throw .malformed(
                reason: "IEND before the first IDAT", offset: chunk.body.lowerBound)
        case "IHDR":
            throw .malformed(
                reason: "duplicate IHDR chunk", offset: chunk.body.lowerBound)
        default:
            guard chunk.isAncillary else {
                throw .unsupported(feature: "PNG critical chunk \(chunk.type)")
            }
        }
    }

    /// Returns the profile of an `iCCP` chunk: a name, a zero, the compression method and a
    /// zlib stream.
    ///
    /// Returns `nil` if it is damaged or too long.
    private static func profile(_ body: Span<UInt8>, _ limits: DecodeLimits) -> [UInt8]? {
        guard let end = body.indices.prefix(80).first(where: { body[$0] == 0 }),
            end + 2 < body.count, body[end + 1] == 0
        else { return nil }
        let stream = body.extracting(end + 2..<body.count)
        return (try? PNGInflater.inflated(stream, .profileByteCount, limits)) ?? nil
    }
}

extension ColorProfile.Chromaticities {
    fileprivate init?(_ body: Span<UInt8>) {
        guard body.count >= 32 else { return nil }
        let points = stride(from: 0, to: 32, by: 8).map { offset in
            Point(
                x: Double(body.integer(at: offset, byteCount: 4) ?? 0) / 100_000,
                y: Double(body.integer(at: offset + 4, byteCount: 4) ?? 0) / 100_000)
        }
        guard points.allSatisfy({ $0.y > 0 && $0.x <= 1 && $0.y <= 1 }) else { return nil }
        self.init(white: points[0], red: points[1], green: points[2], blue: points[3])
    }

    fileprivate func isClose(to other: Self) -> Bool {
        white.isClose(to: other.white) && red.isClose(to: other.red)
            && green.isClose(to: other.green) && blue.isClose(to: other.blue)
    }
}

extension ColorProfile.Chromaticities.Point {
    fileprivate func isClose(to other: Self) -> Bool {
        abs(x - other.x) < 0.002 && abs(y - other.y) < 0.002
    }
}
#endif
