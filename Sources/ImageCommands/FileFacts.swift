// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The properties of an image file, as text and JSON.
struct FileFacts {
    private let path: String
    private let source: ImageSource
    private let thumbnail: ImageSource?
    private let metadata: MetadataFacts
    private let decoding: DecodingFacts?
    private let gainMap: GainMapFacts?

    init(_ path: String, _ source: ImageSource, _ decoding: DecodingFacts?) {
        self.decoding = decoding
        self.path = path
        self.source = source
        thumbnail = source.embeddedThumbnail
        metadata = MetadataFacts(source)
        gainMap = GainMapFacts(source)
    }

    /// The path, followed by one indented line per property.
    var text: String {
        var lines = [
            ("format", "\(source.format.name) (\(source.format.mediaType))"),
            ("size", sizeText),
            ("colours", "\(header.colorModel.rawValue), \(header.bitsPerComponent) bits"),
            ("alpha", header.hasAlpha ? "yes" : "no"),
            ("profile", profileText),
            ("frames", framesText),
            ("pages", "\(header.pageCount)"),
            ("thumbnail", thumbnail.map { "\($0.pixelSize), \($0.byteCount) bytes" } ?? "none"),
            ("file", "\(source.byteCount) bytes"),
        ]
        if let gainMap { lines.append(("gain map", gainMap.text)) }
        lines += header.facts.map { ($0.name, $0.value) }
        lines += metadata.lines
        if let decoding { lines.append(("decoding", decoding.text)) }
        let width = lines.map(\.0.count).max() ?? 0
        return lines.reduce(into: path) { text, line in
            let gap = String(repeating: " ", count: width - line.0.count + 2)
            text += "\n  \(line.0)\(gap)\(line.1)"
        }
    }

    var json: JSON {
        .object(members)
    }

    private var members: [JSON.Member] {
        let own: [JSON.Member] = [
            .init("file", .string(path)),
            .init("format", .string(source.format.name)),
            .init("mediaType", .string(source.format.mediaType)),
            .init("width", .integer(source.pixelSize.width)),
            .init("height", .integer(source.pixelSize.height)),
            .init("storedWidth", .integer(header.storedSize.width)),
            .init("storedHeight", .integer(header.storedSize.height)),
            .init("orientation", .integer(Int(header.orientation.rawValue))),
            .init("colorModel", .string(header.colorModel.rawValue)),
            .init("bitsPerComponent", .integer(header.bitsPerComponent)),
            .init("hasAlpha", .bool(header.hasAlpha)),
            .init("colorProfile", .string(profileText)),
            .init("frameCount", .integer(header.frameCount)),
            .init("loopCount", .integer(header.loopCount)),
            .init("pageCount", .integer(header.pageCount)),
            .init("thumbnail", thumbnail.map(Self.json) ?? .null),
            .init("byteCount", .integer(source.byteCount)),
            .init("facts", .object(header.facts.map { .init($0.name, .string($0.value)) })),
            .init("gainMap", gainMap?.json ?? .null),
            .init("metadata", metadata.json),
        ]
        return own + (decoding.map { [.init("decoding", $0.json)] } ?? [])
    }

    private var header: ImageHeader { source.header }

    private static func json(_ thumbnail: ImageSource) -> JSON {
        .object([
            .init("width", .integer(thumbnail.pixelSize.width)),
            .init("height", .integer(thumbnail.pixelSize.height)),
            .init("byteCount", .integer(thumbnail.byteCount)),
        ])
    }

    private var framesText: String {
        guard header.frameCount > 1 else { return "\(header.frameCount)" }
        let loops =
            switch header.loopCount {
            case 0: "forever"
            case 1: "once"
            default: "\(header.loopCount) times"
            }
        return "\(header.frameCount), played \(loops)"
    }

    private var sizeText: String {
        guard header.orientation != .upright else { return "\(source.pixelSize)" }
        return
            "\(source.pixelSize) (stored as \(header.storedSize), displayed \(header.orientation.text))"
    }

    private var profileText: String {
        switch header.colorProfile {
        case .sRGB: "sRGB"
        case .icc(let bytes):
            ICCProfile(bytes)?.description.map { String($0.prefix(300)) }
                ?? "ICC, \(bytes.count) bytes"
        case .coded(let points):
            "\(points.name) (CICP \(points.primaries)/\(points.transfer))"
        case .calibrated(let gamma, let chromaticities):
            chromaticities == .sRGB
                ? "gamma \(gamma), sRGB primaries" : "gamma \(gamma), custom primaries"
        }
    }
}

extension Orientation {
    /// The transformation of the stored pixels that makes them upright.
    fileprivate var text: String {
        switch self {
        case .upright: "upright"
        case .mirroredHorizontally: "mirrored left to right"
        case .rotated180: "rotated by 180°"
        case .mirroredVertically: "mirrored top to bottom"
        case .transposed: "transposed"
        case .rotated90: "rotated by 90° clockwise"
        case .transversed: "transposed along the other diagonal"
        case .rotated270: "rotated by 90° counter-clockwise"
        }
    }
}
