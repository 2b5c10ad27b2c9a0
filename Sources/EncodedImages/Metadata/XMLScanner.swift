// SPDX-License-Identifier: Apache-2.0

/// Goes through the XML of an XMP packet, tag by tag, with names resolved to their namespaces.
///
/// It knows what XMP needs: elements, attributes, text, CDATA, comments, processing instructions and
/// the five entities of XML. A document type, whose entities can grow without bound, is damage, and
/// so are unbalanced tags and nesting of more than a maximum. Work and memory are in
/// proportion to the packet's bytes.
/// - SeeAlso: Extensible Markup Language 1.0; Namespaces in XML 1.0.
struct XMLScanner {
    struct Name: Hashable {
        /// The namespace's address; empty for none.
        var namespace: String
        var local: String

        init(_ namespace: String, _ local: String) {
            self.namespace = namespace
            self.local = local
        }
    }

    struct Attribute {
        let name: Name
        let value: String
        /// Where it stands, with the blanks before it.
        let range: Range<Int>
    }

    enum Event {
        /// A start tag; the range is the tag's.
        case start(Name, [Attribute], Range<Int>)
        /// An end tag, also that of an empty element; the range is then empty.
        case end(Range<Int>)
        case text(String)
    }

    /// Prefixes that are known at once; ordinary packets have a dozen.
    static let maximumNamespaceCount = 1000

    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var offset = 0
    /// Whether it stopped at something that is not XML.
    private(set) var isDamaged = false
    /// Whether that was an element deeper than the maximum.
    private(set) var isTooDeep = false
    private(set) var namespaces = [
        "": "", "xml": "http://www.w3.org/XML/1998/namespace",
    ]
    private var open: [Element] = []
    private var closesAtOnce = false

    private struct Element {
        let name: Range<Int>
        /// What the prefixes that it declares meant before.
        var replaced: [(prefix: String, namespace: String?)] = []
    }

    init(_ bytes: [UInt8], maximumDepth: Int = DecodeLimits().maximumNestingDepth) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// How many elements are open.
    var depth: Int { open.count }

