// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading
internal import Pixels

extension IIIFPath.Version {
    /// The URI of the JSON-LD context.
    var contextURI: String { "http://iiif.io/api/image/\(rawValue)/context.json" }
    /// The URI of the compliance level.
    var profileURI: String { "http://iiif.io/api/image/\(rawValue)/level2.json" }
}

/// The JSON-LD object of `info.json`.
struct IIIFInformation: Encodable {
    struct Size: Encodable {
        let width: Int
        let height: Int
    }

    struct Tiles: Encodable {
        let width: Int
        let scaleFactors: [Int]
    }

    private let version: IIIFPath.Version
    private let url: String
    private let size: PixelSize
    private let maximumSide: Int
    private let sizes: [Size]
    private let tiles: Tiles

    init(
        _ version: IIIFPath.Version, url: String, size: PixelSize, maximumSide: Int,
        tileSide: Int
    ) {
        self.version = version
        self.url = url
        self.size = size
        self.maximumSide = maximumSide
        let pyramid = TilePyramid(size, tileSide: tileSide)
        sizes = (0..<pyramid.levelCount).reversed().map(pyramid.size(ofLevel:))
            .filter { $0.largestSide <= maximumSide }
            .map { Size(width: $0.width, height: $0.height) }
        tiles = Tiles(width: tileSide, scaleFactors: pyramid.scaleFactors)
    }

    private enum Key: String, CodingKey {
        case context = "@context"
        case oldIdentifier = "@id"
        case identifier = "id"
        case type, `protocol`, profile, width, height, maxWidth, maxHeight, sizes, tiles
        case extraQualities, extraFormats, extraFeatures
        case formats, qualities, supports
    }

    private static let qualities = ["color", "gray", "bitonal"]
    private static let features = [
        "baseUriRedirect", "canonicalLinkHeader", "cors", "jsonldMediaType", "mirroring",
        "profileLinkHeader", "regionByPct", "regionByPx", "regionSquare", "rotationBy90s",
        "sizeByConfinedWh", "sizeByH", "sizeByPct", "sizeByW", "sizeByWh",
    ]

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(version.contextURI, forKey: .context)
        try object.encode("http://iiif.io/api/image", forKey: .protocol)
        try object.encode(size.width, forKey: .width)
        try object.encode(size.height, forKey: .height)
        try object.encode(sizes, forKey: .sizes)
        try object.encode([tiles], forKey: .tiles)
        switch version {
        case .three:
            try object.encode(url, forKey: .identifier)
            try object.encode("ImageService3", forKey: .type)
            try object.encode("level2", forKey: .profile)
            if size.largestSide > maximumSide {
                try object.encode(maximumSide, forKey: .maxWidth)
                try object.encode(maximumSide, forKey: .maxHeight)
            }
            try object.encode(Self.qualities, forKey: .extraQualities)
            try object.encode(["webp", "tif", "gif"], forKey: .extraFormats)
            try object.encode(Self.features + ["sizeUpscaling"], forKey: .extraFeatures)
        case .two:
            try object.encode(url, forKey: .oldIdentifier)
            var profile = object.nestedUnkeyedContainer(forKey: .profile)
            try profile.encode(version.profileURI)
            var more = profile.nestedContainer(keyedBy: Key.self)
            try more.encode(["webp", "tif", "gif"], forKey: .formats)
            try more.encode(Self.qualities, forKey: .qualities)
            try more.encode(Self.features + ["sizeAboveFull"], forKey: .supports)
            if size.largestSide > maximumSide {
                try more.encode(maximumSide, forKey: .maxWidth)
                try more.encode(maximumSide, forKey: .maxHeight)
            }
        }
    }
}
