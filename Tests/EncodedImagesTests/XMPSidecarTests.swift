// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EncodedImages

@Suite("XMP sidecars") struct XMPSidecarTests {
    @Test("keep their other properties") func otherProperties() throws {
        let other = "<rdf:RDF><rdf:Description rdf:about='' dc:x='1'></rdf:Description></rdf:RDF>"
        let file = try #require(XMPSidecar.setting(3, in: Array(other.utf8)))
        #expect(XMPSidecar.rating(file) == 3)
        #expect(String(decoding: file, as: UTF8.self).contains("rdf:about='' dc:x='1'"))
        let element = Array("<rdf:Description><xmp:Rating>2</xmp:Rating>".utf8)
        let changed = try #require(XMPSidecar.setting(-1, in: element))
        #expect(
            String(decoding: changed, as: UTF8.self)
                == "<rdf:Description><xmp:Rating>-1</xmp:Rating>")
        #expect(XMPSidecar.setting(1, in: Array("text".utf8)) == nil)
    }

    @Test("describe a favourite by its label, unless they have another one") func label() throws {
        let rated = try #require(XMPSidecar.setting(3, in: nil))
        let favourite = try #require(XMPSidecar.setting(isFavourite: true, in: rated))
        let text = String(decoding: favourite, as: UTF8.self)
        #expect(text.contains(" xmp:Label=\"Favourite\" xmlns:xmp="))
        #expect(text.contains(" xmp:Rating=\"3\""))
        #expect(text.split(separator: "xmlns:xmp=").count == 2)
        #expect(XMPSidecar.setting(isFavourite: true, in: favourite) == favourite)
        let removed = try #require(XMPSidecar.setting(isFavourite: false, in: favourite))
        #expect(String(decoding: removed, as: UTF8.self).contains("xmp:Label=\"\""))
        #expect(XMPSidecar.setting(isFavourite: false, in: rated) == rated)
        let red = Array("<rdf:Description xmp:Label='Red'/>".utf8)
        for isFavourite in [true, false] {
            #expect(XMPSidecar.setting(isFavourite: isFavourite, in: red) == red)
        }
        #expect(XMPSidecar.setting(isFavourite: true, in: Array("text".utf8)) == nil)
    }
}