    /// The next tag or text; `nil` at the end and at damage.
    mutating func next() -> Event? {
        if closesAtOnce {
            closesAtOnce = false
            close()
            return .end(offset..<offset)
        }
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "<") else { return text() }
            if starts(with: "<!--") {
                guard skip(behind: "-->") else { return damage() }
            } else if starts(with: "<![CDATA[") {
                let start = offset + 9
                guard skip(behind: "]]>") else { return damage() }
                return .text(String(decoding: bytes[start..<offset - 3], as: UTF8.self))
            } else if starts(with: "<?") {
                guard skip(behind: "?>") else { return damage() }
            } else if starts(with: "</") {
                return endTag()
            } else {
                return startTag()
            }
        }
        return open.isEmpty ? nil : damage()
    }

    private mutating func damage() -> Event? {
        isDamaged = true
        offset = bytes.count
        open = []
        return nil
    }

    private mutating func text() -> Event {
        let start = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") { offset += 1 }
        return .text(unescaped(start..<offset))
    }

    private mutating func endTag() -> Event? {
        let start = offset
        offset += 2
        let name = scanName()
        skipBlanks()
        guard let last = open.last, bytes[last.name].elementsEqual(bytes[name]), take(">") else {
            return damage()
        }
        close()
        return .end(start..<offset)
    }

    private mutating func close() {
        guard let last = open.popLast() else { return }
        for (prefix, namespace) in last.replaced.reversed() { namespaces[prefix] = namespace }
    }

    private mutating func startTag() -> Event? {
        let start = offset
        offset += 1
        let name = scanName()
        guard !name.isEmpty, bytes[name.lowerBound] != UInt8(ascii: "!") else { return damage() }
        guard open.count < maximumDepth else {
            isTooDeep = true
            return damage()
        }
        var element = Element(name: name)
        var attributes: [(name: Range<Int>, value: String, range: Range<Int>)] = []
        while true {
            let blanks = offset
            skipBlanks()
            if take(">") { break }
            if take("/>") {
                closesAtOnce = true
                break
            }
            let name = scanName()
            skipBlanks()
            guard !name.isEmpty, take("=") else { return damage() }
            skipBlanks()
            guard let value = quoted() else { return damage() }
            if let prefix = declaredPrefix(name) {
                element.replaced.append((prefix, namespaces[prefix]))
                namespaces[prefix] = unescaped(value)
                guard namespaces.count <= Self.maximumNamespaceCount else { return damage() }
            } else {
                attributes.append((name, unescaped(value), blanks..<offset))
            }
        }
        open.append(element)
        // Declarations count for the tag that they stand in, wherever they stand.
        return .start(
            resolved(name, isAttribute: false),
            attributes.map {
                Attribute(
                    name: resolved($0.name, isAttribute: true), value: $0.value, range: $0.range)
            }, start..<offset)
    }

    /// The prefix that an attribute of this name declares, if it does; empty for the default.
    private func declaredPrefix(_ name: Range<Int>) -> String? {
        let text = String(decoding: bytes[name], as: UTF8.self)
        if text == "xmlns" { return "" }
        return text.hasPrefix("xmlns:") ? String(text.dropFirst(6)) : nil
    }

    private func resolved(_ name: Range<Int>, isAttribute: Bool) -> Name {
        guard let colon = bytes[name].firstIndex(of: UInt8(ascii: ":")) else {
            let local = String(decoding: bytes[name], as: UTF8.self)
            return Name(isAttribute ? "" : namespaces[""] ?? "", local)
        }
        let prefix = String(decoding: bytes[name.lowerBound..<colon], as: UTF8.self)
        return Name(
            namespaces[prefix] ?? prefix,
            String(decoding: bytes[colon + 1..<name.upperBound], as: UTF8.self))
    }

    /// What stands between quotes; `offset` is then behind them.
    private mutating func quoted() -> Range<Int>? {
        guard offset < bytes.count, bytes[offset] == 0x22 || bytes[offset] == 0x27,
            let end = bytes[(offset + 1)...].firstIndex(of: bytes[offset])
        else { return nil }
        let value = offset + 1..<end
        offset = end + 1
        return value
    }

    private mutating func scanName() -> Range<Int> {
        let start = offset
        while offset < bytes.count, !Self.isBlank(bytes[offset]),
            bytes[offset] != UInt8(ascii: ">"), bytes[offset] != UInt8(ascii: "/"),
            bytes[offset] != UInt8(ascii: "=")
        { offset += 1 }
        return start..<offset
    }

    private mutating func skipBlanks() {
        while offset < bytes.count, Self.isBlank(bytes[offset]) { offset += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    private func starts(with text: StaticString) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { unsafe bytes[offset...].starts(with: $0) }
    }

    private mutating func skip(behind text: StaticString) -> Bool {
        while offset < bytes.count {
            if take(text) { return true }
            offset += 1
        }
        return false
    }

    /// Text with its entities replaced; those that XML does not know stay as they are.
    private func unescaped(_ range: Range<Int>) -> String {
        guard bytes[range].contains(UInt8(ascii: "&")) else {
            return String(decoding: bytes[range], as: UTF8.self)
        }
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == UInt8(ascii: "&"),
                let end = bytes[index..<min(index + 12, range.upperBound)].firstIndex(of: 0x3B),
                let scalar = Self.entity(bytes[index + 1..<end])
            {
                text += Array(String(scalar).utf8)
                index = end + 1
            } else {
                text.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func entity(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let name = String(decoding: name, as: UTF8.self)
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let isHexadecimal = name.hasPrefix("#x")
            let number = UInt32(
                name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
            return number.flatMap(Unicode.Scalar.init)
        }
    }
}
