// SPDX-License-Identifier: Apache-2.0

@testable import EncodedImages
import ImageTesting
import Testing

@Suite("XMP") struct XMPTests {
    static let packet = """
        \u{FEFF}<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- a comment > < -->
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
            xmlns:p="http://ns.adobe.com/photoshop/1.0/" xmp:Rating="4"
            xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:GPSLatitude="33,52S"
            p:City='Sidney &amp; &#x53;on' xmlns:dc="http://purl.org/dc/elements/1.1/">
           <dc:title><rdf:Alt><rdf:li xml:lang="de">Hafen</rdf:li>
             <rdf:li xml:lang="x-default">A harbour &lt;1&gt;</rdf:li></rdf:Alt></dc:title>
           <dc:creator><rdf:Seq><rdf:li>Zoë</rdf:li><rdf:li>Ann</rdf:li></rdf:Seq></dc:creator>
           <dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>ship</rdf:li></rdf:Bag></dc:subject>
           <xmp:CreateDate>2024-02-29T23:59:59</xmp:CreateDate>
           <xmp:CreatorTool><![CDATA[Tool <&> 1]]></xmp:CreatorTool>
           <exif:GPSLongitude>151,12E</exif:GPSLongitude>
           <xmp:Nested rdf:parseType="Resource"><dc:rights>not this</dc:rights>
             <exif:GPSAltitude>21/2</exif:GPSAltitude></xmp:Nested>
          </rdf:Description>
         </rdf:RDF>
        </x:xmpmeta>
        <?xpacket end="w"?>
        """

    @Test("properties are read as attributes, text and lists")
    func fields() {
        let fields = XMPFields(Array(Self.packet.utf8))
        #expect(fields.title == "A harbour <1>")
        #expect(fields.creators == ["Zoë", "Ann"])
        #expect(fields.subjects == ["sea", "ship"])
        #expect(fields.rating == 4)
        #expect(fields.city == "Sidney & Son")
        #expect(fields.createDate == "2024-02-29T23:59:59")
        #expect(fields.creatorTool == "Tool <&> 1")
        #expect(fields.rights == nil)
    }

    @Test("lists have at most 1,000 items")
    func lists() {
        let items = (1...1_001).map { "<rdf:li>\($0)</rdf:li>" }.joined()
        let parts = Self.packet.split(separator: "<rdf:li>sea</rdf:li><rdf:li>ship</rdf:li>")
        #expect(parts.count == 2)
        let fields = XMPFields(Array(parts.joined(separator: items).utf8))
        #expect(fields.subjects == (1...1_000).map { "\($0)" })
    }

    @Test("removed properties are gone, and all other bytes remain")
    func removing() throws {
        let packet = Array(Self.packet.utf8)
        let result = try #require(
            XMPPacket.removing(from: packet) { $0.local.hasPrefix("GPS") })
        let text = String(decoding: result, as: UTF8.self)
        #expect(!text.contains("GPS"))
        #expect(XMPFields(result) == XMPFields(packet))
        let expected = Self.packet
            .replacingOccurrence(of: " exif:GPSLatitude=\"33,52S\"")
            .replacingOccurrence(of: "<exif:GPSLongitude>151,12E</exif:GPSLongitude>")
            .replacingOccurrence(of: "<exif:GPSAltitude>21/2</exif:GPSAltitude>")
        #expect(text == expected)
    }

    @Test(
        "a packet that is not well-formed is rejected",
        arguments: [
            "<a", "<a>", "<a></b>", "<a b></a>", "<a b='></a>", "</a>", "<a><![CDATA[</a>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a b=c></a>", "< a></a>",
        ])
    func malformed(text: String) {
        #expect(XMPPacket.removing(from: Array(text.utf8)) { _ in false } == nil)
    }

    @Test("unbounded nesting is rejected")
    func nesting() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(XMPPacket.removing(from: Array(deep.utf8)) { _ in false } == nil)
    }

    @Test("an unbounded number of prefixes is rejected")
    func prefixes() throws {
        let names = (0..<2_000).map { " xmlns:n\($0)=\"http://example.org/\($0)\"" }
        let many = "<a\(names.joined())></a>"
        #expect(XMPPacket.removing(from: Array(many.utf8)) { _ in false } == nil)
        let items = (0..<300).map { "<n\($0):p>\($0)</n\($0):p>" }
        let packet = Array(
            """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description\
            \(names.prefix(300).joined())>\(items.joined())</rdf:Description></rdf:RDF>
            """.utf8)
        let (first, rest) = try #require(
            XMPPacket.split(packet, maximumByteCount: packet.count - 4_000))
        #expect(first.count <= packet.count - 4_000)
        #expect(try #require(rest).bytes.count < 60_000)
    }

    @Test("damage anywhere does not trap")
    func damage() {
        let packet = Array(Self.packet.utf8)
        for length in packet.indices { _ = XMPFields(Array(packet[..<length])) }
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            var damaged = packet
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] =
                    "<>/='\" &;:a".utf8.randomElement(using: &random) ?? 0
            }
            _ = XMPFields(damaged)
            _ = XMPPacket.removing(from: damaged) { $0.local.hasPrefix("GPS") }
            _ = XMPPacket.split(damaged, maximumByteCount: 700)
            _ = XMPPacket.joined(packet, damaged)
        }
    }

    @Test("a packet that is split and joined has the same properties")
    func parts() throws {
        let packet = Array(Self.packet.utf8)
        for maximum in [packet.count - 1, packet.count - 150, 850] {
            let (first, rest) = try #require(
                XMPPacket.split(packet, maximumByteCount: maximum))
            let second = try #require(rest)
            #expect(first.count <= maximum)
            #expect(XMPPacket.extensionName(of: first) == second.name)
            #expect(second.name.utf8.count == 32)
            #expect(XMPFields(first) != XMPFields(packet))
            let joined = XMPPacket.joined(first, second.bytes)
            #expect(XMPFields(joined) == XMPFields(packet))
            #expect(XMPPacket.extensionName(of: joined) == nil)
        }
        #expect(XMPPacket.split(packet, maximumByteCount: 100) == nil)
    }

    @Test("digests match RFC 1321")
    func digest() {
        func hex(_ text: String) -> String {
            MD5.digest(Array(text.utf8)).map { String(Int($0) + 256, radix: 16).dropFirst() }
                .joined()
        }
        #expect(hex("") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(hex("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(
            hex(String(repeating: "1234567890", count: 8)) == "57edf4a22be3c955ac49da2e2107b67a")
    }
}

extension String {
    fileprivate func replacingOccurrence(of part: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined()
    }
}
