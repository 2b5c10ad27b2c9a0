// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import HummingbirdCore
import ImageLoading
import LoadScheduling
import Pixels
import Testing

@testable import ImageServer

@Suite("Cost limits") struct CostLimitTests {
    /// Limits of 10,000 and 5,000 pixels, and images of 1,200 and 16,000 pixels.
    private func gallery() throws -> TestGallery {
        let gallery = try TestGallery {
            $0.maximumEnlargedPixelCount = 10_000
            $0.maximumSlowPixelCount = 5_000
            $0.maximumSide = 8_192
            $0.imgproxy = ImgproxyKeys()
        }
        try gallery.image("1.png", PixelSize(width: 40, height: 30))
        try gallery.image("2.png", PixelSize(width: 160, height: 100))
        return gallery
    }

    @Test(
        "limit enlarged, blurred and slowly encoded images",
        arguments: [
            ("/8192x8192,up/1.png", 400), ("/8192x8192,up,blur100,avif/1.png", 400),
            ("/_/rs:fill:8000:8000:1/plain/1.png", 400),
            ("/iiif/3/1.png/full/^4000,3000/0/default.jpg", 400),
            ("/iiif/2/1.png/full/4000,3000/0/default.jpg", 400),
            // Not enlarged, although the box is large.
            ("/8192x8192/1.png", 200), ("/8192x8192,up/2.png", 400), ("/8192x8192,webp/1.png", 200),
            ("/8192x8192,webp/2.png", 400), ("/8192x8192,blur1/2.png", 400),
            ("/8192x8192,ssim0.9/2.png", 400), ("/iiif/3/2.png/full/max/0/default.webp", 400),
            ("/iiif/3/2.png/full/max/0/default.jpg", 200), ("/100x100,up/1.png", 200),
        ])
    func limits(address: String, status: Int) async throws {
        // Boxes of up to a megapixel skip the check; larger ones cover it here.
        let answer = try await gallery().get(address)
        #expect(answer.status == status, "\(answer.text.prefix(200))")
        if status == 400 { #expect(answer.text.contains("pixels")) }
    }

    @Test("allow as many pixels as the original has") func original() throws {
        let limits = RenditionLimits(
            maximumSide: 8_192, maximumEnlargedPixelCount: 100, maximumSlowPixelCount: 16_800_000)
        var options = RenditionOptions()
        options.allowsEnlarging = true
        (options.width, options.height, options.mode) = (3_000, 2_000, .stretch)
        func cost(_ width: Int, _ height: Int) throws -> RenditionCost {
            try RenditionCost(
                options, of: PixelSize(width: width, height: height), maximumSide: 8_192)
        }
        try cost(2_000, 3_000).check(limits)
        #expect(try cost(2_000, 3_000).isHigh)
        #expect(throws: ServerError.self) { try cost(2_000, 2_999).check(limits) }
    }

    @Test("count listings and sprites towards the rate limit") func rate() async throws {
        let gallery = try TestGallery { $0.clientRate = 0.001 }
        for index in 0..<3 { try gallery.image("\(index).png") }
        for (address, counts) in [
            ("/-/listing/", true), ("/sprite/20x20/", true), ("/0.png", true), ("/", false),
            ("/healthz", false),
        ] {
            let server = gallery.server
            #expect(try await gallery.get(address, from: server).status == 200)
            let again = try await gallery.get(address, from: server)
            #expect(again.status == (counts ? 429 : 200), "\(address)")
        }
        let limiter = RateLimiter(rate: 1, burst: 10)
        let start = ContinuousClock.now
        try limiter.take("a", now: start)
        limiter.charge("a", 50)
        // The debt is limited to the capacity of the bucket.
        #expect(throws: ServerError.tooManyRequests(seconds: 11)) {
            try limiter.take("a", now: start)
        }
        try limiter.take("a", now: start + .seconds(11))
    }

