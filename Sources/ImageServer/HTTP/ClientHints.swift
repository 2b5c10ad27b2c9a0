// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// What a client says of its screen and of its connection, never taken at its word.
struct ClientHints {
    /// The quality of pictures for whoever wants to save data.
    static let savingQuality = 55
    static let names = ["Sec-CH-DPR", "Sec-CH-Width", "Sec-CH-Viewport-Width", "ECT", "Save-Data"]
    /// What a page asks browsers for; `Save-Data` comes without being asked for.
    static let wantedNames = names.dropLast().joined(separator: ", ")
    /// In CSS pixels, for clients that do not tell theirs.
    private static let usualViewportWidth = 1_280.0
    /// The widths that hints choose from are its multiples, so that few renditions come of them.
    private static let widthStep = 64.0

    /// Device pixels a CSS pixel, in halves from 1 to 4, so that few renditions come of it.
    let density: Double?
    /// Whether the client wants to save data, or its connection carries little.
    let savesData: Bool
    /// In device pixels, of the place that the picture takes in the page.
    private let placeWidth: Double?
    /// In CSS pixels.
    private let viewportWidth: Double?

    init(_ headers: HTTPFields) {
        func number(_ name: String) -> Double? {
            headers[named: name].flatMap(Double.init).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        }
        density = number("Sec-CH-DPR").map { (min(max($0, 1), 4) * 2).rounded(.up) / 2 }
        savesData =
            headers[named: "Save-Data"]?.lowercased() == "on"
            || ["slow-2g", "2g"].contains(headers[named: "ECT"]?.lowercased())
        placeWidth = number("Sec-CH-Width")
        viewportWidth = number("Sec-CH-Viewport-Width")
    }

    /// The width in device pixels where an address leaves it open.
    func width(atMost maximum: Int) -> Int {
        let density = density ?? 1
        let dense = placeWidth ?? (viewportWidth ?? Self.usualViewportWidth) * density
        let steps = ((savesData ? dense / density : dense) / Self.widthStep).rounded(.up)
        return Int(min(steps * Self.widthStep, Double(maximum)))
    }
}
