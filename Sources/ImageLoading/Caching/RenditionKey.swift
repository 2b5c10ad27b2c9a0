// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Which rendition: of which original, and what was asked of it, written out.
///
/// The text is part of the stores that exist: a different text is a different rendition.
public struct RenditionKey: Hashable, Sendable {
    public let original: OriginalVersion
    public let request: String

    public init(_ original: OriginalVersion, request: String) {
        self.original = original
        self.request = request
    }

    init(_ original: OriginalVersion, _ request: RenditionRequest) {
        self.init(original, request: Self.text(request))
    }

    /// What is asked for, written out.
    static func text(_ request: RenditionRequest) -> String {
        let image = request.image.options
        let encode = request.encodeOptions
        // Settings that came later are written out only if they are not the usual ones.
        var later = image.quality == .exact ? "" : " decode=\(image.quality.rawValue)"
        if image.acceptsTruncated { later += " truncated=true" }
        if image.keepsDepth { later += " deep=true" }
        if let format = image.pixelFormat {
            later += " pixels=\(format.rawValue) dithering=\(image.dithering.rawValue)"
        }
        if encode.isLossless { later += " lossless=true" }
        // With their lengths, because an identity may look like the rest of the text.
        for processor in request.image.processors.map(\.identity) {
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
            "format=\(request.format?.lowercased() ?? "auto")",
            "quality=\(encode.quality)",
            "progressive=\(encode.isProgressive)",
            "chroma=\(encode.chromaSubsampling.rawValue)",
            "level=\(encode.compressionLevel)",
        ].joined(separator: " ") + later
    }

    /// Where the store looks first; it then compares the whole key.
    var hash: Int64 {
        var hash = StableHash()
        hash.combine(original.name)
        hash.combine(original.version)
        hash.combine(request)
        return Int64(bitPattern: hash.value)
    }
}
