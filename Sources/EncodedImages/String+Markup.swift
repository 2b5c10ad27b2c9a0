// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text for the content and for quoted attributes of HTML and XML.
    package var markupEscaped: String {
        // By scalars: a combining mark would hide the character before it.
        unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
