// SPDX-License-Identifier: Apache-2.0

/// What a server's `Cache-Control` says to a cache of one user.
///
/// - SeeAlso: RFC 9111, section 5.2.2, and RFC 5861.
struct CacheControl: Equatable {
    var isNoStore = false
    var isNoCache = false
    var mustRevalidate = false
    /// Seconds, as the others.
    var maximumAge: Int?
    var staleWhileRevalidate: Int?
    var staleIfError: Int?

    init() {}

    /// - Parameter value: all values of the field, joined by commas.
    init(_ value: String) {
        for directive in Self.directives(value) {
            switch directive.name {
            case "no-store": isNoStore = true
            // With the names of fields it would be about these only; this is the careful reading.
            case "no-cache": isNoCache = true
            case "must-revalidate": mustRevalidate = true
            case "max-age": lower(&maximumAge, directive.argument)
            case "stale-while-revalidate": lower(&staleWhileRevalidate, directive.argument)
            case "stale-if-error": lower(&staleIfError, directive.argument)
            default: break
            }
        }
    }

    /// The smallest wins where a directive is repeated, and what is no number counts as 0.
    private func lower(_ seconds: inout Int?, _ argument: String) {
        let isNumber =
            !argument.isEmpty && argument.utf8.allSatisfy { (0x30...0x39).contains($0) }
        // The specification's value for what overflows.
        let value = isNumber ? min(Int(argument) ?? .max, 1 << 31) : 0
        seconds = min(seconds ?? value, value)
    }

    /// Splits at the commas that are not quoted; names in lower case, arguments without quotes.
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

/// Without spaces and tabs at both ends.
func trimmed(_ text: some StringProtocol) -> String {
    var text = Substring(text)
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
}
