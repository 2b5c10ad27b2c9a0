// SPDX-License-Identifier: Apache-2.0

/// A pull parser for the XML of XMP packets, which resolves names to their namespaces.
///
/// It supports elements, attributes, text, CDATA, comments, processing instructions and the five
/// predefined entities. A document type, whose entities can grow without bound, is damage, and so are
/// unbalanced tags and nesting beyond a maximum.
///
/// Time is linear in the length of any packet: names, attributes and text are ranges until the caller
/// converts them. Memory holds open elements and at most ``maximumNamespaceCount`` namespaces.
/// - SeeAlso: Extensible Markup Language 1.0; Namespaces in XML 1.0.
struct XMLScanner {
    struct Name: Hashable {
        /// The namespace URI; empty for none.
        var namespace: String
        var local: String

        init(_ namespace: String, _ local: String) {
            self.namespace = namespace
            self.local = local
        }
    }

    struct Attribute {
        let name: Name
        let value: Text
        /// The attribute with the white space before it.
        let range: Range<Int>
    }

    /// Character data; see ``XMLScanner/string(_:maximumByteCount:)``.
    struct Text {
        let range: Range<Int>
        /// Whether it may contain entities; CDATA contains none.
        let isEscaped: Bool
    }

    enum Event {
        /// A start tag, whose attributes ``XMLScanner/nextAttribute()`` returns.
        case start(Name, Range<Int>)
        /// An end tag, also that of an empty element; the range is then empty.
        case end(Range<Int>)
        case text(Text)
    }

    /// The maximum number of namespaces in scope; ordinary packets have a dozen.
    static let maximumNamespaceCount = 1000

    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var offset = 0
    /// Whether the parser stopped at invalid XML.
    private(set) var isDamaged = false
    /// Whether it stopped at an element beyond the maximum depth.
    private(set) var isTooDeep = false
    private(set) var namespaces = [
        "": "", "xml": "http://www.w3.org/XML/1998/namespace",
    ]
    /// The number of bytes that were read, compared or copied, counted each time.
    private(set) var workByteCount = 0
    private var open: [Element] = []
    private var closesAtOnce = false
    /// The offset of the next attribute of the last start tag.
    private var attributeOffset = 0

    private struct Element {
        let name: Range<Int>
        /// The namespaces that its declarations replaced.
        var replaced: [(prefix: String, namespace: String?)] = []
    }

    init(_ bytes: [UInt8], maximumDepth: Int = DecodeLimits().maximumNestingDepth) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// The number of open elements.
    var depth: Int { open.count }

