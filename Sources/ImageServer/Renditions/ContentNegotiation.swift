// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes

/// Completes the options of a rendition from the request's headers and the configuration.
struct ContentNegotiation: Sendable {
    /// The formats whose animations are played by all clients that accept them.
    ///
    /// Some browsers that accept AVIF or JPEG XL show the first frame only.
    private static let playedFormatNames: Set = ["webp"]

    /// The formats that clients can request by `Accept`, the best first.
    let formats: [ImageFormat]
    /// The names of encodable formats with animations.
    let animationFormatNames: Set<String>
    /// The names of display pixel formats.
    let displayFormatNames: Set<String>
    let usesClientHints: Bool
    let sizes: SizeLadder
    /// The largest width or height in pixels.
    let maximumSide: Int
    /// The target SSIM of renditions without a quality; `nil` for the default quality.
    let targetSSIM: Double?

    /// The names of the headers that renditions may vary by.
    var varyingNames: [HTTPField.Name] {
        (formats.isEmpty ? [] : [.accept])
            + (usesClientHints ? ClientHints.names.compactMap { HTTPField.Name($0) } : [])
    }

    /// Completes the options from the headers, and rounds the size up to a step of the ladder.
    ///
    /// - Returns: also the names of the headers that determined the options, for `Vary`.
    func negotiated(
        _ requested: RenditionOptions, _ headers: HTTPFields
    ) -> (options: RenditionOptions, varying: [String]) {
        let (options, varying) = completed(requested, headers)
        return (snapped(withDefaultQuality(options)), varying)
    }

    /// Rounds the size up to a step of the ladder.
    func snapped(_ options: RenditionOptions) -> RenditionOptions {
        sizes.snapped(
            options, maximumSide: maximumSide,
            isForDisplay: options.format.map(displayFormatNames.contains) ?? false)
    }

    /// Sets the target SSIM if the options specify no quality.
    func withDefaultQuality(_ requested: RenditionOptions) -> RenditionOptions {
        var options = requested
        if options.leavesQualityOpen { options.targetSSIM = targetSSIM }
        return options
    }

    private func completed(
        _ requested: RenditionOptions, _ headers: HTTPFields
    ) -> (options: RenditionOptions, varying: [String]) {
        var options = requested
        var varying: [String] = []
        var accepted: AcceptedFormats?
        if requested.format == nil, !formats.isEmpty {
            varying.append("Accept")
            let acceptedFormats = AcceptedFormats(headers[.accept])
            options.format = acceptedFormats.best(of: formats)?.name
            accepted = acceptedFormats
        }
        options.animationFormat = animationFormat(requested, accepted)
        // Most requests need no hints, and skip parsing them.
        guard usesClientHints || requested.leavesWidthOpen else { return (options, varying) }
        let hints = ClientHints(usesClientHints ? headers : [:])
        if requested.leavesWidthOpen {
            options.leavesWidthOpen = false
            options.width = hints.width(atMost: maximumSide)
        } else if requested.density == nil {
            options.density = hints.savesData ? 1 : hints.density
        }
        if requested.leavesQualityOpen, hints.savesData {
            options.quality = ClientHints.savingQuality
        }
        if usesClientHints {
            if requested.leavesWidthOpen { varying += ["Sec-CH-Width", "Sec-CH-Viewport-Width"] }
            if requested.density == nil { varying.append("Sec-CH-DPR") }
            if requested.density == nil || requested.leavesQualityOpen {
                varying += ["ECT", "Save-Data"]
            }
        }
        return (options, varying)
    }

    /// The output format of animations: that of the path, otherwise one that the client accepts,
    /// otherwise GIF, which all clients play.
    private func animationFormat(
        _ requested: RenditionOptions, _ accepted: AcceptedFormats?
    ) -> String? {
        guard !requested.isStill else { return nil }
        if let format = requested.format {
            return animationFormatNames.contains(format) ? format : nil
        }
        let played = formats.filter { Self.playedFormatNames.contains($0.name) }
        if let format = accepted?.best(of: played) { return format.name }
        return animationFormatNames.contains("gif") ? "gif" : nil
    }
}
