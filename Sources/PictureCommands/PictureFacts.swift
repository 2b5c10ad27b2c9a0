// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Everything that a picture file says of itself, for people and for programs.
struct PictureFacts {
    private let path: String
    private let source: ImageSource
    private let thumbnail: ImageSource?
    private let metadata: MetadataFacts
    private let decoding: DecodingFacts?

    init(_ path: String, _ source: ImageSource, _ decoding: DecodingFacts?) {
        self.decoding = decoding
        self.path = path
        self.source = source
        thumbnail = source.embeddedThumbnail
        metadata = MetadataFacts(source)
    }

    /// The path, then a line a fact, indented.
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
            case 0: "for ever"
            case 1: "once"
            default: "\(header.loopCount) times"
            }
        return "\(header.frameCount), shown \(loops)"
    }

    private var sizeText: String {
        guard header.orientation != .upright else { return "\(source.pixelSize)" }
        return "\(source.pixelSize) (stored as \(header.storedSize), \(header.orientation.text))"
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
                ? "gamma \(gamma), primaries of sRGB" : "gamma \(gamma), primaries of its own"
        }
    }
}

extension Orientation {
    /// What has to be done to the stored pixels to show them upright.
    fileprivate var text: String {
        switch self {
        case .upright: "upright"
        case .mirroredHorizontally: "to be mirrored left to right"
        case .rotated180: "to be turned by 180°"
        case .mirroredVertically: "to be mirrored top to bottom"
        case .transposed: "to be mirrored along its diagonal"
        case .rotated90: "to be turned by 90° clockwise"
        case .transversed: "to be mirrored along its other diagonal"
        case .rotated270: "to be turned by 90° counter-clockwise"
        }
    }
}
