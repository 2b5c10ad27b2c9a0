// SPDX-License-Identifier: Apache-2.0

@testable import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("The cost of metadata") struct MetadataCostTests {
    @Test("is linear in the length of an XMP packet", arguments: GrowingPacket.all)
    func linear(packet: GrowingPacket) {
        let works = [1_000, 2_000, 4_000].map { count in
            let bytes = packet.bytes(count)
            var reader = XMPPropertyReader(bytes)
            while reader.next() != nil {}
            // Each byte is looked at a few times: as a name, as part of a tag, as text.
            #expect(reader.workByteCount <= 6 * bytes.count)
            return reader.workByteCount
        }
        #expect(works[1] <= 2 * works[0] + 1_000)
        #expect(works[2] <= 2 * works[1] + 1_000)
    }

    @Test("is bounded by the limits on texts of an XMP packet", arguments: GrowingPacket.all)
    func kept(packet: GrowingPacket) {
        let fields = XMPFields(packet.bytes(5_000))
        let texts = [fields.title, fields.description].compactMap(\.self)
        #expect(texts.allSatisfy { $0.utf8.count <= MetadataText.maximumByteCount })
        #expect(fields.subjects.count <= MetadataText.maximumItemCount)
        #expect(!(fields.title ?? "").unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test("a text is truncated between characters, and all texts of a block have a common limit")
    func cut() {
        let long = String(repeating: "é", count: MetadataText.maximumByteCount)
        let packet = """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
              xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:p="http://ns.adobe.com/photoshop/1.0/">
            <rdf:Description dc:title="a\(long)" dc:description="\(long)" dc:rights="\(long)"
              p:City="Rome"/></rdf:RDF>
            """
        let fields = XMPFields(Array(packet.utf8))
        #expect(fields.title?.utf8.count == MetadataText.maximumByteCount - 1)
        #expect(fields.title?.hasSuffix("é") == true)
        #expect(fields.description?.utf8.count == MetadataText.maximumByteCount)
        // What is left is less than a character.
        #expect(fields.rights == nil)
        #expect(fields.city == "R")
        let records: [UInt8] =
            [0x1C, 2, 120, 0x80, 4, 0, 2, 0, 0] + [UInt8](repeating: 0xE9, count: 0x20000)
        // Latin-1, of which each character takes two bytes.
        #expect(IPTCFields(records).caption?.utf8.count == MetadataText.maximumByteCount)
        let exif = EXIFBlock.make([(0x010E, .ascii("a" + long)), (0x010F, .ascii("Maker"))])
        let parsed = EXIFFields(exif.span)
        #expect(parsed.imageDescription?.utf8.count == MetadataText.maximumByteCount - 1)
        #expect(parsed.imageDescription?.hasSuffix("é") == true)
        #expect(parsed.cameraMake == "Maker")
    }

    @Test("1,000 keywords of IPTC are kept")
    func keywords() {
        let keyword: [UInt8] = [0x1C, 2, 25, 0, 1, 0x61]
        let records = (0..<5_000).flatMap { _ in keyword }
        #expect(IPTCFields(records).keywords.count == MetadataText.maximumItemCount)
    }

    @Test("parts of a packet are not joined if that multiplies their namespaces")
    func joined() {
        let first = GrowingPacket.all[0].bytes(1)
        for count in [10_000, 20_000, 40_000] {
            let rest = GrowingPacket.namespacesAround(count)
            #expect(XMPPacket.joined(first, rest) == first)
        }
        let small = GrowingPacket.namespacesAround(180)
        let joined = XMPPacket.joined(first, small)
        #expect(joined.count > first.count)
        #expect(joined.count <= first.count + 2 * small.count + 64 << 10)
    }

    @Test("a packet is not split if that multiplies its namespaces")
    func split() {
        let packet = GrowingPacket.all.first { $0.description == "a long namespace" }
        let bytes = packet?.bytes(20_000) ?? []
        #expect(XMPPacket.split(bytes, maximumByteCount: 65_502) == nil)
    }

    @Test("all of many GPS directories are removed from EXIF")
    func locations() throws {
        let position = EXIFBlock.Value.directory([(0x0001, .ascii("N"))])
        let entries: [(Int, EXIFBlock.Value)] =
            [(0x010F, .ascii("Maker"))] + Array(repeating: (0x8825, position), count: 6)
        let block = EXIFBlock.make(entries)
        let changes = ImageChanges(size: PixelSize(width: 1, height: 1))
        let policy = MetadataPolicy(.all, stripsLocation: true)
        let result = try #require(EXIFRewriter.rewritten(block, policy, changes))
        #expect(Self.tags(result) == [0x010F])
        #expect(EXIFFields(result.span).cameraMake == "Maker")
        #expect(!result.contains(UInt8(ascii: "N")))
        // More directories of positions than any program writes.
        let many = EXIFBlock.make(
            [(0x010F, .ascii("Maker"))] + Array(repeating: (0x8825, position), count: 9))
        #expect(EXIFRewriter.rewritten(many, policy, changes) == nil)
    }

    @Test("overlapping values of a TIFF file are not copied beyond its length")
    func extraction() throws {
        // A thousand tags of the camera's directory, each with the same 4 KB.
        let value = [UInt8](repeating: 7, count: 4_096)
        var block = EXIFBlock.make([
            (0x8769, .directory((0..<1_000).map { (0xC000 + $0, .bytes([1, 2, 3, 4, 5])) }))
        ])
        let place = block.count
        block += value
        guard let layout = TIFFLayout(block.span),
            let camera = layout.directory(block.span, at: 8)?.directory(.exifIFD, block.span)
        else {
            Issue.record("no directory of the camera")
            return
        }
        for entry in camera.entries {
            block.replaceSubrange(entry.offset + 4..<entry.offset + 8, with: little(value.count))
            block.replaceSubrange(entry.offset + 8..<entry.offset + 12, with: little(place))
        }
        let exif = try #require(EXIFExtraction.blocks(inTIFF: block.span).exif)
        #expect(exif.count <= 2 * block.count)
    }

    private static func tags(_ block: [UInt8]) -> [Int]? {
        TIFFLayout(block.span).flatMap { layout in
            layout.directory(block.span, at: layout.firstDirectory(block.span))?
                .entries.map(\.tag.rawValue)
        }
    }

    private func little(_ value: Int) -> [UInt8] {
        [UInt8](value, byteCount: 4, .littleEndian)
    }
}
