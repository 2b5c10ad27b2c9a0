// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
import EncodedImages
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Gain maps of JPEG XL") struct JPEGXLGainMapTests {
    private static var metadata: GainMapMetadata {
        var channel = GainMapMetadata.Channel()
        (channel.minimum, channel.maximum) = (-1, 3)
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2.5
        return metadata
    }

    private let base = TestImage.photograph(PixelSize(width: 96, height: 64))
    private let map = TestImage.photograph(PixelSize(width: 24, height: 16), .gray8)

    private func encoded(_ image: PixelBuffer, isBare: Bool) throws -> [UInt8] {
        var options = EncodeOptions()
        options.isLossless = true
        // Only a container has room for metadata.
        if !isBare { options.metadata.xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8) }
        return try ImageDestination(format: "jxl", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func source(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    private func box(_ contents: [UInt8]) -> [UInt8] {
        [UInt8](contents.count + 8, byteCount: 4, .bigEndian) + Array("jhgm".utf8) + contents
    }

    private func contents(
        version: UInt8 = 0, colorEncoding: [UInt8] = [], profile: [UInt8] = []
    ) throws -> [UInt8] {
        let metadata = Self.metadata.isoBytes
        var bytes = [version] + [UInt8](metadata.count, byteCount: 2, .bigEndian) + metadata
        bytes += [UInt8(colorEncoding.count)] + colorEncoding
        bytes += [UInt8](profile.count, byteCount: 4, .bigEndian) + profile
        return bytes + (try encoded(map, isBare: true))
    }

    @Test("are read, with or without a colour space") func read() throws {
        let plain = try encoded(base, isBare: false)
        #expect(try !source(plain).header.hasGainMap)
        #expect(try source(plain).gainMap() == nil)
        for contents in [
            try contents(), try contents(colorEncoding: [0x50, 0xB4, 0]),
            try contents(profile: [1, 2, 3, 4, 5]),
        ] {
            let source = try source(plain + box(contents))
            #expect(source.header.hasGainMap)
            let found = try #require(try source.gainMap())
            #expect(found.metadata == Self.metadata)
            #expect(try self.source(found.file).image().packedBytes == map.packedBytes)
            #expect(try source.image().packedBytes == base.packedBytes)
        }
    }

    @Test("are written to a codestream and to a container", arguments: [false, true])
    func written(isBare: Bool) throws {
        var options = EncodeOptions()
        options.isLossless = true
        if !isBare { options.metadata.xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8) }
        options.gainMap = GainMap(Self.metadata, file: try encoded(map, isBare: true))
        let file = try ImageDestination(format: "jxl", codecs: builtInCodecs, options: options)
            .encode(base)
        let source = try source(file)
        let found = try #require(try source.gainMap())
        #expect(found.metadata == Self.metadata)
        #expect(try self.source(found.file).image().packedBytes == map.packedBytes)
        #expect(try source.image().packedBytes == base.packedBytes)
        #expect(try source.metadata() == options.metadata)
    }

    @Test("are absent in a codestream without a container") func codestream() throws {
        let source = try source(encoded(base, isBare: true))
        #expect(!source.header.hasGainMap)
        #expect(try source.gainMap() == nil)
    }

    #if JPEG
    @Test("are written to JPEG at their own resolution") func toJPEG() throws {
        let source = try source(encoded(base, isBare: false) + box(contents()))
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

    @Test("that are damaged cost the map, never the image") func damaged() throws {
        let file = try encoded(base, isBare: false)
        let contents = try contents()
        #expect(try source(file + box(self.contents(version: 1))).gainMap() == nil)
        for byteCount in 0..<contents.count {
            let source = try source(file + box(Array(contents.prefix(byteCount))))
            _ = try source.gainMap(DecodeOptions(maximumSide: 20))
            if byteCount % 50 == 0 { #expect(try source.image().packedBytes == base.packedBytes) }
        }
        var random = SeededRandom(seed: 36)
        var missingCount = 0
        for _ in 0..<2500 {
            var changed = contents
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[.random(in: changed.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            let map = try source(file + box(changed)).gainMap(DecodeOptions(maximumSide: 20))
            if map == nil { missingCount += 1 }
        }
        #expect(missingCount > 50)
    }
}
#endif
