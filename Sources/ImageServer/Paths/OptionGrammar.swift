// SPDX-License-Identifier: Apache-2.0

/// The options that paths may contain, according to the configuration.
struct OptionGrammar: Sendable {
    /// The names of encodable formats, by their names in paths.
    let formats: [String: String]
    /// The options of presets, by their names.
    let presets: [String: RenditionOptions]
    /// Comma-separated options, by the names of devices.
    let devices: [String: String]
    /// The largest width or height in pixels.
    let maximumSide: Int
    /// Whether paths may contain presets only.
    let allowsPresetsOnly: Bool

    /// Returns the options of a segment; `nil` if it is neither a size nor a preset.
    ///
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for an invalid size, or
    ///   ``ServerError/forbidden(reason:)`` for one other than a preset.
    func options(_ segment: String) throws(ServerError) -> RenditionOptions? {
        if let preset = presets[segment] { return preset }
        let size = try SizeSegment(
            segment, maximumSide: maximumSide, formats: formats, devices: devices)
        if size != nil { try checkOwnOptions() }
        return size?.options
    }

    /// Whether a segment is a preset or begins like a size.
    func isSize(_ segment: String) -> Bool {
        presets[segment] != nil || SizeSegment.beginsLikeSize(segment)
    }

    /// Checks that paths may contain options other than presets.
    ///
    /// - Throws: ``ServerError/forbidden(reason:)``.
    func checkOwnOptions() throws(ServerError) {
        guard !allowsPresetsOnly else { throw .forbidden(reason: "only presets are allowed") }
    }

    /// Returns the name of the format that a query requests.
    ///
    /// - Throws: ``ServerError/malformedRequest(reason:)``.
    func format(_ name: String) throws(ServerError) -> String {
        guard let format = formats[name] else {
            throw .malformedRequest(
                reason: "invalid format; expected "
                    + Set(formats.values).sorted().joined(separator: ", "))
        }
        return format
    }
}
