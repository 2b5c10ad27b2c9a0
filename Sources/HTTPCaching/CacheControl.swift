// SPDX-License-Identifier: Apache-2.0

/// The directives of a response's `Cache-Control` that apply to a private cache.
///
/// - SeeAlso: RFC 9111, section 5.2.2, and RFC 5861.
struct CacheControl: Equatable {
    var isNoStore = false
    var isNoCache = false
    var mustRevalidate = false
    /// The maximum age in seconds, like the others.
    var maximumAge: Int?
    var staleWhileRevalidate: Int?
    var staleIfError: Int?

    init() {}

    /// Parses the field.
    ///
    /// - Parameter value: all values of the field, joined by commas.
    init(_ value: String) {
        for directive in Self.directives(value) {
            switch directive.name {
            case "no-store": isNoStore = true
            // With field names it applies to these only; ignoring the names is the conservative
            // reading.
            case "no-cache": isNoCache = true
            case "must-revalidate": mustRevalidate = true
            case "max-age": lower(&maximumAge, directive.argument)
            case "stale-while-revalidate": lower(&staleWhileRevalidate, directive.argument)
            case "stale-if-error": lower(&staleIfError, directive.argument)
            default: break
            }
        }
    }

    /// Takes the smallest value of a repeated directive; an invalid number counts as 0.
    private func lower(_ seconds: inout Int?, _ argument: String) {
        let isNumber =
            !argument.isEmpty && argument.utf8.allSatisfy { (0x30...0x39).contains($0) }
        // The value for overflow in RFC 9111, section 1.2.2.
        let value = isNumber ? min(Int(argument) ?? .max, 1 << 31) : 0
        seconds = min(seconds ?? value, value)
    }

    /// Splits at unquoted commas and returns names in lower case and arguments without quotes.
    private static func directives(_ value: String) -> [(name: String, argument: String)] {
        var parts = [""]
        var isQuoted = false
        for character in value {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                parts.append("")
            } else {
                parts[parts.endIndex - 1].append(character)
            }
        }
        return parts.map { part in
            let name = part.prefix { $0 != "=" }
            let argument = part[name.endIndex...].dropFirst()
            return (
                trimmed(name).lowercased(),
                String(trimmed(argument).filter { $0 != "\"" })
            )
        }
    }
}

/// Returns the text without spaces and tabs at both ends.
func trimmed(_ text: some StringProtocol) -> String {
    var text = Substring(text)
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
}
