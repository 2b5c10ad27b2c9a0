// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite struct SandboxedGainMapTests {
    @Test func `gain maps are the same in the sandbox`() throws {
        var channel = GainMapMetadata.Channel()
        channel.maximum = 2.5
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2
        metadata.channels[1].gamma = 0.5
        var options = EncodeOptions()
        options.gainMap = GainMap(
            metadata,
            file: try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(
                TestImage.photograph(PixelSize(width: 60, height: 40))))
        let file = EncodedBytes(
            try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options).encode(
                TestImage.photograph(PixelSize(width: 240, height: 160))))
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let own = try ImageSource(file, codecs: builtInCodecs)
        let remote = try ImageSource(file, codecs: Sandboxes.codecs(sandbox))
        #expect(remote.header == own.header && own.header.hasGainMap)
        let map = try #require(try remote.gainMap())
        #expect(try map == own.gainMap())
        let small = DecodeOptions(maximumSide: 90)
        #expect(try remote.gainMap(small) == own.gainMap(small))
        #expect(try remote.gainMap(small)?.metadata == metadata)
    }

    @Test func `a damaged map counts as absent in the sandbox`() throws {
        var options = EncodeOptions()
        options.gainMap = GainMap(GainMapMetadata(), file: [0xFF, 0xD8, 0xFF, 0xD9, 0, 0])
        let image = TestImage.photograph(PixelSize(width: 40, height: 30))
        let file = EncodedBytes(
            try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
                .encode(image))
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let source = try ImageSource(file, codecs: Sandboxes.codecs(sandbox))
        #expect(source.header.hasGainMap)
        #expect(try source.gainMap(DecodeOptions(maximumSide: 20)) == nil)
        #expect(try source.image().size == image.size)
    }
}
