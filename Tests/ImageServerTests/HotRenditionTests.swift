// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import ImageLoading
import NIOCore
import Pixels
import Testing

@testable import ImageServer

@Suite("A cached rendition response") struct HotRenditionTests {
    private func head(_ address: String, _ headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(
            method: .get, scheme: "http", authority: "localhost", path: address,
            headerFields: headers)
    }

    @Test("is sent again unchanged without reading a file") func again() async throws {
        let gallery = try TestGallery { $0.negotiatedFormatNames = ["webp"] }
        try gallery.image("house/1.png")
        let server = gallery.server
        let first = try await gallery.get("/house/20x20/1.png", from: server)
        // Independent of the duration of the first request.
        let responder = try server.requestHandler()
        let key = HotRenditions.Key(path: "/house/20x20/1.png", headers: [ComparedByBytes("-")])
        let identity = try gallery.identity("house/1.png")
        let time = ContinuousClock.now
        #expect(responder.hot.response(key, of: identity, checked: time) != nil)

        let ready = try #require(responder.readyResponse(to: head("/house/20x20/1.png"), time))
        #expect(ready.head.status == .ok)
        #expect(ready.head.headerFields == first.headers)
        #expect(ready.body.map { Array($0.readableBytesView) } == first.body)

        let tag = try #require(first.headers[.eTag])
        let known = try #require(
            responder.readyResponse(to: head("/house/20x20/1.png", [.ifNoneMatch: tag]), time))
        #expect(known.head.status == .notModified)
        #expect(known.body == nil)
        #expect(known.head.headerFields[.contentLength] == nil)
        // Another format is another rendition, and so is another size.
        for other in [
            head("/house/20x20/1.png", [.accept: "image/webp"]), head("/house/21x20/1.png"),
        ] {
            #expect(responder.readyResponse(to: other, time) == nil)
        }
    }

    @Test("stays valid when its original is checked again and unchanged") func lookedAtAgain()
        async throws
    {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let server = gallery.server
        let first = try await gallery.get("/20x20/1.png", from: server)
        await gallery.pipeline.close()
        let second = try await gallery.get("/20x20/1.png", from: server)
        #expect(second.status == 200)
        #expect(second.body == first.body)
        #expect(second.headers == first.headers)
        // There is no response for another version of the original.
        try gallery.image("1.png", seed: 2)
        #expect(try await gallery.get("/20x20/1.png", from: server).status == 503)
    }

    @Test("is fresh while any response of its original is checked") func checks() throws {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let hot = HotRenditions(byteLimit: 1 << 20)
        let now = ContinuousClock.now
        let later = now + HotRenditions.lifetime * 2
        let original = try gallery.identity("1.png")
        let keys = ["/10x10/1.png", "/20x20/1.png"].map { HotRenditions.Key(path: $0, headers: []) }
        for key in keys {
            hot.insert(
                .init(
                    original: original, validators: Validators(tag: "1"), headers: [:],
                    body: ByteBuffer(string: "1")), key, checked: now)
        }
        #expect(hot.response(keys[0], now: later) == nil)
        #expect(hot.response(keys[1], of: original, checked: later) != nil)
        #expect(hot.response(keys[0], now: later) != nil)
        hot.removeAll(of: original.path)
        #expect(hot.response(keys[0], now: later) == nil)
    }

    @Test("holds bodies up to an eighth of its size") func largeBodies() throws {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let original = try gallery.identity("1.png")
        let hot = HotRenditions(byteLimit: 16 << 20)
        for (byteCount, isKept) in [(2 << 20, true), ((2 << 20) + 1, false)] {
            let key = HotRenditions.Key(path: "/\(byteCount)x1/1.png", headers: [])
            hot.insert(
                .init(
                    original: original, validators: Validators(tag: "1"), headers: [:],
                    body: ByteBuffer(repeating: 1, count: byteCount)), key, checked: .now)
            #expect((hot.response(key, of: original, checked: .now) != nil) == isKept)
        }
    }

    @Test("requires a signature like any other") func signed() async throws {
        let gallery = try TestGallery { $0.signatureKeys = [Array("secret".utf8)] }
        try gallery.image("house/1.png")
        let server = gallery.server
        let address = PathSignature.signed("/house/20x20/1.png", key: Array("secret".utf8))
        #expect(try await gallery.get(address, from: server).status == 200)
        let hot = try server.requestHandler().hot
        let key = HotRenditions.Key(path: address, headers: [])
        let identity = try gallery.identity("house/1.png")
        let later = ContinuousClock.now + .seconds(3600)
        #expect(hot.response(key, of: identity, checked: later) != nil)
        let find = try server.requestHandler().readyResponses()
        #expect(find(head(address))?.head.status == .ok)
        #expect(find(head("/house/20x20/1.png")) == nil)
        #expect(try await gallery.get("/house/20x20/1.png", from: server).status == 403)
    }

    private func answer(_ identity: FileIdentity, byteCount: Int) -> HotRenditions.CachedResponse {
        .init(
            original: identity, validators: Validators(tag: "a"), headers: [:],
            body: ByteBuffer(repeating: 0, count: byteCount))
    }

    private func key(_ number: Int) -> HotRenditions.Key {
        .init(path: "\(number)", headers: [])
    }

    @Test("expires after its lifetime") func lifetime() throws {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let identity = try gallery.identity("1.png")
        let hot = HotRenditions(byteLimit: 10_000)
        let start = ContinuousClock.now
        hot.insert(answer(identity, byteCount: 1), key(1), checked: start)
        #expect(hot.response(key(1), now: start + .milliseconds(99))?.original == identity)
        #expect(hot.response(key(1), now: start + .milliseconds(100)) == nil)
        #expect(hot.response(key(2), now: start) == nil)
        let later = start + .seconds(1)
        #expect(hot.response(key(1), of: identity, checked: later) != nil)
        #expect(hot.response(key(1), now: later + .milliseconds(99)) != nil)
        hot.removeAll(of: identity.path)
        #expect(hot.response(key(1), now: later) == nil)
        #expect(hot.response(key(1), of: identity, checked: later) == nil)
    }

    @Test("is evicted in least recently used order") func room()
        throws
    {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let identity = try gallery.identity("1.png")
        // Room for four entries, including the overhead of each.
        let byteLimit = 4 * (1_024 + HotRenditions.entryOverhead)
        let hot = HotRenditions(byteLimit: byteLimit)
        let start = ContinuousClock.now
        func insert(_ number: Int, byteCount: Int) {
            hot.insert(answer(identity, byteCount: byteCount), key(number), checked: start)
        }
        func isThere(_ number: Int) -> Bool { hot.response(key(number), now: start) != nil }
        for number in 0..<4 { insert(number, byteCount: 1_024) }
        #expect(isThere(0))
        insert(4, byteCount: 1_024)
        #expect(isThere(0))
        #expect(!isThere(1))
        #expect(isThere(4))
        insert(5, byteCount: byteLimit + 1)
        #expect(!isThere(5))
    }
}
