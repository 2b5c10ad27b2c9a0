// SPDX-License-Identifier: Apache-2.0

/// Extended XMP of JPEG, whose segments are limited to 64 KiB.
///
/// The extension is a packet of its own; the main packet contains its MD5 digest.
/// - SeeAlso: Adobe, *XMP Specification Part 3*, section 1.1.3.1.
extension XMPPacket {
    private static let note = XMLScanner.Name(XMPNamespace.notes, "HasExtendedXMP")
    private static let root = XMLScanner.Name(XMPNamespace.rdf, "RDF")
    private static let description = XMLScanner.Name(XMPNamespace.rdf, "Description")

    /// Returns the digest of the extension; `nil` if the packet has none.
    package static func extensionName(of packet: [UInt8]) -> String? {
        var reader = XMPPropertyReader(packet)
        while let property = reader.next() {
            if property.name == note { return property.text }
        }
        return nil
    }

    /// Joins a main packet and its extension; returns the main packet if the extension is invalid.
    package static func joined(_ packet: [UInt8], _ rest: [UInt8]) -> [UInt8] {
        guard let rest = Envelope(rest), let bytes = rest.descriptions(),
            let packet = removing(from: packet, where: { $0 == note }),
            let envelope = Envelope(packet), envelope.namespaces["rdf"] == XMPNamespace.rdf,
            rest.namespaces["rdf"] == XMPNamespace.rdf
        else { return packet }
        let end = envelope.content.upperBound
        return packet[..<end] + bytes + packet[end...]
    }

    /// Splits a packet that is too long into a main packet and an extension.
    ///
    /// - Parameters:
    ///   - packet: XML in UTF-8.
    ///   - maximumByteCount: the maximum length of the main packet.
    /// - Returns: the main packet, and the extension with the largest properties if needed; `nil` if
    ///   the packet is damaged or cannot be split.
    package static func split(
        _ packet: [UInt8], maximumByteCount: Int
    ) -> (packet: [UInt8], rest: (name: String, bytes: [UInt8])?)? {
        if packet.count <= maximumByteCount { return (packet, nil) }
        let packet = withoutPadding(packet)
        if packet.count <= maximumByteCount { return (packet, nil) }
        guard let clean = removing(from: packet, where: { $0 == note }),
            let list = PropertyList(clean), let tagEnd = list.firstTagEnd
        else { return nil }
        // Reserved for the digest of the extension.
        let room = maximumByteCount - 200
        var byteCount = clean.count
        var moved: [PropertyList.Item] = []
        for item in list.items.sorted(by: { $0.range.count > $1.range.count }) {
            if byteCount <= room { break }
            byteCount -= item.range.count
            moved.append(item)
        }
        guard byteCount <= room, let descriptions = list.descriptions(of: moved) else { return nil }
        var bytes = Array(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(XMPNamespace.rdf)\">".utf8
        )
        bytes += descriptions
        bytes += Array("</rdf:RDF></x:xmpmeta>".utf8)
        let name = MD5.digest(bytes).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        let mark = " xmlns:xmpNote=\"\(XMPNamespace.notes)\" xmpNote:HasExtendedXMP=\"\(name)\""
        var result: [UInt8] = []
        var end = 0
        let cuts = (moved.map { ($0.range, []) } + [(tagEnd..<tagEnd, Array(mark.utf8))])
            .sorted { ($0.0.lowerBound, $0.0.upperBound) < ($1.0.lowerBound, $1.0.upperBound) }
        for (range, replacement) in cuts {
            result += clean[end..<range.lowerBound] + replacement
            end = range.upperBound
        }
        result += clean[end...]
        return (result, (name, bytes))
    }

    /// Removes the padding before the end of a packet.
    private static func withoutPadding(_ packet: [UInt8]) -> [UInt8] {
        let mark = Array("<?xpacket end".utf8)
        guard packet.count > mark.count + 64,
            let start = (packet.count - mark.count - 64...packet.count - mark.count)
                .last(where: { packet[$0..<$0 + mark.count].elementsEqual(mark) })
        else { return packet }
        let end = packet[..<start].lastIndex { $0 > 0x20 } ?? start - 1
        return packet[...end] + [0x0A] + packet[start...]
    }

    /// Returns the maximum length of namespace declarations that are added to a packet.
    ///
    /// Ordinary packets need a kilobyte. Declarations are repeated in each description, so that a
    /// malicious packet would grow by a factor of a million.
    private static func maximumDeclarationByteCount(_ byteCount: Int) -> Int {
        byteCount + (64 << 10)
    }

    private static func declaration(_ prefix: String, _ namespace: String) -> [UInt8] {
        Array(" xmlns:\(prefix)=\"\(namespace.markupEscaped)\"".utf8)
    }

    /// The contents of `rdf:RDF`.
    private struct Envelope {
        private let packet: [UInt8]
        private(set) var content = 0..<0
        private(set) var namespaces: [String: String] = [:]
        /// For each description, the end of its name and the prefixes that it declares.
        private var tags: [(nameEnd: Int, declared: Set<String>)] = []

        init?(_ packet: [UInt8]) {
            self.packet = packet
            var scanner = XMLScanner(packet)
            var depth: Int?
            var start = 0
            while let event = scanner.next() {
                switch event {
                case .start(let name, let range):
                    if name == root, depth == nil {
                        depth = scanner.depth
                        start = range.upperBound
                        namespaces = scanner.namespaces
                    } else if let depth, scanner.depth == depth + 1, content.isEmpty {
                        tags.append((scanner.nameEnd, scanner.declaredPrefixes))
                    }
                case .end(let range):
                    guard let open = depth, scanner.depth == open - 1, content.isEmpty else {
                        continue
                    }
                    guard range.lowerBound > start else { return nil }
                    content = start..<range.lowerBound
                case .text: break
                }
            }
            guard !scanner.isDamaged, !content.isEmpty else { return nil }
        }

