// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// Parses the marker segments of a JPEG file up to its first scan.
struct JPEGHeaderReader {
    private let limits: DecodeLimits
    private var header: ImageHeader?
    private var exif: (value: EXIF, offset: Int)?
    private var profileParts: [UInt8: Range<Int>] = [:]
    private var profilePartCount: UInt8 = 0
    private var restartInterval = 0
    /// Whether the Multi-Picture Format lists images after this one.
    private var listsImages = false

    init(limits: DecodeLimits) { self.limits = limits }

    mutating func read(_ file: Span<UInt8>) throws(CodecError) -> ImageHeader {
        var segments = JPEGSegments()
        while true {
            let segment = try segments.next(file)
            if segment.marker == JPEGSegments.endOfImage {
                throw .malformed(
                    reason: "EOI marker before the first scan", offset: segments.offset)
            }
            if segment.marker == JPEGSegments.startOfScan { break }
            try parse(segment.marker, segment.body, file)
        }
        guard var header else {
            throw .malformed(
                reason: "SOS marker before the frame header", offset: segments.offset)
        }
        header.hasGainMap = listsImages
        header.orientation = exif?.value.orientation ?? .upright
        if let exif, let thumbnail = exif.value.thumbnail {
            header.thumbnail =
                exif.offset + thumbnail.lowerBound..<exif.offset + thumbnail.upperBound
        }
        if let profile = profile(file) { header.colorProfile = .icc(profile) }
        if restartInterval > 0 {
            header.facts.append(.init("restart interval", "\(restartInterval) blocks"))
        }
        return header
    }

    private mutating func parse(
        _ marker: UInt8, _ body: Range<Int>, _ file: Span<UInt8>
    ) throws(CodecError) {
        switch marker {
        case 0xC4, 0xC8, 0xCC:  // DHT, JPG, DAC
            break
        case 0xC0...0xCF:  // SOF
            guard header == nil else {
                throw .malformed(reason: "second frame header", offset: body.lowerBound)
            }
            header = try frame(marker, body, file)
        case 0xDD  // DRI
        where body.count >= 2:
            restartInterval = try JPEGSegments.integer(file, body.lowerBound)
        case 0xE1
        where exif == nil && JPEGSegments.starts(file.extracting(body), with: "Exif\0"):
            let start = min(body.lowerBound + 6, body.upperBound)
            exif = (EXIF(file.extracting(start..<body.upperBound)), start)
        case 0xE2
        where body.count > 14
            && JPEGSegments.starts(file.extracting(body), with: "ICC_PROFILE\0"):
            profileParts[file[body.lowerBound + 12]] = body.lowerBound + 14..<body.upperBound
            profilePartCount = file[body.lowerBound + 13]
        case 0xE2 where !listsImages:
            listsImages = JPEGGainMapReader.listsImages(file.extracting(body))
        default:
            break
        }
    }

    private func frame(
        _ marker: UInt8, _ body: Range<Int>, _ file: Span<UInt8>
    ) throws(CodecError) -> ImageHeader {
        let start = body.lowerBound
        guard body.count >= 6 else {
            throw .malformed(
                reason: "frame header of \(body.count) bytes is too short", offset: start)
        }
        let componentCount = Int(file[start + 5])
        guard body.count >= 6 + componentCount * 3, componentCount > 0 else {
            throw .malformed(
                reason: "frame header too short for \(componentCount) components",
                offset: start)
        }
        let size = PixelSize(
            width: try JPEGSegments.integer(file, start + 3),
            height: try JPEGSegments.integer(file, start + 1))
        guard size.width > 0 else {
            throw .malformed(reason: "image width is 0", offset: start + 3)
        }
        guard size.height > 0 else {
            throw .unsupported(feature: "JPEG with the height in a DNL segment")
        }
        let model: ImageHeader.ColorModel
        switch componentCount {
        case 1: model = .gray
        case 3: model = .rgb
        case 4: model = .cmyk
        default: throw .unsupported(feature: "JPEG with \(componentCount) components")
        }
        var header = ImageHeader(
            storedSize: size, colorModel: model, bitsPerComponent: Int(file[start]))
        header.facts.append(.init("coding", coding(marker)))
        if componentCount > 1 {
            let factors = (0..<componentCount).map { file[start + 7 + $0 * 3] }
            header.facts.append(.init("sampling", sampling(factors)))
        }
        return header
    }

    private func coding(_ marker: UInt8) -> String {
        let process =
            switch marker & 3 {
            case 0: "baseline"
            case 1: "extended sequential"
            case 2: "progressive"
            default: "lossless"
            }
        return marker >= 0xC8 ? "\(process), arithmetic" : process
    }

    /// Returns the J:a:b notation if it exists for the sampling factors, otherwise the factors.
    private func sampling(_ factors: [UInt8]) -> String {
        let pairs = factors.map { ($0 >> 4, $0 & 15) }
        if pairs.dropFirst().prefix(2).allSatisfy({ $0 == (1, 1) }) {
            switch pairs[0] {
            case (1, 1): return "4:4:4"
            case (2, 1): return "4:2:2"
            case (1, 2): return "4:4:0"
            case (2, 2): return "4:2:0"
            case (4, 1): return "4:1:1"
            default: break
            }
        }
        return pairs.map { "\($0.0)x\($0.1)" }.joined(separator: ",")
    }

    /// Returns the ICC profile; `nil`, as in other decoders, if a part is missing or the
    /// profile is too long.
    private func profile(_ file: Span<UInt8>) -> [UInt8]? {
        guard profilePartCount > 0 else { return nil }
        let byteCount = profileParts.values.reduce(0) { $0 + $1.count }
        guard limits.allowsProfile(byteCount: byteCount) else { return nil }
        var profile: [UInt8] = []
        profile.reserveCapacity(byteCount)
        for number in 1...profilePartCount {
            guard let part = profileParts[number] else { return nil }
            for index in part { profile.append(file[index]) }
        }
        return profile
    }
}
#endif
