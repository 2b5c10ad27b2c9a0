// SPDX-License-Identifier: Apache-2.0

#if AVIF
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Gain maps of AVIF") struct AVIFGainMapTests {
    private static let size = PixelSize(width: 96, height: 64)

    private static var metadata: GainMapMetadata {
        var channel = GainMapMetadata.Channel()
        (channel.maximum, channel.gamma) = (2.5, 0.5)
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2.25
        return metadata
    }

    private func encoded(_ image: PixelBuffer) throws -> [UInt8] {
        var options = EncodeOptions()
        options.quality = 90
        return try ImageDestination(format: "avif", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func source(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    private func items(_ file: [UInt8]) throws -> ItemFile {
        let list = ItemList(file.span)
        let items = ItemFile(
            item: list.primary, of: file.span, list, maximumByteCount: 1 << 20)
        return try #require(items)
    }

    private var base: PixelBuffer { TestImage.photograph(Self.size) }
    private var map: PixelBuffer {
        TestImage.photograph(PixelSize(width: 24, height: 16), .gray8)
    }

    /// A file with a base image, the item that joins it with a map, and the map.
    private func joined(
        alternatives: [Int] = [1, 0], metadataVersion: UInt8 = 0
    ) throws -> ItemFile {
        var file = try items(encoded(base))
        let map = try items(encoded(map)).items[0]
        file.items.append(
            ItemFile.Item(
                coding: "tmap", data: [metadataVersion] + Self.metadata.isoBytes,
                references: [("dimg", [0, 2])]))
        file.items.append(map)
        file.items[2].isHidden = true
        file.alternatives = alternatives
        return file
    }

    @Test("are read, and the base image is decoded as before") func read() throws {
        let source = try source(joined().bytes)
        #expect(source.header.hasGainMap)
        let plain = try self.source(encoded(base))
        #expect(!plain.header.hasGainMap)
        #expect(try plain.gainMap() == nil)
        #expect(try source.image().packedBytes == plain.image().packedBytes)
        let found = try #require(try source.gainMap())
        #expect(found.metadata == Self.metadata)
        #expect(
            try self.source(found.file).image().packedBytes
                == self.source(encoded(map)).image().packedBytes)
    }

    #if JPEG
    @Test("are written to JPEG at their own resolution") func toJPEG() throws {
        let source = try source(joined().bytes)
        let options = DecodeOptions(maximumSide: 48)
        var encodeOptions = EncodeOptions()
        encodeOptions.gainMap = try source.gainMap(options)
        let file = try ImageDestination(
            format: "jpeg", codecs: builtInCodecs, options: encodeOptions
        ).encode(source.image(options))
        let result = try self.source(file)
        let map = try #require(try result.gainMap())
        #expect(map.metadata == Self.metadata)
        #expect(result.gainMapSize(map) == PixelSize(width: 12, height: 8))
    }
    #endif

    @Test("are written with metadata and alpha, and read again", arguments: [false, true])
    func written(hasAlpha: Bool) throws {
        let image = hasAlpha ? base.converted(to: .rgba8) : base
        var options = EncodeOptions()
        options.metadata.exif = EXIFBlock.photograph(isLittleEndian: true, orientation: 1)
        options.metadata.xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
        func file() throws -> [UInt8] {
            try ImageDestination(format: "avif", codecs: builtInCodecs, options: options)
                .encode(image)
        }
        let plain = try source(file())
        options.gainMap = GainMap(Self.metadata, file: try encoded(map))
        let result = try source(file())
        #expect(result.header.hasGainMap)
        #expect(try result.metadata() == plain.metadata())
        #expect(result.header.hasAlpha == plain.header.hasAlpha)
        #expect(try result.image().packedBytes == plain.image().packedBytes)
        let found = try #require(try result.gainMap())
        #expect(found.metadata == Self.metadata)
        #expect(
            try source(found.file).image().packedBytes
                == source(encoded(map)).image().packedBytes)
    }

    @Test("need the order and the version of the specification") func ignored() throws {
        for file in [
            try joined(alternatives: [0, 1]), try joined(alternatives: []),
            try joined(metadataVersion: 1),
        ] {
            let source = try source(file.bytes)
            #expect(try source.gainMap() == nil)
            #expect(try source.image().size == Self.size)
        }
    }

    @Test("may be grids, whose tiles are part of the file of the map") func grid() throws {
        var file = try joined()
        // The smallest tiles that MIAF allows (ISO/IEC 23000-22, 7.3.11.4.2).
        let tileImage = TestImage.photograph(PixelSize(width: 64, height: 64), .gray8)
        let tile = try items(encoded(tileImage)).items[0]
        var properties = tile.properties.filter { !$0.box.dropFirst(4).starts(with: "av1C".utf8) }
        let sizeIndex = try #require(
            properties.firstIndex { $0.box.dropFirst(4).starts(with: "ispe".utf8) })
        properties[sizeIndex].box = BoxWriter.fullBox(
            "ispe", [0, 0, 0, 128, 0, 0, 0, 64])
        // Two tiles beside each other (ISO/IEC 23008-12, 6.6.2.3).
        file.items[2] = ItemFile.Item(
            coding: "grid", data: [0, 0, 0, 1, 0, 128, 0, 64], properties: properties,
            references: [("dimg", [3, 4])], isHidden: true)
        file.items += [tile, tile]
        let map = try #require(try source(file.bytes).gainMap())
        let image = try source(map.file).image()
        #expect(image.size == PixelSize(width: 128, height: 64))
        #expect(
            image.cut(PixelRect(x: 64, y: 0, width: 64, height: 64)).packedBytes
                == (try source(encoded(tileImage)).image().packedBytes))
    }

    @Test("that are damaged cost the map, or the file is refused") func damaged() throws {
        let file = try joined().bytes
        let data = try #require(file.firstRange(of: Array("mdat".utf8)))
        var random = SeededRandom(seed: 35)
        var missingCount = 0
        for round in 0..<2500 {
            var changed = file
            let range = round % 2 == 0 ? 0..<data.lowerBound : data.upperBound..<file.count
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[.random(in: range, using: &random)] = .random(in: 0...255, using: &random)
            }
            guard let source = try? source(changed) else { continue }
            let map = try? source.gainMap()
            if map == nil { missingCount += 1 }
            if round % 25 == 0 { _ = try? source.gainMap(DecodeOptions(maximumSide: 20)) }
        }
        #expect(missingCount > 50)
        for byteCount in stride(from: 0, to: file.count, by: 7) {
            _ = try? source(Array(file.prefix(byteCount))).gainMap()
        }
    }

    @Test("of the corpus have the values of the same images as JPEG") func corpus() throws {
        var metadata: [String: GainMapMetadata?] = [:]
        for file in SampleFiles.real("hdr", extensions: ["avif", "jpg"]) {
            let source = try ImageSource(
                EncodedBytes(mapping: file.path), codecs: builtInCodecs)
            let map = try source.gainMap()
            metadata[file.lastPathComponent] = map?.metadata
            if let map {
                #expect(try self.source(map.file).image().size.area > 0, "\(file.path)")
            }
        }
        guard let jpeg = metadata["seine_sdr_gainmap_srgb.jpg"] ?? nil else { return }
        for name in ["seine_sdr_gainmap_srgb.avif", "seine_sdr_gainmap_srgb_icc.avif"] {
            let avif = try #require(metadata[name] ?? nil)
            #expect(abs(avif.alternateHeadroom - jpeg.alternateHeadroom) < 1e-4)
            for (one, other) in zip(avif.channels, jpeg.channels) {
                #expect(abs(one.minimum - other.minimum) < 1e-4)
                #expect(abs(one.maximum - other.maximum) < 1e-4)
                #expect(abs(one.gamma - other.gamma) < 1e-4)
                #expect(abs(one.baseOffset - other.baseOffset) < 1e-4)
                #expect(abs(one.alternateOffset - other.alternateOffset) < 1e-4)
            }
        }
        let hdr = try #require(metadata["seine_hdr_gainmap_srgb.avif"] ?? nil)
        #expect(hdr.isBaseHDR)
        #expect((metadata["color_grid_gainmap_different_grid.avif"] ?? nil) != nil)
        for name in ["seine_hdr_gainmap_wrongaltr.avif", "unsupported_gainmap_version.avif"] {
            #expect((metadata[name] ?? nil) == nil, "\(name)")
        }
    }
}
#endif
