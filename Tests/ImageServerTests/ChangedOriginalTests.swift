// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import HummingbirdCore
import ImageCodecs
import ImageLoading
import ImageTesting
import LoadScheduling
import Logging
import NIOCore
import Pixels
import Synchronization
import Testing

@testable import ImageServer

@Suite("An original that is written to while it is read", .timeLimit(.minutes(10)))
struct ChangedOriginalTests {
    /// One of each kind of address.
    private static let addresses = [
        "/house/1.png", "/house/20x20/1.png", "/house/20x20,webp/1.png", "/info/house/1.png",
        "/placeholder/house/1.png", "/placeholder/house/1.png?format=json",
        "/tiles/house/1.png.dzi", "/tiles/house/1.png.json", "/tiles/house/1.png_files/9/0_0.jpg",
        "/iiif/3/house%2F1.png/info.json", "/iiif/3/house%2F1.png/full/20,/0/default.jpg",
        "/iiif/3/house%2F1.png/0,0,64,64/64,64/0/default.jpg", "/sprite/20x20/house",
        "/sprite/20x20/house?as=json", "/-/listing/house", "/_/w:20/plain/local:///house/1.png",
    ]

    /// Requests for each address; many more where there is time.
    private static let roundCount =
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"].flatMap(Int.init).map {
            max(20, $0 / 20)
        } ?? 6

    private func gallery() throws -> TestGallery {
        try TestGallery(keepsRenditions: true) { $0.imgproxy = ImgproxyKeys() }
    }

    private func png(_ seed: UInt64) throws -> [UInt8] {
        try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(TestPicture.photograph(PixelSize(width: 300, height: 200), seed: seed))
    }

    /// Writes a file as `cp` and `rsync --inplace` do, in pieces, and cuts it short now and then.
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

    @Test("is answered with the picture, or with what says that it is to be asked for again")
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
                        // Of a file that is half written, what there is may be no picture.
                        #expect(
                            [200, 404, 415, 422, 503].contains(answer.status),
                            "\(address): \(answer.status) \(answer.text)")
                        if answer.status == 503 {
                            #expect(answer.headers[.retryAfter] == "1")
                            #expect(answer.headers[.cacheControl] == "no-store")
                        }
                    } catch ServerError.changedMeanwhile {
                        // The connection ends before the length that was promised.
                        #expect(address == "/house/1.png")
                    }
                    await Task.yield()
                }
            }
            end.isReached.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        // Nothing that was made meanwhile is taken for one of the file as it is now.
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

    @Test("has no tiles and no facts of another version than the one that was looked at")
    func identity() async throws {
        let gallery = try gallery()
        try gallery.picture("1.png")
        let old = try gallery.identity("1.png")
        try gallery.picture("1.png", PixelSize(width: 50, height: 50), seed: 2)
        let changed = LoadError.fileChanged(path: old.path)
        #expect(await gallery.pipeline.facts(for: [old]) == [.failure(changed)])
        let tiles = TileImages(
            builtInCodecs, DecodeLimits(), store: nil, byteLimit: 1 << 20,
            MemoryBudget(byteLimit: 1 << 20))
        #expect(throws: changed) { _ = try tiles.image(old) }
        await tiles.close()
    }

    @Test("is not opened once it is another")
    func reopened() async throws {
        let gallery = try gallery()
        try gallery.picture("1.png", PixelSize(width: 30, height: 20))
        let identity = try gallery.identity("1.png")
        _ = try OriginalFile(identity)
        try gallery.picture("1.png", PixelSize(width: 31, height: 20))
        #expect(throws: ServerError.changedMeanwhile) { _ = try OriginalFile(identity) }
    }

    @Test("is not sent to its end once it is another")
    func original() async throws {
        let gallery = try gallery()
        let bytes = try gallery.picture("1.png", PixelSize(width: 300, height: 200))
        let file = try OriginalFile(try gallery.identity("1.png"))
        let path = gallery.folder.appending(path: "1.png").path
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data([1, 2, 3]))
        let collector = BodyCollector()
        let stream = try #require(OutgoingBytes(byteLimit: 1 << 20, streamLimit: 1).stream())
        await #expect(throws: ServerError.changedMeanwhile) {
            try await file.body(0..<bytes.count, stream, over: nil).write(collector)
        }
        #expect(collector.bytes.withLock { $0.isEmpty })
    }

    @Test("is read once more, and no more often")
    func onceMore() async throws {
        let gallery = try gallery()
        let responder = try gallery.server.responder()
        let failures: [any Error] = [
            LoadError.fileChanged(path: "/secret"), ServerError.changedMeanwhile,
        ]
        for failure in failures {
            #expect(ErrorResponse(failure).status == .serviceUnavailable)
            #expect(ErrorResponse(failure).response.headers[.retryAfter] == "1")
            for (method, failureCount, tryCount) in [
                (HTTPRequest.Method.get, 1, 2), (.get, 2, 2), (.head, 1, 2), (.post, 1, 1),
            ] {
                var count = 0
                let request = Request(
                    head: HTTPRequest(
                        method: method, scheme: "http", authority: "localhost", path: "/"),
                    body: RequestBody(buffer: ByteBuffer()))
                let response = try? await responder.onceMoreIfChanged(request) {
                    count += 1
                    if count <= failureCount { throw failure }
                    return Response(status: .ok)
                }
                #expect(count == tryCount)
                #expect((response != nil) == (tryCount > failureCount))
            }
        }
    }
}

/// When the file is no longer written to.
private final class End: Sendable {
    let isReached = Atomic(false)
}