        /// Returns the contents, with declarations of the namespaces that were in scope.
        ///
        /// - Returns: `nil` if the contents would grow beyond the limit.
        func descriptions() -> [UInt8]? {
            let declarations = namespaces.sorted { $0.key < $1.key }
                .filter { !["", "xml", "rdf", "x"].contains($0.key) }
                .map { (prefix: $0.key, bytes: declaration($0.key, $0.value)) }
            var room = maximumDeclarationByteCount(content.count)
            var bytes: [UInt8] = []
            var end = content.lowerBound
            for (nameEnd, declared) in tags {
                bytes += packet[end..<nameEnd]
                for (prefix, declaration) in declarations where !declared.contains(prefix) {
                    room -= declaration.count
                    guard room >= 0 else { return nil }
                    bytes += declaration
                }
                end = nameEnd
            }
            return bytes + packet[end..<content.upperBound]
        }
    }

    /// The properties of a packet.
    private struct PropertyList {
        struct Item {
            let range: Range<Int>
            let isAttribute: Bool
        }

        private let packet: [UInt8]
        private(set) var items: [Item] = []
        /// The offset in the first start tag of a description at which an attribute can be added.
        private(set) var firstTagEnd: Int?

        init?(_ packet: [UInt8]) {
            self.packet = packet
            var items: [Item] = []
            var start = 0
            let firstTagEnd = Self.forEachStart(in: packet) { scanner, range, isAttribute in
                if isAttribute { items.append(Item(range: range, isAttribute: true)) }
                start = range.lowerBound
            } end: {
                items.append(Item(range: start..<$0, isAttribute: false))
            }
            guard let firstTagEnd else { return nil }
            self.items = items
            self.firstTagEnd = firstTagEnd
        }

        /// Returns each of the properties in a description with the declarations that it needs.
        ///
        /// - Returns: `nil` if the properties would grow beyond the limit.
        func descriptions(of items: [Item]) -> [UInt8]? {
            let moved = Dictionary(items.map { ($0.range.lowerBound, $0) }) { first, _ in first }
            var room = maximumDeclarationByteCount(packet.count)
            var bytes: [UInt8] = []
            _ = Self.forEachStart(in: packet) { scanner, range, _ in
                guard room >= 0, let item = moved[range.lowerBound] else { return }
                bytes += Array("<rdf:Description rdf:about=\"\"".utf8)
                for prefix in Self.prefixes(in: packet[item.range]).sorted() where room >= 0 {
                    guard !["", "xml", "rdf", "x"].contains(prefix),
                        let namespace = scanner.namespaces[prefix]
                    else { continue }
                    let declaration = declaration(prefix, namespace)
                    room -= declaration.count
                    bytes += declaration
                }
                bytes += item.isAttribute ? [] : [UInt8(ascii: ">")]
                bytes += packet[item.range]
                bytes += Array((item.isAttribute ? "/>" : "</rdf:Description>").utf8)
            } end: { _ in
            }
            return room >= 0 ? bytes : nil
        }

        /// Calls `body` with the attribute or start tag of each property while its namespaces are in
        /// scope, and `end` with the end of each element.
        ///
        /// - Returns: the offset at which an attribute can be added to the first description; `nil` if
        ///   the packet is damaged or has no description.
        private static func forEachStart(
            in packet: [UInt8],
            _ body: (XMLScanner, _ range: Range<Int>, _ isAttribute: Bool) -> Void,
            end: (Int) -> Void
        ) -> Int? {
            var scanner = XMLScanner(packet)
            var depth: Int?
            var isInProperty = false
            var firstTagEnd: Int?
            while let event = scanner.next() {
                switch event {
                case .start(let name, let range):
                    if name == description, depth == nil {
                        depth = scanner.depth
                        let isClosed = packet[range.upperBound - 2] == UInt8(ascii: "/")
                        firstTagEnd = firstTagEnd ?? range.upperBound - (isClosed ? 2 : 1)
                        while let attribute = scanner.nextAttribute() {
                            if attribute.name.namespace != XMPNamespace.rdf {
                                body(scanner, attribute.range, true)
                            }
                        }
                    } else if let depth, scanner.depth == depth + 1 {
                        isInProperty = true
                        body(scanner, range, false)
                    }
                case .end(let range):
                    if let open = depth, scanner.depth < open { depth = nil }
                    guard let open = depth, scanner.depth == open, isInProperty else { continue }
                    isInProperty = false
                    end(range.upperBound)
                case .text: break
                }
            }
            return scanner.isDamaged ? nil : firstTagEnd
        }

        /// Returns the words before colons, which include all prefixes.
        private static func prefixes(in text: ArraySlice<UInt8>) -> Set<String> {
            var prefixes: Set<String> = []
            var start = text.startIndex
            for index in text.indices {
                switch text[index] {
                case UInt8(ascii: ":"):
                    if index - start < 64 {
                        prefixes.insert(String(decoding: text[start..<index], as: UTF8.self))
                    }
                    start = index + 1
                case 0...0x20, 0x22, 0x27, 0x2F, 0x3C, 0x3D, 0x3E: start = index + 1
                default: break
                }
            }
            return prefixes
        }
    }
}
