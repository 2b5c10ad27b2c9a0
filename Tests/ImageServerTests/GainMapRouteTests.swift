// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("Renditions of HDR originals") struct GainMapRouteTests {
    private func file(_ seed: UInt64 = 1) throws -> [UInt8] {
        var channel = GainMapMetadata.Channel()
        channel.maximum = 2.5
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2
        var options = EncodeOptions()
        options.gainMap = GainMap(
            metadata,
            file: try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(
                TestImage.photograph(PixelSize(width: 100, height: 75), .gray8, seed: seed)))
        return try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
            .encode(TestImage.photograph(PixelSize(width: 400, height: 300), seed: seed))
    }

    private func gainMap(_ bytes: [UInt8]) throws -> GainMap? {
        try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs).gainMap()
    }

    @Test("contain the gain map in their size, unless the URL says otherwise")
    func renditions() async throws {
        let gallery = try TestGallery(keepsRenditions: true) { $0.imgproxy = ImgproxyKeys() }
        try gallery.file("1.jpg", file())
        for path in [
            "/200x200/1.jpg", "/200x200,fill,jpeg/1.jpg", "/iiif/3/1.jpg/full/200,/0/default.jpg",
            "/_/w:200/plain/1.jpg@jpg",
        ] {
            let answer = try await gallery.get(path)
            #expect(answer.status == 200, "\(path)")
            let map = try #require(try gainMap(answer.body), "\(path)")
            let size = try ImageSource(EncodedBytes(map.file), codecs: builtInCodecs).pixelSize
            #expect(size.width == 50, "\(path): \(size)")
            #expect(map.metadata.channels[0].maximum == 2.5)
            #expect(try await gallery.get(path).body == answer.body)
        }
        for path in [
            "/200x200,sdr/1.jpg", "/200x200,gray/1.jpg", "/200x200,blur2/1.jpg",
            "/200x200,png/1.jpg",
        ] {
            let answer = try await gallery.get(path)
            #expect(answer.status == 200, "\(path)")
            #expect(try gainMap(answer.body) == nil, "\(path)")
        }
        let (hdr, sdr) = (
            try await gallery.get("/200x200/1.jpg"), try await gallery.get("/200x200,sdr/1.jpg")
        )
        #expect(hdr.headers[.eTag] != sdr.headers[.eTag])
        func pixels(_ answer: Answer) throws -> [UInt8] {
            try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image().packedBytes
        }
        #expect(try pixels(hdr) == pixels(sdr))
    }
}
