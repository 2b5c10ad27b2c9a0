// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ImageLoading
import NIOCore
import Pixels
import Synchronization
import Testing

@testable import ImageServer

@Suite("A rendition that was just sent") struct HotRenditionTests {
    private func ask(
        _ responder: ImageResponder, _ address: String, _ headers: HTTPFields = [:]
    ) async throws -> Answer {
        let request = Request(
            head: HTTPRequest(
                method: .get, scheme: "http", authority: "localhost", path: address,
                headerFields: headers), body: RequestBody(buffer: ByteBuffer()))
        let response = await responder.respond(to: request, context: RequestOrigin())
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Answer(
            status: response.status.code, headers: response.headers,
            body: collector.bytes.withLock { $0 })
    }

    @Test("is sent again as it was, with the pipeline closed") func again() async throws {
        let gallery = try TestGallery { $0.negotiatedFormatNames = ["webp"] }
        try gallery.picture("house/1.png")
        let responder = try gallery.server.responder()
        let first = try await ask(responder, "/house/20x20/1.png")
        await gallery.pipeline.close()
        let identity = try gallery.identity("house/1.png")
        // However long the first one took.
        responder.hot.note(identity, ["house", "1.png"], lookedAt: .now + .seconds(60))
        let second = try await ask(responder, "/house/20x20/1.png")
        #expect(second.status == 200)
        #expect(second.body == first.body)
        #expect(second.headers == first.headers)
        let tag = try #require(first.headers[.eTag])
        let known = try await ask(responder, "/house/20x20/1.png", [.ifNoneMatch: tag])
        #expect(known.status == 304)
        // Another format is another rendition, which nobody can make now.
        let other = try await ask(responder, "/house/20x20/1.png", [.accept: "image/webp"])
        #expect(other.status == 503)
    }

    @Test("needs a signature as any other") func signed() async throws {
        let gallery = try TestGallery { $0.signatureKeys = [Array("secret".utf8)] }
        try gallery.picture("house/1.png")
        let responder = try gallery.server.responder()
        let address = AddressSignature.signed("/house/20x20/1.png", key: Array("secret".utf8))
        for _ in 0..<2 { #expect(try await ask(responder, address).status == 200) }
        #expect(try await ask(responder, "/house/20x20/1.png").status == 403)
    }

    @Test("is of an original that was looked at a moment ago") func lifetime() throws {
        let gallery = try TestGallery()
        try gallery.picture("1.png")
        let identity = try gallery.identity("1.png")
        let hot = HotRenditions(byteLimit: 100)
        let start = ContinuousClock.now
        hot.note(identity, ["1.png"], lookedAt: start)
        #expect(hot.original(["1.png"], now: start + .milliseconds(99)) == identity)
        #expect(hot.original(["1.png"], now: start + .milliseconds(100)) == nil)
        #expect(hot.original(["2.png"], now: start) == nil)
        hot.removeAll(of: identity.path)
        #expect(hot.original(["1.png"], now: start) == nil)
    }

    @Test("goes when there is no room, the one that was not sent for longest first") func room() {
        let hot = HotRenditions(byteLimit: 100)
        func key(_ number: Int) -> HotRenditions.Key { .init(path: "\(number)", entityTag: "") }
        func insert(_ number: Int, byteCount: Int) {
            let body = ByteBuffer(repeating: 0, count: byteCount)
            hot.insert(.init(body: body, mediaType: "image/png"), key(number))
        }
        for number in 0..<4 { insert(number, byteCount: 25) }
        #expect(hot.entry(key(0)) != nil)
        insert(4, byteCount: 25)
        #expect(hot.entry(key(0)) != nil)
        #expect(hot.entry(key(1)) == nil)
        #expect(hot.entry(key(4)) != nil)
        insert(5, byteCount: 101)
        #expect(hot.entry(key(5)) == nil)
    }
}
