// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// What a client says of its screen and of its connection, never taken at its word.
struct ClientHints {
    /// The quality of pictures for whoever wants to save data.
    static let savingQuality = 55

    /// Device pixels a CSS pixel, in halves from 1 to 4, so that few renditions come of it.
    let density: Double?
    let savesData: Bool

    init(_ headers: HTTPFields) {
        density = (headers[named: "Sec-CH-DPR"] ?? headers[named: "DPR"]).flatMap(Double.init)
            .flatMap { $0.isFinite && $0 > 0 ? (min(max($0, 1), 4) * 2).rounded(.up) / 2 : nil }
        savesData = headers[named: "Save-Data"]?.lowercased() == "on"
    }
}
