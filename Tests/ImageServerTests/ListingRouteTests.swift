// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageLoading
import Pixels
import Placeholders
import Testing

@testable import ImageServer

@Suite("A listing") struct ListingRouteTests {
    let gallery: TestGallery

    init() throws {
        gallery = try TestGallery()
        for name in ["img10.png", "img2.png", "IMG1.PNG"] {
            try gallery.image("house/\(name)", PixelSize(width: 20, height: 10))
        }
        try gallery.image("house/trip/a.png")
        try gallery.image("house/trip/b.png")
        try gallery.file("house/empty/letter.txt", Array("x".utf8))
        try gallery.file("house/letter.txt", Array("x".utf8))
    }

    private func images(_ query: String = "") async throws -> [String: Any] {
        let page = try await gallery.get("/-/listing/house\(query)").json()
        return try #require(page["pictures"] as? [String: Any])
    }

    @Test("contains the folder's images in columns, in natural order") func columns() async throws {
        let answer = try await gallery.get("/-/listing/house")
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/json")
        let page = try answer.json()
        #expect(page["folder"] as? String == "house")
        #expect(page["total"] as? Int == 3)
        #expect(page["offset"] as? Int == 0)
        #expect(page["next"] is NSNull)
        #expect(page["ladder"] as? [Int] == ListingRoute.ladder(atMost: 4_096))
        let images = try #require(page["pictures"] as? [String: Any])
        #expect(images["name"] as? [String] == ["IMG1.PNG", "img2.png", "img10.png"])
        #expect(images["width"] as? [Int] == [20, 20, 20])
        #expect(images["height"] as? [Int] == [10, 10, 10])
        #expect((images["error"] as? [String: String])?.isEmpty == true)
        let identity = try gallery.identity("house/IMG1.PNG")
        #expect((images["version"] as? [String])?.first == identity.version)
        #expect(
            (images["modified"] as? [Int])?.first == identity.modificationTime / 1_000_000_000)
        let folders = try #require(page["folders"] as? [String: Any])
        #expect(folders["name"] as? [String] == ["empty", "trip"])
        #expect(folders["pictures"] as? [Int] == [0, 2])
    }

    @Test("is split into pages with one revision, with folders on the first") func pages()
        async throws
    {
        let first = try await gallery.get("/-/listing/house?limit=2").json()
        #expect(first["next"] as? Int == 2)
        #expect(first["folders"] != nil)
        let second = try await gallery.get("/-/listing/house/?offset=2&limit=2").json()
        #expect(second["next"] is NSNull)
        #expect(second["folders"] == nil)
        #expect(second["total"] as? Int == 3)
        #expect((second["pictures"] as? [String: Any])?["name"] as? [String] == ["img10.png"])
        #expect(first["revision"] as? String == second["revision"] as? String)
        let behind = try await gallery.get("/-/listing/house?offset=99").json()
        #expect((behind["pictures"] as? [String: Any])?["name"] as? [String] == [])
        #expect(behind["next"] is NSNull)
    }

    @Test("has at most 5000 images per page") func limit() async throws {
        let folder = try #require(try? gallery.identity("house/img2.png")).path
        for index in 0...ListingRoute.maximumPageCount {
            try FileManager.default.linkItem(
                atPath: folder, toPath: gallery.folder.appending(path: "\(index).png").path)
        }
        let page = try await gallery.get("/-/listing/?limit=9999").json()
        #expect(page["next"] as? Int == 5_000)
        #expect(((page["pictures"] as? [String: Any])?["name"] as? [String])?.last == "4999.png")
    }

    @Test("rejects invalid offsets and limits") func badQuery() async throws {
        for query in ["offset=-1", "limit=0", "limit=-5", "offset=x", "limit=1e3", "offset="] {
            #expect(try await gallery.get("/-/listing/house?\(query)").status == 400, "\(query)")
        }
    }

    @Test("contains new images at once, and no removed ones") func changes() async throws {
        let before = try await gallery.get("/-/listing/house")
        let tag = try #require(before.headers[.eTag])
        #expect(try await gallery.get("/-/listing/house", [.ifNoneMatch: tag]).status == 304)
        try gallery.image("house/img3.png")
        let after = try await gallery.get("/-/listing/house", [.ifNoneMatch: tag])
        #expect(after.status == 200)
        #expect(
            try await images()["name"] as? [String]
                == ["IMG1.PNG", "img2.png", "img3.png", "img10.png"])
        try FileManager.default.removeItem(
            at: gallery.folder.appending(path: "house/img2.png"))
        #expect(
            try await images()["name"] as? [String] == ["IMG1.PNG", "img3.png", "img10.png"])
        #expect(try after.json()["revision"] as? String != before.json()["revision"] as? String)
    }

    @Test("reflects a change of an image that does not change its folder")
    func rewritten() async throws {
        // Long ago, so that the names are cached.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)],
            ofItemAtPath: gallery.folder.appending(path: "house").path)
        let reader = FolderReader(
            try ServedDirectory(gallery.folder.path), extensions: ["png"])
        let before = try reader.contents(of: ["house"])
        let handle = try FileHandle(
            forWritingTo: gallery.folder.appending(path: "house/img2.png"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0]))
        try handle.close()
        let after = try reader.contents(of: ["house"])
        #expect(after.revision != before.revision)
        #expect(after.identities[1].version != before.identities[1].version)
        #expect(after.identities[0] == before.identities[0])
    }

    @Test("reads names again only if the folder has changed") func remembered() throws {
        let house = gallery.folder.appending(path: "house").path
        let long = Date(timeIntervalSince1970: 1_000_000)
        let reader = FolderReader(
            try ServedDirectory(gallery.folder.path), extensions: ["png"])
        try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: house)
        #expect(try reader.contents(of: ["house"]).images.count == 3)
        try gallery.image("house/new.png")
        // The modification time decides whether the folder is read.
        try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: house)
        #expect(try reader.contents(of: ["house"]).images.count == 3)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 2_000_000)], ofItemAtPath: house)
        #expect(try reader.contents(of: ["house"]).images.count == 4)
    }

    @Test("contains unreadable images with the reason") func damaged() async throws {
        try gallery.file("house/img5.png", Array("GIF89a".utf8))
        let images = try await images()
        #expect(images["width"] as? [Int] == [20, 20, 0, 20])
        #expect(images["height"] as? [Int] == [10, 10, 0, 10])
        let errors = try #require(images["error"] as? [String: String])
        #expect(Array(errors.keys) == ["2"])
        #expect(errors["2"]?.contains(gallery.folder.path) == false)
    }

    @Test(
        "contains stored placeholders, each of which changes the entity tag",
        .timeLimit(.minutes(10)))
    func placeholders() async throws {
        let gallery = try TestGallery(keepsRenditions: true)
        for name in ["a.png", "b.png", "c.png"] { try gallery.image(name) }
        let address = "/-/listing/"
        let before = try await gallery.get(address)
        func placeholders(_ answer: Answer) throws -> [String: String]? {
            let images = try answer.json()["pictures"] as? [String: Any]
            return images?["placeholder"] as? [String: String]
        }
        #expect(try placeholders(before)?.isEmpty == true)
        let tag = try #require(before.headers[.eTag])
        #expect(try await gallery.get(address, [.ifNoneMatch: tag]).status == 304)

        let rendition = try await gallery.get("/32x32/b.png")
        #expect(rendition.status == 200)
        var after = before
        while try placeholders(after)?.isEmpty == true {
            after = try await gallery.get(address, [.ifNoneMatch: tag])
            if after.status == 304 { after = before }
        }
        let expected = ThumbHash(
            try ImageSource(
                EncodedBytes(try gallery.image("same.png")), codecs: builtInCodecs
            ).image(DecodeOptions(maximumSide: 32)))
        #expect(try placeholders(after) == ["1": expected.base64])
        #expect(try after.json()["revision"] as? String == before.json()["revision"] as? String)

        try gallery.image("b.png", seed: 2)
        #expect(try placeholders(try await gallery.get(address))?.isEmpty == true)
    }

    @Test("of a missing folder is 404") func missing() async throws {
        let answer = try await gallery.get("/-/listing/nowhere")
        #expect(answer.status == 404)
        #expect(answer.text == #"{"error":"not found"}"#)
    }
}
