// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import ImageLoading
import NIOCore
import Pixels
import Testing

@testable import ImageServer

@Suite("A rendition that was just sent") struct HotRenditionTests {
    private func head(_ address: String, _ headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(
            method: .get, scheme: "http", authority: "localhost", path: address,
            headerFields: headers)
    }

    @Test("is sent again as it was, without a look at anything") func again() async throws {
        let gallery = try TestGallery { $0.negotiatedFormatNames = ["webp"] }
        try gallery.picture("house/1.png")
        let server = gallery.server
        let first = try await gallery.get("/house/20x20/1.png", from: server)
        // However long the first one took.
        let responder = try server.responder()
        let key = HotRenditions.Key(address: "/house/20x20/1.png", headers: [ComparedByBytes("-")])
        let identity = try gallery.identity("house/1.png")
        let time = ContinuousClock.now
        #expect(responder.hot.answer(key, of: identity, lookedAt: time) != nil)

        let ready = try #require(responder.readyAnswer(to: head("/house/20x20/1.png"), time))
        #expect(ready.head.status == .ok)
        #expect(ready.head.headerFields == first.headers)
        #expect(ready.body.map { Array($0.readableBytesView) } == first.body)

        let tag = try #require(first.headers[.eTag])
        let known = try #require(
            responder.readyAnswer(to: head("/house/20x20/1.png", [.ifNoneMatch: tag]), time))
        #expect(known.head.status == .notModified)
        #expect(known.body == nil)
        #expect(known.head.headerFields[.contentLength] == nil)
        // Another format is another rendition, and so is another size.
        for other in [
            head("/house/20x20/1.png", [.accept: "image/webp"]), head("/house/21x20/1.png"),
        ] {
            #expect(responder.readyAnswer(to: other, time) == nil)
        }
    }

    @Test("is the same when its original has been looked at again") func lookedAtAgain()
        async throws
    {
        let gallery = try TestGallery()
        try gallery.picture("1.png")
        let server = gallery.server
        let first = try await gallery.get("/20x20/1.png", from: server)
        await gallery.pipeline.close()
        let second = try await gallery.get("/20x20/1.png", from: server)
        #expect(second.status == 200)
        #expect(second.body == first.body)
        #expect(second.headers == first.headers)
        // Of another original there is nothing to send.
        try gallery.picture("1.png", seed: 2)
        #expect(try await gallery.get("/20x20/1.png", from: server).status == 503)
    }

    @Test("needs a signature as any other") func signed() async throws {
        let gallery = try TestGallery { $0.signatureKeys = [Array("secret".utf8)] }
        try gallery.picture("house/1.png")
        let server = gallery.server
        let address = AddressSignature.signed("/house/20x20/1.png", key: Array("secret".utf8))
        #expect(try await gallery.get(address, from: server).status == 200)
        let hot = try server.responder().hot
        let key = HotRenditions.Key(address: address, headers: [])
        let identity = try gallery.identity("house/1.png")
        let later = ContinuousClock.now + .seconds(3600)
        #expect(hot.answer(key, of: identity, lookedAt: later) != nil)
        let find = try server.responder().readyAnswers()
        #expect(find(head(address))?.head.status == .ok)
        #expect(find(head("/house/20x20/1.png")) == nil)
        #expect(try await gallery.get("/house/20x20/1.png", from: server).status == 403)
    }

    private func answer(_ identity: FileIdentity, byteCount: Int) -> HotRenditions.Answer {
        .init(
            original: identity, validators: Validators(tag: "a"), headers: [:],
            body: ByteBuffer(repeating: 0, count: byteCount))
    }

    private func key(_ number: Int) -> HotRenditions.Key {
        .init(address: "\(number)", headers: [])
    }

    @Test("is of an original that was looked at a moment ago") func lifetime() throws {
        let gallery = try TestGallery()
        try gallery.picture("1.png")
        let identity = try gallery.identity("1.png")
        let hot = HotRenditions(byteLimit: 10_000)
        let start = ContinuousClock.now
        hot.insert(answer(identity, byteCount: 1), key(1), lookedAt: start)
        #expect(hot.answer(key(1), now: start + .milliseconds(99))?.original == identity)
        #expect(hot.answer(key(1), now: start + .milliseconds(100)) == nil)
        #expect(hot.answer(key(2), now: start) == nil)
        let later = start + .seconds(1)
        #expect(hot.answer(key(1), of: identity, lookedAt: later) != nil)
        #expect(hot.answer(key(1), now: later + .milliseconds(99)) != nil)
        hot.removeAll(of: identity.path)
        #expect(hot.answer(key(1), now: later) == nil)
        #expect(hot.answer(key(1), of: identity, lookedAt: later) == nil)
    }

    @Test("goes when there is no room, the one that was not sent for longest first") func room()
        throws
    {
        let gallery = try TestGallery()
        try gallery.picture("1.png")
        let identity = try gallery.identity("1.png")
        // With what is counted for the headers of each, four have room.
        let byteLimit = 4 * (1_024 + HotRenditions.entryOverhead)
        let hot = HotRenditions(byteLimit: byteLimit)
        let start = ContinuousClock.now
        func insert(_ number: Int, byteCount: Int) {
            hot.insert(answer(identity, byteCount: byteCount), key(number), lookedAt: start)
        }
        func isThere(_ number: Int) -> Bool { hot.answer(key(number), now: start) != nil }
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
