// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import HummingbirdCore
import ImageCodecs
import ImageLoading
import ImageTesting
import LoadScheduling
import NIOCore
import Pixels
import Synchronization
import Testing

@testable import ImageServer

@Suite("An original that changes while it is read", .timeLimit(.minutes(10)))
struct ChangedOriginalTests {
    /// One path of each kind.
    private static let addresses = [
        "/house/1.png", "/house/20x20/1.png", "/house/20x20,webp/1.png", "/info/house/1.png",
        "/placeholder/house/1.png", "/placeholder/house/1.png?format=json",
        "/tiles/house/1.png.dzi", "/tiles/house/1.png.json", "/tiles/house/1.png_files/9/0_0.jpg",
        "/iiif/3/house%2F1.png/info.json", "/iiif/3/house%2F1.png/full/20,/0/default.jpg",
        "/iiif/3/house%2F1.png/0,0,64,64/64,64/0/default.jpg", "/sprite/20x20/house",
        "/sprite/20x20/house?as=json", "/-/listing/house", "/_/w:20/plain/local:///house/1.png",
    ]

    /// The number of requests for each path; many more in deep tests.
    private static let roundCount =
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"].flatMap(Int.init).map {
            max(20, $0 / 20)
        } ?? 6

    private func gallery() throws -> TestGallery {
        try TestGallery(keepsRenditions: true) { $0.imgproxy = ImgproxyKeys() }
    }

    private func png(_ seed: UInt64) throws -> [UInt8] {
        try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(TestImage.photograph(PixelSize(width: 300, height: 200), seed: seed))
    }

    /// Rewrites a file in pieces, as `cp` and `rsync --inplace` do, and truncates it at times.
    private func rewrite(_ path: String, _ versions: [[UInt8]], until end: End) async {
        for round in 0... {
            guard !end.isReached.load(ordering: .relaxed),
                let handle = FileHandle(forWritingAtPath: path)
            else { return }
            let version = versions[round % versions.count]
            if round % 3 != 0 { try? handle.truncate(atOffset: round % 3 == 1 ? 0 : 5_000) }
            for start in stride(from: 0, to: version.count, by: 8_192) {
                let piece = version[start..<min(start + 8_192, version.count)]
                try? handle.write(contentsOf: Data(piece))
            }
            try? handle.truncate(atOffset: UInt64(version.count))
            try? handle.close()
            await Task.yield()
        }
    }

    @Test("results in the image, or in a response that allows a retry")
    func race() async throws {
        let gallery = try gallery()
        let versions = [try png(1), try png(2)]
        try gallery.file("house/1.png", versions[0])
        try gallery.file("house/2.png", versions[1])
        let path = gallery.folder.appending(path: "house/1.png").path
        let end = End()
        let server = gallery.server
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await rewrite(path, versions, until: end)
            }
            for _ in 0..<Self.roundCount {
                for address in Self.addresses {
                    do {
                        let answer = try await gallery.get(address, from: server)
                        // A half-written file may not be an image.
                        #expect(
                            [200, 404, 415, 422, 503].contains(answer.status),
                            "\(address): \(answer.status) \(answer.text)")
                        if answer.status == 503 {
                            #expect(answer.headers[.retryAfter] == "1")
                            #expect(answer.headers[.cacheControl] == "no-store")
                        }
                    } catch ServerError.originalChanged {
                        // The connection ends before the promised length.
                        #expect(address == "/house/1.png")
                    }
                    await Task.yield()
                }
            }
            end.isReached.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        // No stored data of earlier versions is used for the current one.
        try gallery.file("house/1.png", versions[0])
        let fresh = try self.gallery()
        try fresh.file("house/1.png", versions[0])
        try fresh.file("house/2.png", versions[1])
        for address in Self.addresses where !address.contains("listing") {
            let (answer, expected) = (
                try await gallery.get(address, from: server), try await fresh.get(address)
            )
            #expect(answer.status == 200, "\(address): \(answer.text)")
            let isAboutFile = address.contains("info")
            #expect(isAboutFile || answer.body == expected.body, "\(address)")
        }
    }

    @Test("has no tiles and no facts of another version")
    func identity() async throws {
        let gallery = try gallery()
        try gallery.image("1.png")
        let old = try gallery.identity("1.png")
        try gallery.image("1.png", PixelSize(width: 50, height: 50), seed: 2)
        let changed = LoadError.fileChanged(path: old.path)
        #expect(await gallery.pipeline.facts(for: [old]) == [.failure(changed)])
        let tiles = TileImages(gallery.pipeline, store: nil, byteLimit: 1 << 20)
        #expect(throws: changed) { _ = try tiles.image(old) }
        await tiles.close()
    }

    @Test("is not opened with an old identity")
    func reopened() async throws {
        let gallery = try gallery()
        try gallery.image("1.png", PixelSize(width: 30, height: 20))
        let identity = try gallery.identity("1.png")
        _ = try OriginalFile(identity)
        try gallery.image("1.png", PixelSize(width: 31, height: 20))
        #expect(throws: ServerError.originalChanged) { _ = try OriginalFile(identity) }
    }

    @Test("ends the body before its promised length")
    func original() async throws {
        let gallery = try gallery()
        let bytes = try gallery.image("1.png", PixelSize(width: 300, height: 200))
        let file = try OriginalFile(try gallery.identity("1.png"))
        let path = gallery.folder.appending(path: "1.png").path
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data([1, 2, 3]))
        let collector = BodyCollector()
        let stream = try #require(OutgoingBytes(byteLimit: 1 << 20, streamLimit: 1).stream())
        await #expect(throws: ServerError.originalChanged) {
            try await file.body(0..<bytes.count, stream, over: nil).write(collector)
        }
        #expect(collector.bytes.withLock { $0.isEmpty })
    }

    @Test("is read exactly one more time, except for POST")
    func onceMore() async throws {
        let gallery = try gallery()
        let handler = try gallery.server.requestHandler()
        let failures: [any Error] = [
            LoadError.fileChanged(path: "/secret"), ServerError.originalChanged,
        ]
        for failure in failures {
            #expect(ErrorResponse(failure).status == .serviceUnavailable)
            #expect(ErrorResponse(failure).response.headers[.retryAfter] == "1")
            for (method, failureCount, tryCount) in [
                (HTTPRequest.Method.get, 1, 2), (.get, 2, 2), (.head, 1, 2), (.post, 1, 1),
            ] {
                let route = FailingRoute(failure: failure, failureCount: failureCount)
                let request = Request(
                    head: HTTPRequest(
                        method: method, scheme: "http", authority: "localhost", path: "/"),
                    body: RequestBody(buffer: ByteBuffer()))
                let incoming = IncomingRequest(request, from: RequestClient(channel: nil))
                let response = try? await handler.run(route, for: incoming, route.steps)
                #expect(route.count.value.load(ordering: .relaxed) == tryCount)
                #expect((response != nil) == (tryCount > failureCount))
            }
        }
    }
}

/// Set when the file is no longer written to.
private final class End: Sendable {
    let isReached = Atomic(false)
}

/// A route whose first requests fail.
private struct FailingRoute: Route {
    final class Count: Sendable {
        let value = Atomic(0)
    }

    let failure: any Error
    let failureCount: Int
    let count = Count()

    func matches(_ request: IncomingRequest) -> Bool { true }

    func response(to request: IncomingRequest) throws -> Response {
        let number = count.value.add(1, ordering: .relaxed).newValue
        if number <= failureCount { throw failure }
        return Response(status: .ok)
    }
}
