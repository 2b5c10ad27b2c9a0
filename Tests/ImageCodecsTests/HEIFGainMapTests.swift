// SPDX-License-Identifier: Apache-2.0

#if HEIF
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Gain maps of HEIF") struct HEIFGainMapTests {
    private func source(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    private func plainFile() throws -> [UInt8] {
        let url = try #require(
            SampleFiles.own("heif", "valid").first { $0.lastPathComponent == "rgb.heic" })
        return try [UInt8](Data(contentsOf: url))
    }

    private func items(of file: [UInt8]) throws -> ItemFile {
        let list = ItemList(file.span)
        let items = ItemFile(item: list.primary, of: file.span, list, maximumByteCount: 1 << 20)
        return try #require(items)
    }

    @Test("are read, and the base image is decoded as before") func read() throws {
        let plain = try plainFile()
        #expect(try !source(plain).header.hasGainMap)
        var metadata = GainMapMetadata()
        metadata.alternateHeadroom = 2
        var file = try items(of: plain)
        var map = file.items[0]
        map.isHidden = true
        file.items.append(
            ItemFile.Item(
                coding: "tmap", data: [0] + metadata.isoBytes,
                references: [("dimg", [0, 2])]))
        file.items.append(map)
        file.alternatives = [1, 0]
        let source = try source(file.bytes)
        #expect(source.header.hasGainMap)
        #expect(source.format.name == "heic")
        let pixels = try self.source(plain).image().packedBytes
        #expect(try source.image().packedBytes == pixels)
        let found = try #require(try source.gainMap())
        #expect(found.metadata == metadata)
        // The map is a copy of the image.
        #expect(try self.source(found.file).image().packedBytes == pixels)
    }

    /// A file with an auxiliary image as Apple's cameras write it.
    private func appleFile(_ packet: String, exif: [UInt8]? = nil) throws -> [UInt8] {
        let plain = try plainFile()
        var file = try items(of: plain)
        var map = file.items[0]
        map.isHidden = true
        map.references = [("auxl", [0])]
        let type = Array("urn:com:apple:photo:2020:aux:hdrgainmap\0".utf8)
        map.properties.append(ItemFile.Property(box: BoxWriter.fullBox("auxC", type)))
        file.items.append(map)
        var description = ItemFile.Item(
            coding: "mime", data: Array(packet.utf8), references: [("cdsc", [1])])
        description.name = [0] + Array("application/rdf+xml\0".utf8)
        file.items.append(description)
        if let exif {
            file.items.append(
                ItemFile.Item(
                    coding: "Exif", data: [0, 0, 0, 0] + exif, references: [("cdsc", [0])]))
        }
        return file.bytes
    }

    private func packet(_ properties: String) -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
        xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
        xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/">\
        <HDRGainMap:HDRGainMapVersion>131072</HDRGainMap:HDRGainMapVersion>\(properties)\
        </rdf:Description></rdf:RDF></x:xmpmeta>
        """
    }

    @Test("of Apple's cameras are auxiliary images") func apple() throws {
        let stated = "<HDRGainMap:HDRGainMapHeadroom>4</HDRGainMap:HDRGainMapHeadroom>"
        let source = try source(appleFile(packet(stated)))
        #expect(source.header.hasGainMap)
        let map = try #require(try source.gainMap())
        #expect(abs(map.metadata.alternateHeadroom - 2) < 1e-9, "a ratio of 4 is 2 stops")
        #expect(try self.source(map.file).pixelSize == source.pixelSize)
        // Without a statement and a maker note, the largest headroom of these cameras.
        let silent = try self.source(appleFile(packet("")))
        #expect(try silent.gainMap()?.metadata.alternateHeadroom == 3)
        let other = try self.source(appleFile("<x/>"))
        #expect(try other.gainMap() == nil)
    }

    @Test(
        "of Apple's cameras have the headroom of the maker note",
        arguments: [(0.5, 0.005, 1.7), (0.5, 0.5, 1.5505), (1.5, 0.0, 3.0), (1.5, 1.0, 2.0)])
    func makerNote(_ first: Double, _ second: Double, _ stops: Double) throws {
        let block = appleEXIF(first, second)
        let source = try source(appleFile(packet(""), exif: block))
        let found = try #require(try source.gainMap()).metadata.alternateHeadroom
        #expect(abs(found - stops) < 1e-6)
    }

    /// An EXIF block whose maker note has the entries 33 and 48.
    private func appleEXIF(_ first: Double, _ second: Double) -> [UInt8] {
        func integer(_ value: Int, _ byteCount: Int) -> [UInt8] {
            (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            integer(tag, 2) + integer(type, 2) + integer(count, 4) + integer(value, 4)
        }
        func rational(_ value: Double) -> [UInt8] {
            integer(Int(value * 10_000), 4) + integer(10_000, 4)
        }
        let note =
            Array("Apple iOS\0\0\u{1}MM".utf8) + integer(2, 2) + entry(33, 10, 1, 44)
            + entry(48, 10, 1, 52) + integer(0, 4) + rational(first) + rational(second)
        return Array("MM\0*".utf8) + integer(8, 4) + integer(1, 2) + entry(0x8769, 4, 1, 26)
            + integer(0, 4) + integer(1, 2) + entry(0x927C, 7, note.count, 44) + integer(0, 4)
            + note
    }
}
#endif
