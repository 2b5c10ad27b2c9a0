// SPDX-License-Identifier: Apache-2.0

/// A JSON value whose objects keep the order of their members.
///
/// - SeeAlso: RFC 8259.
package indirect enum JSON: Hashable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A number; infinities and NaN are written as null.
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Hashable {
        package let key: String
        package let value: JSON

        package init(_ key: String, _ value: JSON) {
            self.key = key
            self.value = value
        }
    }

    /// The formatted value, indented by two spaces per level.
    package func text(indentation: String = "") -> String {
        let inner = indentation + "  "
        return switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): value.isFinite ? "\(value)" : "null"
        case .string(let value): Self.quoted(value)
        case .array(let values):
            Self.enclosed(
                values.map { $0.text(indentation: inner) }, "[", "]", indentation)
        case .object(let members):
            Self.enclosed(
                members.map { "\(Self.quoted($0.key)): \($0.value.text(indentation: inner))" },
                "{", "}", indentation)
        }
    }

    /// The value in one line without spaces.
    package var line: String {
        switch self {
        case .null, .bool, .integer, .number, .string: text()
        case .array(let values): "[\(values.map(\.line).joined(separator: ","))]"
        case .object(let members):
            "{"
                + members.map { "\(Self.quoted($0.key)):\($0.value.line)" }.joined(separator: ",")
                + "}"
        }
    }

    private static func enclosed(
        _ items: [String], _ start: String, _ end: String, _ indentation: String
    ) -> String {
        guard !items.isEmpty else { return start + end }
        let lines = items.map { "\(indentation)  \($0)" }.joined(separator: ",\n")
        return "\(start)\n\(lines)\n\(indentation)\(end)"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
