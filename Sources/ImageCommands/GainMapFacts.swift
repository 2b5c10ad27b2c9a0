// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The gain map of an image, as text and JSON.
struct GainMapFacts {
    private let metadata: GainMapMetadata
    private let size: PixelSize?
    private let byteCount: Int

    /// Reads the gain map of an image; an unreadable one counts as absent.
    init?(_ source: ImageSource) {
        guard let map = try? source.gainMap() else { return nil }
        metadata = map.metadata
        byteCount = map.file.count
        size = source.gainMapSize(map)
    }

    /// The size, the bytes and the headroom.
    var text: String {
        let headroom = max(metadata.baseHeadroom, metadata.alternateHeadroom)
        let stops = (headroom * 100).rounded() / 100
        return "\(size.map { "\($0), " } ?? "")\(byteCount) bytes, \(stops) stops of headroom, "
            + "base in \(metadata.isBaseHDR ? "HDR" : "SDR")"
    }

    /// Logarithms are to base 2.
    var json: JSON {
        func numbers(_ field: (GainMapMetadata.Channel) -> Double) -> JSON {
            .array(metadata.channels.map { .number(field($0)) })
        }
        return .object([
            .init("width", size.map { .integer($0.width) } ?? .null),
            .init("height", size.map { .integer($0.height) } ?? .null),
            .init("byteCount", .integer(byteCount)),
            .init("baseHeadroom", .number(metadata.baseHeadroom)),
            .init("alternateHeadroom", .number(metadata.alternateHeadroom)),
            .init("minimum", numbers(\.minimum)),
            .init("maximum", numbers(\.maximum)),
            .init("gamma", numbers(\.gamma)),
            .init("baseOffset", numbers(\.baseOffset)),
            .init("alternateOffset", numbers(\.alternateOffset)),
            .init("usesBaseColorSpace", .bool(metadata.usesBaseColorSpace)),
        ])
    }
}
