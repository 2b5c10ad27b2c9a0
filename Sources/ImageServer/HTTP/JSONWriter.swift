// SPDX-License-Identifier: Apache-2.0

/// Writes a JSON object of long columns, for which `JSONEncoder` takes most of the time of a response.
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

    /// Begins a member whose value the next call writes.
    mutating func key(_ name: String) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        value(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a string.
    mutating func value(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x00...0x1F:
                bytes.append(contentsOf: "\\u00\(byte < 0x10 ? "0" : "1")".utf8)
                bytes.append(contentsOf: String(byte & 0xF, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes an integer, or `null`.
    mutating func value(_ number: Int?) {
        bytes.append(contentsOf: (number.map { "\($0)" } ?? "null").utf8)
    }

    /// Writes an array of strings.
    mutating func values(_ texts: [String]) {
        array(texts) { $0.value($1) }
    }

    /// Writes an array of integers.
    mutating func values(_ numbers: [Int]) {
        array(numbers) { $0.value($1) }
    }

    /// Writes an object of strings whose keys are indices, in ascending order.
    mutating func values(_ texts: [Int: String]) {
        let indices = texts.keys.sorted()
        object { writer in
            for index in indices {
                writer.key("\(index)")
                writer.value(texts[index, default: ""])
            }
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
