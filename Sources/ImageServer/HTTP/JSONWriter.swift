// SPDX-License-Identifier: Apache-2.0

/// Writes a JSON object of long columns as `JSONEncoder` does, which takes most of the time of a response.
///
/// - SeeAlso: RFC 8259.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    /// Writes an object whose members `write` adds, in their order.
    mutating func object(_ write: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
        write(&self)
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    /// Writes a member with an object, whose members `write` adds.
    mutating func member(_ key: String, _ write: (inout JSONWriter) -> Void) {
        begin(key)
        object(write)
    }

    /// Writes a member with a string.
    mutating func member(_ key: String, _ text: String) {
        begin(key)
        string(text)
    }

    /// Writes a member with an integer, or `null`.
    mutating func member(_ key: String, _ number: Int?) {
        begin(key)
        integer(number)
    }

    /// Writes a member with an array of strings.
    mutating func member(_ key: String, _ texts: [String]) {
        begin(key)
        array(texts) { $0.string($1) }
    }

    /// Writes a member with an array of integers.
    mutating func member(_ key: String, _ numbers: [Int]) {
        begin(key)
        array(numbers) { $0.integer($1) }
    }

    /// Writes a member with an object of strings, whose keys are indices in the order of their digits.
    mutating func member(_ key: String, _ texts: [Int: String]) {
        let members = texts.map { ("\($0)", $1) }.sorted { $0.0 < $1.0 }
        member(key) { writer in
            for (index, text) in members { writer.member(index, text) }
        }
    }

    private mutating func begin(_ key: String) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        string(key)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func integer(_ number: Int?) {
        bytes.append(contentsOf: (number.map { "\($0)" } ?? "null").utf8)
    }

    private mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x00...0x1F: bytes.append(contentsOf: Self.escaped(byte).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escaped(_ control: UInt8) -> String {
        switch control {
        case 0x08: "\\b"
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0C: "\\f"
        case 0x0D: "\\r"
        default: "\\u00\(control < 0x10 ? "0" : "1")" + String(control & 0xF, radix: 16)
        }
    }

    private mutating func array<Element>(
        _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }
}
