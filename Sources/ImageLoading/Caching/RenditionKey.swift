// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
public import EncodedImages
internal import Pixels

/// Identifies a rendition: the version of its original, and the request as text.
///
/// Existing stores contain the text: a different text is a different rendition.
public struct RenditionKey: Hashable, Sendable {
    /// The version of the original.
    public let original: OriginalVersion
    /// The request as text.
    @ComparedByBytes public private(set) var request: String

    /// A key of a request that is already text.
    public init(_ original: OriginalVersion, request: String) {
        self.original = original
        self.request = request
    }

    init(_ original: OriginalVersion, _ request: RenditionRequest) {
        self.init(original, request: Self.text(request))
    }

    /// Returns the text of a request.
    static func text(_ request: RenditionRequest) -> String {
        text(
            request.image.options, request.image.processors.map(\.identity),
            format: request.format, animationFormat: request.animationFormat,
            request.encodeOptions) + (request.keepsGainMap ? "" : " gainmap=false")
    }

    /// Returns the text of an image of a view that is stored without loss.
    static func text(_ image: ImageKey, format: String) -> String {
        "picture " + text(image.options, image.processors, format: format, EncodeOptions())
    }

    private static func text(
        _ image: DecodeOptions, _ processors: [String], format: String?,
        animationFormat: String? = nil, _ encode: EncodeOptions
    ) -> String {
        // Options that were added later are written only if they differ from their defaults.
        var later = image.quality == .exact ? "" : " decode=\(image.quality.rawValue)"
        if !image.acceptsTruncated { later += " truncated=false" }
        if let region = image.region {
            later += " region=\(region.x),\(region.y),\(region.size)"
        }
        if image.anchor != .center { later += " anchor=\(image.anchor.x),\(image.anchor.y)" }
        if image.keepsDepth { later += " deep=true" }
        if let format = image.pixelFormat {
            later += " pixels=\(format.rawValue) dithering=\(image.dithering.rawValue)"
        }
        if encode.isLossless { later += " lossless=true" }
        if let target = encode.targetSSIM { later += " ssim=\(target)" }
        if let animationFormat { later += " animation=\(animationFormat.lowercased())" }
        // With their lengths, because an identity may contain the syntax of the text.
        for processor in processors {
            later += " process=\(processor.utf8.count):\(processor)"
        }
        return [
            "box=\(image.box.map(\.description) ?? "none")",
            "mode=\(image.mode.rawValue)",
            "enlarge=\(image.allowsEnlarging)",
            "orient=\(image.appliesOrientation)",
            "thumbnail=\(image.embeddedThumbnail.rawValue)",
            "kernel=\(image.kernel.rawValue)",
            "srgb=\(image.convertsToSRGB)",
            "format=\(format?.lowercased() ?? "auto")",
            "quality=\(encode.quality)",
            "progressive=\(encode.isProgressive)",
            "chroma=\(encode.chromaSubsampling.rawValue)",
            "level=\(encode.compressionLevel)",
        ].joined(separator: " ") + later
    }

    /// The hash by which the store finds the key; it then compares the whole key.
    var hash: Int64 {
        var hash = StableHash()
        hash.combine(original.name)
        hash.combine(original.version)
        hash.combine(request)
        return Int64(bitPattern: hash.value)
    }
}
