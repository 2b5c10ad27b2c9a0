// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// The client hints of a request: density, widths, network quality and colour scheme, each checked and
/// rounded.
struct ClientHints {
    /// The encoding quality for clients that save data.
    static let savingQuality = 55
    /// The header fields that are read.
    static let names = ["Sec-CH-DPR", "Sec-CH-Width", "Sec-CH-Viewport-Width", "ECT", "Save-Data"]
    /// The value of `Accept-CH`; browsers send `Save-Data` without it.
    static let acceptCH = names.dropLast().joined(separator: ", ")
    /// The field with the colour scheme, which only assets depend on.
    static let colorSchemeName = "Sec-CH-Prefers-Color-Scheme"
    /// The value of `Accept-CH` of responses with assets.
    static let acceptCHOfAssets = "Sec-CH-DPR, \(colorSchemeName)"
    /// The viewport width in CSS pixels of clients that do not send theirs.
    private static let defaultViewportWidth = 1_280.0
    /// Widths are rounded up to a multiple of it, which bounds the number of renditions.
    private static let widthStep = 64.0

    /// Device pixels per CSS pixel, rounded up to halves, 1 to 4; `nil` if not sent.
    let density: Double?
    /// Whether `Save-Data` is on or the effective connection type is 2G.
    let savesData: Bool
    /// Whether the client prefers dark colours.
    let prefersDark: Bool
    /// The width of the image's layout box in device pixels.
    private let layoutWidth: Double?
    /// The width of the viewport in CSS pixels.
    private let viewportWidth: Double?

    init(_ headers: HTTPFields) {
        func number(_ name: String) -> Double? {
            headers[named: name].flatMap(Double.init).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        }
        density = number("Sec-CH-DPR").map { (min(max($0, 1), 4) * 2).rounded(.up) / 2 }
        savesData =
            headers[named: "Save-Data"]?.lowercased() == "on"
            || ["slow-2g", "2g"].contains(headers[named: "ECT"]?.lowercased())
        // A string of structured fields has quotes (RFC 8941, 3.3.3); some clients omit them.
        prefersDark = ["\"dark\"", "dark"].contains(headers[named: Self.colorSchemeName])
        layoutWidth = number("Sec-CH-Width")
        viewportWidth = number("Sec-CH-Viewport-Width")
    }

    /// The width in device pixels for paths that leave it to the client.
    func width(atMost maximum: Int) -> Int {
        let density = density ?? 1
        let dense = layoutWidth ?? (viewportWidth ?? Self.defaultViewportWidth) * density
        let steps = ((savesData ? dense / density : dense) / Self.widthStep).rounded(.up)
        return Int(min(steps * Self.widthStep, Double(maximum)))
    }
}
