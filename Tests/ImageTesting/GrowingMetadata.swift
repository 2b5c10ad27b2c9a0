// SPDX-License-Identifier: Apache-2.0

/// XMP packets of any length that require much work to parse.
public struct GrowingPacket: Sendable, CustomStringConvertible {
    public let description: String
    private let make: @Sendable (Int) -> String

    private init(_ description: String, _ make: @escaping @Sendable (Int) -> String) {
        self.description = description
        self.make = make
    }

    /// Makes a packet with `count` repetitions.
    public func bytes(_ count: Int) -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
            xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" \
            xmlns:dc="http://purl.org/dc/elements/1.1/">\(make(count))</rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    private static func within(_ tag: String, _ text: String) -> String {
        "<rdf:Description\(tag)>\(text)</rdf:Description>"
    }

    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    public static let all: [GrowingPacket] = [
        GrowingPacket("attributes") { within(repeated(" a='b'", $0), "") },
        GrowingPacket("attributes with prefixes") { within(repeated(" dc:title='b'", $0), "") },
        GrowingPacket("elements") { within("", repeated("<dc:a>b</dc:a>", $0)) },
        GrowingPacket("empty elements") { repeated("<rdf:Description/>", $0) },
        GrowingPacket("titles") {
            within("", repeated("<dc:title><rdf:Alt><rdf:li>b</rdf:li></rdf:Alt></dc:title>", $0))
        },
        GrowingPacket("keywords") {
            within(
                "",
                "<dc:subject><rdf:Bag>\(repeated("<rdf:li>b</rdf:li>", $0))</rdf:Bag></dc:subject>")
        },
        GrowingPacket("languages") {
            within(
                "",
                "<dc:title><rdf:Alt>\(repeated("<rdf:li xml:lang='x'>b</rdf:li>", $0))"
                    + "</rdf:Alt></dc:title>")
        },
        GrowingPacket("control characters") {
            within(
                "",
                "<dc:title><rdf:Alt><rdf:li>x\(repeated("\u{1}", $0))</rdf:li></rdf:Alt></dc:title>"
            )
        },
        GrowingPacket("references to characters") {
            within(
                "",
                "<dc:title><rdf:Alt><rdf:li>x\(repeated("&#1;&quot;", $0))</rdf:li></rdf:Alt></dc:title>"
            )
        },
        GrowingPacket("pieces of text") {
            within(
                "",
                "<dc:title><rdf:Alt><rdf:li>\(repeated("a<!---->", $0))</rdf:li></rdf:Alt></dc:title>"
            )
        },
        GrowingPacket("CDATA") {
            within("", "<dc:title>\(repeated("<![CDATA[a]]>", $0))</dc:title>")
        },
        GrowingPacket("prefixes") {
            within(repeated(" xmlns:a='urn:a'", $0), "")
        },
        GrowingPacket("a prefix that changes in each element") {
            within("", repeated("<dc:a xmlns:b='urn:b' b:c='d'/>", $0))
        },
        GrowingPacket("a long namespace") {
            within(
                " xmlns:n='\(repeated("n", $0))'", repeated("<n:a n:b='c'/>", $0))
        },
        GrowingPacket("levels") {
            within("", repeated(repeated("<a>", 90) + repeated("</a>", 90), $0 / 32))
        },
    ]

    /// Packets of `count` bytes whose descriptions depend on the namespaces around them.
    public static func namespacesAround(_ count: Int) -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
            xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" \
            xmlns:n="\(repeated("n", count))">\(repeated("<rdf:Description/>", count / 18))\
            </rdf:RDF></x:xmpmeta>
            """.utf8)
    }
}
