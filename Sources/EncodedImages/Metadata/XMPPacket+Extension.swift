// SPDX-License-Identifier: Apache-2.0

/// Packets in two parts, which JPEG needs: a segment holds 64 KiB.
///
/// The second part is a packet of its own; the first names it by its MD5 digest.
/// - SeeAlso: Adobe, *XMP Specification Part 3*, section 1.1.3.1.
extension XMPPacket {
    private static let note = XMLScanner.Name(XMPNamespace.notes, "HasExtendedXMP")
    private static let root = XMLScanner.Name(XMPNamespace.rdf, "RDF")
    private static let description = XMLScanner.Name(XMPNamespace.rdf, "Description")

    /// The name of the second part; `nil` if there is none.
    package static func extensionName(of packet: [UInt8]) -> String? {
        var reader = XMPPropertyReader(packet)
        while let property = reader.next() {
            if property.name == note { return property.text }
        }
        return nil
    }

    /// One packet with the properties of both parts; the first as it is if that cannot be.
    package static func joined(_ packet: [UInt8], _ rest: [UInt8]) -> [UInt8] {
        guard let rest = Envelope(rest), let bytes = rest.descriptions(),
            let packet = removing(from: packet, where: { $0 == note }),
            let envelope = Envelope(packet), envelope.namespaces["rdf"] == XMPNamespace.rdf,
            rest.namespaces["rdf"] == XMPNamespace.rdf
        else { return packet }
        let end = envelope.content.upperBound
        return packet[..<end] + bytes + packet[end...]
    }

    /// Splits a packet that is too long into two.
    ///
    /// - Parameters:
    ///   - packet: XML in UTF-8.
    ///   - maximumByteCount: what the first part may have.
    /// - Returns: a packet, and the largest properties if they had no room in it; `nil` if the
    ///   packet is damaged or does not become small enough.
    package static func split(
        _ packet: [UInt8], maximumByteCount: Int
    ) -> (packet: [UInt8], rest: (name: String, bytes: [UInt8])?)? {
        if packet.count <= maximumByteCount { return (packet, nil) }
        let packet = withoutPadding(packet)
        if packet.count <= maximumByteCount { return (packet, nil) }
        guard let clean = removing(from: packet, where: { $0 == note }),
            let list = PropertyList(clean), let tagEnd = list.firstTagEnd
        else { return nil }
        // The name of the second part takes some as well.
        let room = maximumByteCount - 200
        var byteCount = clean.count
        var moved: [PropertyList.Item] = []
        for item in list.items.sorted(by: { $0.range.count > $1.range.count }) {
            if byteCount <= room { break }
            byteCount -= item.range.count
            moved.append(item)
        }
        guard byteCount <= room else { return nil }
        var bytes = Array(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(XMPNamespace.rdf)\">".utf8
        )
        for item in moved { bytes += item.description(from: clean) }
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

    /// Without the blanks before its end that leave an editor room.
    private static func withoutPadding(_ packet: [UInt8]) -> [UInt8] {
        let mark = Array("<?xpacket end".utf8)
        guard packet.count > mark.count + 64,
            let start = (packet.count - mark.count - 64...packet.count - mark.count)
                .last(where: { packet[$0..<$0 + mark.count].elementsEqual(mark) })
        else { return packet }
        let end = packet[..<start].lastIndex { $0 > 0x20 } ?? start - 1
        return packet[...end] + [0x0A] + packet[start...]
    }

    /// What stands within `rdf:RDF`.
    private struct Envelope {
        private let packet: [UInt8]
        private(set) var content = 0..<0
        private(set) var namespaces: [String: String] = [:]
        /// The start tags of the descriptions.
        private var tags: [Range<Int>] = []

        init?(_ packet: [UInt8]) {
            self.packet = packet
            var scanner = XMLScanner(packet)
            var depth: Int?
            var start = 0
            while let event = scanner.next() {
                switch event {
                case .start(let name, _, let range):
                    if name == root, depth == nil {
                        depth = scanner.depth
                        start = range.upperBound
                        namespaces = scanner.namespaces
                    } else if let depth, scanner.depth == depth + 1, content.isEmpty {
                        tags.append(range)
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

        /// The content, with the namespaces that were declared around it.
        func descriptions() -> [UInt8]? {
            // Of a packet that was made to grow, nothing is joined.
            guard namespaces.count * tags.count <= 10_000 else { return nil }
            var bytes: [UInt8] = []
            var end = content.lowerBound
            for tag in tags {
                let text = packet[tag]
                guard let name = text.firstIndex(where: { $0 <= 0x20 || $0 == 0x2F || $0 == 0x3E })
                else { return nil }
                bytes += packet[end..<name]
                let tagText = String(decoding: text, as: UTF8.self)
                for (prefix, namespace) in namespaces.sorted(by: { $0.key < $1.key })
                where !["", "xml", "rdf", "x"].contains(prefix) {
                    if tagText.contains("xmlns:\(prefix)") { continue }
                    bytes += Array(" xmlns:\(prefix)=\"\(escaped(namespace))\"".utf8)
                }
                end = name
            }
            return bytes + packet[end..<content.upperBound]
        }
    }

    /// The properties of a packet with what their prefixes mean.
    private struct PropertyList {
        struct Item {
            let range: Range<Int>
            let isAttribute: Bool
            let namespaces: [String: String]

            /// The property in a description of its own.
            func description(from packet: [UInt8]) -> [UInt8] {
                var tag = "<rdf:Description rdf:about=\"\""
                let used = PropertyList.prefixes(in: packet[range])
                for (prefix, namespace) in namespaces.sorted(by: { $0.key < $1.key })
                where used.contains(prefix) && !["xml", "rdf", "x"].contains(prefix) {
                    tag += " xmlns:\(prefix)=\"\(escaped(namespace))\""
                }
                return isAttribute
                    ? Array(tag.utf8) + packet[range] + Array("/>".utf8)
                    : Array("\(tag)>".utf8) + packet[range] + Array("</rdf:Description>".utf8)
            }
        }

        /// All that stands before colons, among which are the prefixes of names.
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

        private(set) var items: [Item] = []
        /// Where the first description's start tag takes another attribute.
        private(set) var firstTagEnd: Int?

        init?(_ packet: [UInt8]) {
            var scanner = XMLScanner(packet)
            var depth: Int?
            var start: (offset: Int, namespaces: [String: String])?
            while let event = scanner.next() {
                switch event {
                case .start(let name, let attributes, let range):
                    if name == description, depth == nil {
                        depth = scanner.depth
                        let isClosed = packet[range.upperBound - 2] == UInt8(ascii: "/")
                        firstTagEnd = firstTagEnd ?? range.upperBound - (isClosed ? 2 : 1)
                        items += attributes.filter { $0.name.namespace != XMPNamespace.rdf }.map {
                            Item(
                                range: $0.range, isAttribute: true, namespaces: scanner.namespaces)
                        }
                    } else if let depth, scanner.depth == depth + 1 {
                        start = (range.lowerBound, scanner.namespaces)
                    }
                case .end(let range):
                    if let open = depth, scanner.depth < open { depth = nil }
                    guard let open = depth, scanner.depth == open, let begun = start else {
                        continue
                    }
                    items.append(
                        Item(
                            range: begun.offset..<range.upperBound, isAttribute: false,
                            namespaces: begun.namespaces))
                    start = nil
                case .text: break
                }
            }
            if scanner.isDamaged { return nil }
        }
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