    @Test("cache the contents of large folders for a limited time") func largeFolders() throws {
        let files = RecentFolders.smallCount + 1
        let contents = FolderContents(
            folders: [], imageCounts: [], images: (0..<files).map { "\($0).png" },
            identities: [], revision: "1")
        let small = FolderContents(
            folders: [], imageCounts: [], images: ["1.png"], identities: [], revision: "1")
        let gallery = try TestGallery()
        let path = gallery.folder.path
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
        let folder = try #require(FolderIdentity(path))
        let recent = RecentFolders(maximumFileCount: files + 10)
        let start = ContinuousClock.now
        recent.insert(small, folder, now: start)
        #expect(recent.contents(folder, now: start) == nil)
        recent.insert(contents, folder, now: start)
        #expect(recent.contents(folder, now: start)?.images.count == files)
        #expect(recent.contents(folder, now: start + .milliseconds(49)) != nil)
        #expect(recent.contents(folder, now: start + .milliseconds(52)) == nil)
        // A changed folder is read at once.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 2_000_000)], ofItemAtPath: path)
        let changed = try #require(FolderIdentity(path))
        #expect(recent.contents(changed, now: start) == nil)
        // A folder that may change within the same clock tick is not cached.
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
        let unsettled = try #require(FolderIdentity(path))
        recent.insert(contents, unsettled, now: start)
        #expect(recent.contents(unsettled, now: start) == nil)
        // A folder with more files than the limit is not cached.
        let tight = RecentFolders(maximumFileCount: files - 1)
        tight.insert(contents, folder, now: start)
        #expect(tight.contents(folder, now: start) == nil)
    }

    @Test("apply allowsPresetsOnly to every path grammar") func presetsOnly() async throws {
        let gallery = try TestGallery {
            $0.presets = ["thumb": "20x20,fill"]
            $0.allowsPresetsOnly = true
            $0.imgproxy = ImgproxyKeys()
        }
        try gallery.image("house/1.png")
        for address in [
            "/_/plain/house/1.png", "/_/plain/house/1.png@webp", "/_/cb:1/plain/house/1.png",
            "/_/pr:thumb/plain/house/1.png@webp", "/_/pr:thumb/f:webp/plain/house/1.png",
            "/_/pr:thumb/scp:0/plain/house/1.png", "/iiif/3/house%2F1.png/full/max/0/default.jpg",
            "/iiif/3/house%2F1.png/info.json", "/sprite/thumb/house?padding=1",
            "/sprite/thumb/house?offset=1", "/sprite/thumb/house?limit=1",
            "/sprite/thumb/house?names=1.png",
        ] {
            #expect(try await gallery.get(address).status == 403, "\(address)")
        }
        for address in [
            "/_/pr:thumb/plain/house/1.png", "/house/thumb/1.png", "/sprite/thumb/house",
            "/sprite/thumb/house?as=json", "/house/1.png",
        ] {
            #expect(try await gallery.get(address).status == 200, "\(address)")
        }
        let posted = try await gallery.request(
            .post, "/sprite/thumb/house", body: Array(#"["1.png"]"#.utf8))
        #expect(posted.status == 403)
    }

    @Test("With imgproxy keys only, other paths are rejected unless allowsUnsigned is set")
    func keys()
        async throws
    {
        let addresses = [
            "/house/20x20/1.png", "/house/1.png", "/info/house/1.png", "/sprite/20x20/house",
            "/iiif/3/house%2F1.png/full/max/0/default.jpg", "/", "/-/listing/",
        ]
        for allowsUnsigned in [false, true] {
            let gallery = try TestGallery {
                $0.imgproxy = ImgproxyKeys(keys: [Array("secret".utf8)])
                $0.allowsUnsigned = allowsUnsigned
            }
            try gallery.image("house/1.png")
            for address in addresses {
                let status = try await gallery.get(address).status
                #expect(status == (allowsUnsigned ? 200 : 403), "\(address)")
            }
            #expect(try await gallery.get("/_/w:20/plain/house/1.png").status == 403)
            for address in ["/healthz", "/readyz", "/-/openapi.json"] {
                #expect(try await gallery.get(address).status == 200, "\(address)")
            }
        }
    }

    @Test("An original that changes while it is read results in 503 with Retry-After")
    func changed()
        async throws
    {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let identity = try gallery.identity("1.png")
        let originals = Originals(
            try ServedDirectory(gallery.folder.path), gallery.pipeline)
        let failure = LoadError.decodingFailed(path: identity.path, .truncated(byteCount: 1))
        await #expect(throws: failure) {
            try await originals.reading(identity) { throw failure }
        }
        await #expect(throws: ServerError.originalChanged) {
            try await originals.reading(identity) {
                try gallery.image("1.png", PixelSize(width: 41, height: 30))
                throw failure
            }
        }
        let response = ErrorResponse(ServerError.originalChanged).response
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "1")
    }
}
