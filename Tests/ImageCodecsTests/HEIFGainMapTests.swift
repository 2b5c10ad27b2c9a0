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

    @Test("are read, and the base image is decoded as before") func read() throws {
        let url = try #require(
            SampleFiles.own("heif", "valid").first { $0.lastPathComponent == "rgb.heic" })
        let plain = try [UInt8](Data(contentsOf: url))
        #expect(try !source(plain).header.hasGainMap)
        var metadata = GainMapMetadata()
        metadata.alternateHeadroom = 2
        let list = ItemList(plain.span)
        let items = ItemFile(
            item: list.primary, of: plain.span, list, maximumByteCount: 1 << 20)
        var file = try #require(items)
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
}
#endif
