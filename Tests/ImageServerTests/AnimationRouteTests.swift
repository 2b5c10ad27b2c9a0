// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("An animated original") struct AnimationRouteTests {
    private static let size = PixelSize(width: 40, height: 30)

    /// Three colourful frames with two loops.
    private static func animation(_ format: String = "gif") throws -> [UInt8] {
        var writer = try ImageDestination(format: format, codecs: builtInCodecs)
            .animationWriter(size, loopCount: 2)
        for index in 0..<3 {
            let frame = TestImage.photograph(size, seed: UInt64(index))
            try writer.append(frame, duration: .milliseconds(100 * (index + 1)))
        }
        return try writer.finish()
    }

    private func gallery(
        formats: [String] = [], name: String = "1.gif", format: String = "gif",
        limit: Int = 1 << 30
    ) throws -> TestGallery {
        let gallery = try TestGallery {
            $0.negotiatedFormatNames = formats
            $0.imgproxy = ImgproxyKeys()
        } changingPipeline: {
            $0.animatedRenditionPixelCount = limit
        }
        try gallery.file(name, Self.animation(format))
        return gallery
    }

    private func source(_ answer: Answer) throws -> ImageSource {
        try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs)
    }

    /// Expects all frames with their durations and the number of loops.
    private func expectAnimation(_ answer: Answer, _ address: String) throws {
        #expect(answer.status == 200, "\(address): \(answer.text)")
        let source = try source(answer)
        #expect(source.format.mediaType == answer.headers[.contentType])
        #expect(source.header.frameCount == 3, "\(address)")
        #expect(source.header.loopCount == 2, "\(address)")
        var frames = try source.frames()
        for index in 1...3 {
            #expect(try frames.next()?.duration == .milliseconds(100 * index), "\(address)")
        }
    }

    @Test(
        "stays animated if the output format supports animations",
        arguments: [
            ("20x20", "", "image/gif"), ("20x20", "image/webp", "image/gif"),
            ("20x20,gif", "", "image/gif"), ("20x20,webp", "", "image/webp"),
            ("20x20,fill,right,gray,blur1,q30", "", "image/gif"), ("9x9,up", "", "image/gif"),
        ])
    func moves(segment: String, accept: String, mediaType: String) async throws {
        for format in ["gif", "webp"] {
            let gallery = try gallery(name: "1.\(format)", format: format)
            let answer = try await gallery.get("/\(segment)/1.\(format)", [.accept: accept])
            try expectAnimation(answer, segment)
            #expect(answer.headers[.contentType] == mediaType)
            #expect(answer.headers[.vary] == nil)
        }
    }

    @Test(
        "becomes a format that the client accepts and plays, otherwise GIF",
        arguments: [
            ("image/avif,image/webp,*/*", "image/webp"), ("image/webp", "image/webp"),
            ("image/avif", "image/gif"), ("*/*", "image/gif"), ("", "image/gif"),
            ("image/webp;q=0", "image/gif"), ("image/webp;q=0.5,image/jpeg", "image/gif"),
        ])
    func negotiated(accept: String, mediaType: String) async throws {
        let gallery = try gallery(formats: ["avif", "webp"])
        let answer = try await gallery.get("/20x20/1.gif", [.accept: accept])
        try expectAnimation(answer, accept)
        #expect(answer.headers[.contentType] == mediaType)
        #expect(answer.headers[.vary] == "Accept")
    }

    @Test(
        "is reduced to its first frame by still, or by a format without animations",
        arguments: [
            ("/20x20,still/1.gif", "image/jpeg"), ("/20x20,still,webp/1.gif", "image/webp"),
            ("/20x20,gif,still/1.gif", "image/gif"), ("/20x20,jpg/1.gif", "image/jpeg"),
            ("/20x20,png/1.gif", "image/png"), ("/_/w:20/da:1/plain/1.gif", "image/jpeg"),
            ("/_/w:20/disable_animation:true/plain/1.gif@webp", "image/webp"),
            ("/iiif/3/1.gif/full/20,/0/default.gif", "image/gif"),
            ("/iiif/3/1.gif/full/20,/0/default.webp", "image/webp"),
            ("/sprite/20x20,gif/", "image/gif"), ("/placeholder/1.gif", nil),
        ])
    func still(address: String, mediaType: String?) async throws {
        let answer = try await gallery().get(address)
        #expect(answer.status == 200, "\(answer.text)")
        guard let mediaType else { return }
        #expect(answer.headers[.contentType] == mediaType)
        #expect(try source(answer).header.frameCount == 1)
    }

    @Test("stays animated by an imgproxy path") func imgproxy() async throws {
        let gallery = try gallery()
        for address in ["/_/w:20/plain/1.gif", "/_/w:20/da:0/plain/1.gif@webp"] {
            try expectAnimation(try await gallery.get(address), address)
        }
    }

    @Test("has its own entity tag as an animation, and gets 304 for it")
    func tags() async throws {
        let gallery = try gallery(formats: ["webp"])
        let accept: HTTPFields = [.accept: "image/webp"]
        let answers = [
            try await gallery.get("/20x20/1.gif"), try await gallery.get("/20x20/1.gif", accept),
            try await gallery.get("/20x20,still/1.gif"),
            try await gallery.get("/20x20,still/1.gif", accept),
        ]
        let tags = answers.compactMap { $0.headers[.eTag] }
        #expect(Set(tags).count == 4)
        let again = try await gallery.get("/20x20/1.gif", [.ifNoneMatch: tags[0]])
        #expect(again.status == 304)
    }

    @Test("is reduced to its first frame above the pixel limit") func limited() async throws {
        let gallery = try gallery(limit: Self.size.area * 3 - 1)
        let answer = try await gallery.get("/20x20/1.gif")
        #expect(answer.headers[.contentType] == "image/jpeg")
        let exact = try self.gallery(limit: Self.size.area * 3)
        try expectAnimation(try await exact.get("/20x20/1.gif"), "exact")
        let enlarged = try await exact.get("/41x41,up/1.gif")
        #expect(enlarged.headers[.contentType] == "image/jpeg")
    }

    @Test("is rejected above the decode limits") func refused() async throws {
        let gallery = try TestGallery(changingPipeline: {
            $0.limits.maximumAnimationPixelCount = Self.size.area * 3 - 1
        })
        try gallery.file("1.gif", Self.animation())
        #expect(try await gallery.get("/20x20/1.gif").status == 422)
        #expect(try await gallery.get("/20x20,still/1.gif").status == 422)
    }

    @Test("is played up to the end of a truncated file") func cut() async throws {
        let gallery = try gallery()
        let bytes = try Self.animation()
        try gallery.file("cut.gif", Array(bytes.dropLast(bytes.count / 10)))
        let answer = try await gallery.get("/20x20/cut.gif")
        #expect(answer.status == 200)
        #expect(try source(answer).header.frameCount == 2)
    }

    @Test("is gray in every frame with the gray option") func gray() async throws {
        let answer = try await gallery().get("/20x20,gray,webp,lossless/1.gif")
        var frames = try source(answer).frames()
        for _ in 0..<3 {
            let frame = try #require(try frames.next())
            let bytes = frame.image.asRGBA.packedBytes
            for pixel in stride(from: 0, to: bytes.count, by: 4) {
                #expect(bytes[pixel] == bytes[pixel + 1] && bytes[pixel] == bytes[pixel + 2])
            }
        }
    }

    @Test("depends on its URL only, not on earlier requests") func hot() async throws {
        let gallery = try gallery()
        let server = gallery.server
        for _ in 0..<3 {
            try expectAnimation(
                try await gallery.get("/20x20/1.gif", from: server), "again")
            let still = try await gallery.get("/20x20,still/1.gif", from: server)
            #expect(try source(still).header.frameCount == 1)
        }
    }
}
