// SPDX-License-Identifier: Apache-2.0

/// A URL path in the syntax of imgproxy: `/SIGNATURE/rs:fill:300:400/g:no/plain/house/1.jpg@webp`.
///
/// Clients of imgproxy can switch to this server by changing the host name.
///
/// - SeeAlso: imgproxy's documentation, “Processing an image”.
struct ImgproxyPath {
    /// The first segment of the path.
    let signature: Substring
    /// The signed text: the path after the signature.
    let signed: String
    /// The options of the rendition.
    let options: RenditionOptions
    /// The path in the served folder, or a URL.
    let source: String
    /// The expiry time in seconds since 1970; `nil` if it never expires.
    let expires: Int?
    /// Whether the path has options other than presets.
    let hasOwnOptions: Bool
    /// Whether the path names a preset.
    let hasPreset: Bool

    /// Parses a path.
    ///
    /// - Parameters:
    ///   - path: the percent-encoded path.
    ///   - maximumSide: the largest width or height in pixels.
    ///   - formats: the names of encodable formats, by their names in paths.
    ///   - known: the options of presets, by their names.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for an unknown or invalid option.
    init(
        _ path: String, maximumSide: Int, formats: [String: String],
        presets known: [String: RenditionOptions]
    ) throws(ServerError) {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2, let signature = parts.first else {
            throw .malformedRequest(reason: "missing source in the imgproxy URL")
        }
        self.signature = signature
        signed = String(path.dropFirst(1 + signature.count))
        var reader = ImgproxyOptions(maximumSide: maximumSide, formats: formats, presets: known)
        var rest = parts.dropFirst()
        while let part = rest.first, part.contains(":") {
            try reader.read(part)
            rest = rest.dropFirst()
        }
        let (source, format) = try Self.source(rest)
        if let format {
            guard let name = formats[format.lowercased()] else {
                throw .malformedRequest(
                    reason: "unknown format \u{201C}\(format.prefix(32))\u{201D}")
            }
            reader.options.format = name
            reader.hasOwnOptions = true
        }
        self.source = source
        options = reader.orientedOptions
        expires = reader.expires
        hasOwnOptions = reader.hasOwnOptions
        hasPreset = reader.hasPreset
    }

    /// Whether a path has the syntax of imgproxy: its second segment is `plain` or an option.
    ///
    /// Files in a folder of such a name on the second level are hidden by it.
    static func matches(_ path: String) -> Bool {
        let parts = path.dropFirst().split(separator: "/", maxSplits: 2)
        guard parts.count >= 2, let name = parts[1].split(separator: ":").first else {
            return false
        }
        return parts[1] == "plain"
            || (parts[1].contains(":") && ImgproxyOptions.names.contains(name))
    }

    /// Splits the last segments into the source and the name of a format.
    private static func source(
        _ parts: ArraySlice<Substring>
    ) throws(ServerError) -> (source: String, format: String?) {
        let isPlain = parts.first == "plain"
        let text = (isPlain ? parts.dropFirst() : parts).joined(separator: "/")
        // The Base64 form may be split into segments.
        let mark: Character = isPlain ? "@" : "."
        let pieces = text.split(separator: mark, omittingEmptySubsequences: false)
        let format = pieces.count > 1 && !(pieces.last ?? "").contains("/") ? pieces.last : nil
        let name = format.map { text.dropLast($0.count + 1) } ?? text[...]
        let decoded =
            isPlain
            ? RequestPath.decoded(name.utf8)
            : PathSignature.bytes(Substring(name.filter { $0 != "/" }))
                .flatMap { String(validating: $0, as: UTF8.self) }
        guard let decoded, !decoded.isEmpty else {
            throw .malformedRequest(reason: "missing source in the imgproxy URL")
        }
        return (decoded, format.map(String.init))
    }
}
