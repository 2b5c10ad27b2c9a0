// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) of a template or a manifest.
package indirect enum TemplateValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([TemplateValue])
    /// Members in their order.
    case object([Member])

    package struct Member: Hashable, Sendable {
        package let key: String
        package let value: TemplateValue
    }

    /// The name of the type in messages.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Parses a document.
    ///
    /// - Throws: ``DrawingError/invalid(reason:)`` with the line of the error.
    package init(parsing text: String) throws(DrawingError) {
        var parser = TemplateParser(Array(text.utf8))
        self = try parser.document()
    }
}

/// Parses JSON in one pass.
private struct TemplateParser {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0

    private static let maximumDepth = 32

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(DrawingError) -> TemplateValue {
        let value = try value()
        skipSpace()
        guard offset == bytes.count else { throw failure("text after the end of the document") }
        return value
    }

    private func failure(_ reason: String) -> DrawingError {
        let line = bytes[..<min(offset, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return .invalid(reason: "line \(line): \(reason)")
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { offset += 1 }
    }

    private mutating func skip(_ character: Character) -> Bool {
        skipSpace()
        guard next == character.asciiValue else { return false }
        offset += 1
        return true
    }

    private mutating func value() throws(DrawingError) -> TemplateValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"):
            return try nested { parser throws(DrawingError) in
                try parser.object()
            }
        case UInt8(ascii: "["):
            return try nested { parser throws(DrawingError) in
                try parser.array()
            }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return try number()
        default:
            for (word, value) in [
                ("true", TemplateValue.bool(true)), ("false", .bool(false)), ("null", .null),
            ] where bytes[offset...].starts(with: word.utf8) {
                offset += word.utf8.count
                return value
            }
            throw failure(next == nil ? "the document ends early" : "a value is expected")
        }
    }

    private mutating func nested(
        _ body: (inout TemplateParser) throws(DrawingError) -> TemplateValue
    ) throws(DrawingError) -> TemplateValue {
        offset += 1
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw failure("more than \(Self.maximumDepth) nested values")
        }
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func array() throws(DrawingError) -> TemplateValue {
        var values: [TemplateValue] = []
        if skip("]") { return .array([]) }
        repeat { values.append(try value()) } while skip(",")
        guard skip("]") else { throw failure("a comma or ] is expected") }
        return .array(values)
    }

    private mutating func object() throws(DrawingError) -> TemplateValue {
        var members: [TemplateValue.Member] = []
        if skip("}") { return .object([]) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a name is expected") }
            let key = try string()
            guard !members.contains(where: { $0.key == key }) else {
                throw failure("\"\(key)\" occurs twice")
            }
            guard skip(":") else { throw failure("a colon is expected") }
            members.append(TemplateValue.Member(key: key, value: try value()))
        } while skip(",")
        guard skip("}") else { throw failure("a comma or } is expected") }
        return .object(members)
    }

    private mutating func number() throws(DrawingError) -> TemplateValue {
        let start = offset
        while let byte = next, "+-.eE0123456789".utf8.contains(byte) { offset += 1 }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        guard let value = Double(text), value.isFinite, !text.hasPrefix("+") else {
            throw failure("invalid number \(text)")
        }
        return .number(value)
    }

    private mutating func string() throws(DrawingError) -> String {
        offset += 1
        var units: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: units, as: UTF8.self) else {
                    throw failure("a string is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): units += try escape()
            case ..<0x20: throw failure("a control character in a string")
            default: units.append(byte)
            }
        }
        throw failure("a string has no end")
    }

    private mutating func escape() throws(DrawingError) -> [UInt8] {
        guard let byte = next else { throw failure("a string has no end") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): break
        default: throw failure("an unknown escape sequence")
        }
        var value = try hexadecimal()
        if (0xD800..<0xDC00).contains(value), bytes[offset...].starts(with: "\\u".utf8) {
            offset += 2
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw failure("half of a surrogate pair") }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func hexadecimal() throws(DrawingError) -> UInt32 {
        let digits = bytes[offset...].prefix(4)
        guard digits.count == 4,
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are expected after \\u") }
        offset += 4
        return value
    }
}