    /// Returns the next tag or text; `nil` at the end and at damage.
    mutating func next() -> Event? {
        if closesAtOnce {
            closesAtOnce = false
            close()
            return .end(offset..<offset)
        }
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "<") else { return .text(text()) }
            switch offset + 1 < bytes.count ? bytes[offset + 1] : 0 {
            case UInt8(ascii: "!"):
                if starts(with: "<![CDATA[") {
                    let start = offset + 9
                    guard skip(behind: "]]>") else { return damage() }
                    return .text(Text(range: start..<offset - 3, isEscaped: false))
                }
                guard starts(with: "<!--"), skip(behind: "-->") else { return damage() }
            case UInt8(ascii: "?"):
                guard skip(behind: "?>") else { return damage() }
            case UInt8(ascii: "/"): return endTag()
            default: return startTag()
            }
        }
        return open.isEmpty ? nil : damage()
    }

    /// Returns the next attribute of the last start tag, except namespace declarations.
    mutating func nextAttribute() -> Attribute? {
        let resume = offset
        defer { offset = resume }
        offset = attributeOffset
        defer { attributeOffset = offset }
        while let (name, value, range) = attribute() {
            if !isDeclaration(name) {
                return Attribute(
                    name: resolved(name, isAttribute: true),
                    value: Text(range: value, isEscaped: true), range: range)
            }
        }
        return nil
    }

    /// The prefixes that the last start tag declares.
    var declaredPrefixes: Set<String> { Set(open.last?.replaced.map(\.prefix) ?? []) }

    /// The offset of the end of the name in the last start tag.
    var nameEnd: Int { open.last?.name.upperBound ?? offset }

    private mutating func damage() -> Event? {
        isDamaged = true
        offset = bytes.count
        open = []
        return nil
    }

    private mutating func text() -> Text {
        let start = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") { offset += 1 }
        workByteCount += offset - start
        return Text(range: start..<offset, isEscaped: true)
    }

    private mutating func endTag() -> Event? {
        let start = offset
        offset += 2
        let name = scanName()
        skipBlanks()
        workByteCount += name.count
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
        guard !name.isEmpty else { return damage() }
        guard open.count < maximumDepth else {
            isTooDeep = true
            return damage()
        }
        var element = Element(name: name)
        attributeOffset = offset
        while let (name, value, _) = attribute() {
            guard isDeclaration(name) else { continue }
            // Declarations apply to their whole tag, including attributes before them.
            let prefix = String(decoding: bytes[name].dropFirst(6), as: UTF8.self)
            element.replaced.append((prefix, namespaces[prefix]))
            namespaces[prefix] = string(
                Text(range: value, isEscaped: true), maximumByteCount: value.count)
            guard
                max(namespaces.count, element.replaced.count) <= Self.maximumNamespaceCount
            else { return damage() }
        }
        if take("/>") {
            closesAtOnce = true
        } else if !take(">") {
            return damage()
        }
        open.append(element)
        return .start(resolved(name, isAttribute: false), start..<offset)
    }

    /// Reads an attribute; `nil`, after white space, if none follows.
    private mutating func attribute() -> (name: Range<Int>, value: Range<Int>, range: Range<Int>)? {
        let start = offset
        skipBlanks()
        let first = offset
        let name = scanName()
        skipBlanks()
        if !name.isEmpty, take("=") {
            skipBlanks()
            if let value = quoted() { return (name, value, start..<offset) }
        }
        // The caller then expects the end of the tag here.
        offset = first
        return nil
    }

    /// Whether an attribute of this name is a namespace declaration.
    private func isDeclaration(_ name: Range<Int>) -> Bool {
        bytes[name].starts(with: "xmlns".utf8)
            && (name.count == 5 || bytes[name.lowerBound + 5] == UInt8(ascii: ":"))
    }

    private mutating func resolved(_ name: Range<Int>, isAttribute: Bool) -> Name {
        workByteCount += name.count
        guard let colon = bytes[name].firstIndex(of: UInt8(ascii: ":")) else {
            let local = String(decoding: bytes[name], as: UTF8.self)
            return Name(isAttribute ? "" : namespaces[""] ?? "", local)
        }
        let prefix = String(decoding: bytes[name.lowerBound..<colon], as: UTF8.self)
        return Name(
            namespaces[prefix] ?? prefix,
            String(decoding: bytes[colon + 1..<name.upperBound], as: UTF8.self))
    }

    /// Reads a quoted value.
    private mutating func quoted() -> Range<Int>? {
        guard offset < bytes.count, bytes[offset] == 0x22 || bytes[offset] == 0x27 else {
            return nil
        }
        let mark = bytes[offset]
        let start = offset + 1
        var end = start
        while end < bytes.count, bytes[end] != mark { end += 1 }
        workByteCount += end - start
        guard end < bytes.count else { return nil }
        offset = end + 1
        return start..<end
    }

    private mutating func scanName() -> Range<Int> {
        let start = offset
        while offset < bytes.count, !Self.isBlank(bytes[offset]),
            bytes[offset] != UInt8(ascii: ">"), bytes[offset] != UInt8(ascii: "/"),
            bytes[offset] != UInt8(ascii: "=")
        { offset += 1 }
        workByteCount += offset - start
        return start..<offset
    }

    private mutating func skipBlanks() {
        let start = offset
        while offset < bytes.count, Self.isBlank(bytes[offset]) { offset += 1 }
        workByteCount += offset - start
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
        let start = offset
        defer { workByteCount += offset - start }
        while offset < bytes.count {
            if take(text) { return true }
            offset += 1
        }
        return false
    }

    /// Returns character data with the predefined entities and character references replaced.
    ///
    /// - Parameters:
    ///   - text: character data of this packet.
    ///   - maximumByteCount: the maximum length in bytes of UTF-8.
    /// - Returns: a string with spaces instead of characters that XML forbids.
    mutating func string(
        _ text: Text, maximumByteCount: Int = MetadataText.maximumByteCount
    ) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(min(text.range.count, maximumByteCount) + 4)
        var index = text.range.lowerBound
        while index < text.range.upperBound, result.count <= maximumByteCount {
            if text.isEscaped, bytes[index] == UInt8(ascii: "&"),
                let end = bytes[index..<min(index + 12, text.range.upperBound)]
                    .firstIndex(of: 0x3B),
                let scalar = Self.entity(bytes[index + 1..<end])
            {
                result += String(scalar).utf8.map(MetadataText.printable)
                index = end + 1
            } else {
                result.append(MetadataText.printable(bytes[index]))
                index += 1
            }
        }
        workByteCount += index - text.range.lowerBound
        return MetadataText.cut(
            String(decoding: result, as: UTF8.self), maximumByteCount: maximumByteCount)
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
