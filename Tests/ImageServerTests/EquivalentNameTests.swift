// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("Images with canonically equivalent names") struct EquivalentNameTests {
    private let gallery: TestGallery
    private let names = EquivalentNames.all.map { "\($0).png" }

    init() throws {
        gallery = try TestGallery(keepsRenditions: true) { $0.purgeTokens = ["token"] }
        // Different sizes and colours.
        for (index, name) in names.enumerated() {
            try gallery.image(
                "house/\(name)", PixelSize(width: 40 + index, height: 30), seed: UInt64(index))
        }
    }

    /// The percent-encoded bytes of a name.
    private func address(_ name: String) -> String {
        name.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%" + String(repeating: "0", count: 2 - digits.count) + digits
        }.joined()
    }

    private func place(of name: String) -> Int? {
        names.firstIndex { $0.utf8.elementsEqual(name.utf8) }
    }

    @Test("have separate entries in a listing, cached or not")
    func listing() async throws {
        for _ in 0..<2 {
            let answer = try await gallery.get("/-/listing/house")
            #expect(answer.status == 200)
            let images = try #require(try answer.json()["pictures"] as? [String: Any])
            let listed = try #require(images["name"] as? [String])
            let widths = try #require(images["width"] as? [Int])
            #expect(listed.count == names.count)
            #expect(Set(listed.compactMap(place)).count == names.count)
            #expect(listed.map { name in place(of: name).map { 40 + $0 } } == widths)
        }
    }

    @Test("have separate renditions, originals, entity tags and metadata")
    func routes() async throws {
        for kind in ["house/20x20", "house", "iiif", "info/house", "tiles/house", "placeholder"] {
            var bodies: [[UInt8]: String] = [:]
            var tags: Set<String> = []
            // Again, from the caches.
            for name in names + names {
                let address =
                    switch kind {
                    case "iiif": "/iiif/3/house%2F\(address(name))/full/20,/0/default.png"
                    case "tiles/house": "/tiles/house/\(address(name)).dzi"
                    case "placeholder": "/placeholder/house/\(address(name))"
                    default: "/\(kind)/\(address(name))"
                    }
                let answer = try await gallery.get(address)
                #expect(answer.status == 200, "\(address)")
                tags.insert(answer.headers[.eTag] ?? "")
                let owner = bodies.updateValue(name, forKey: answer.body)
                #expect(owner.map { place(of: $0) == place(of: name) } ?? true, "\(address)")
            }
            #expect(tags.count == names.count, "\(kind)")
            // ThumbHashes are so short that two images may have the same.
            if kind != "placeholder" { #expect(bodies.count == names.count, "\(kind)") }
        }
    }

    @Test("have separate positions in a sprite sheet")
    func sprite() async throws {
        let list = names.map(address).joined(separator: ",")
        for query in ["", "&names=\(list)"] {
            let answer = try await gallery.get("/sprite/64x64/house?as=json\(query)")
            #expect(answer.status == 200)
            let sprites = try #require(try answer.json()["sprites"] as? [[String: Any]])
            #expect(sprites.count == names.count)
            for sprite in sprites {
                let place = place(of: try #require(sprite["name"] as? String))
                #expect(sprite["width"] as? Int == place.map { 40 + $0 })
            }
            let sheet = try await gallery.get("/sprite/64x64,png/house?padding=0\(query)")
            #expect(sheet.status == 200)
        }
    }

    @Test("are purged separately", .timeLimit(.minutes(5)))
    func purge() async throws {
        let store = try #require(gallery.store)
        for name in names {
            _ = try await gallery.get("/house/20x20/\(address(name))")
        }
        let identities = try names.map { try gallery.identity("house/\($0)") }
        #expect(store.statistics.entryCount == names.count)
        // Placeholders and facts are stored after the response.
        while store.facts(of: identities).values.count(where: { $0.placeholder != nil })
            < names.count
        {
            await Task.yield()
        }
        let answer = try await gallery.request(
            .delete, "/house/\(address(names[1]))", [.authorization: "Bearer token"])
        #expect(answer.status == 204)
        #expect(store.statistics.entryCount == names.count - 1)
        let facts = store.facts(of: identities)
        #expect(identities.filter { facts[$0] == nil } == [identities[1]])
    }

    @Test("do not lead to a sibling of the served folder")
    func siblings() async throws {
        let outside = gallery.outside.path
        for (served, other) in [("e\u{301}", "\u{E9}"), ("\u{E9}", "e\u{301}")] {
            for name in [served, other] {
                try FileManager.default.createDirectory(
                    atPath: "\(outside)/\(name)", withIntermediateDirectories: true)
            }
            let directory = try ServedDirectory("\(outside)/\(served)")
            #expect(throws: ServerError.notFound) { try directory.folder(["..", other]) }
            #expect(directory.target(ofLink: "\(outside)/\(served)") != nil)
        }
    }

    @Test("may have a name that begins with a combining mark")
    func mark() async throws {
        try gallery.image("marks/\u{301}a.png")
        try gallery.image("marks/\u{338}.png")
        let listing = try await gallery.get("/-/listing/marks").json()
        #expect((listing["pictures"] as? [String: Any])?["width"] as? [Int] == [40, 40])
        for name in ["\u{301}a.png", "\u{338}.png"] {
            #expect(try await gallery.get("/marks/\(address(name))").status == 200)
            #expect(try await gallery.get("/marks/9x9/\(address(name))").status == 200)
        }
        let page = try await gallery.get("/sprite/9x9/marks?as=html&x='\u{301}")
        #expect(!page.text.contains("x='\u{301}"))
        #expect(!page.text.utf8.contains { $0 == UInt8(ascii: "\\") })
    }

    @Test("are omitted from a listing if they are not UTF-8")
    func otherEncodings() async throws {
        try gallery.image("latin/\u{FFFD}.png")
        let folder = gallery.folder.appending(path: "latin").path
        // `é` in Latin-1, and an invalid byte.
        for byte: UInt8 in [0xE9, 0xFF] {
            let path = Array("\(folder)/".utf8) + [byte] + Array(".png".utf8) + [0]
            let name = path.map { CChar(bitPattern: $0) }
            let descriptor = unsafe open(name, O_CREAT | O_WRONLY, 0o600)
            try #require(descriptor >= 0)
            close(descriptor)
        }
        let listing = try await gallery.get("/-/listing/latin").json()
        #expect((listing["pictures"] as? [String: Any])?["name"] as? [String] == ["\u{FFFD}.png"])
        #expect(try await gallery.get("/latin/%E9.png").status == 404)
        #expect(try await gallery.get("/latin/%FF.png").status == 404)
        #expect(try await gallery.get("/latin/%EF%BF%BD.png").status == 200)
    }

    @Test("may have modification times after 2262")
    func lateTime() async throws {
        let path = gallery.folder.appending(path: "house/\(names[0])").path
        var time = timespec()
        time.tv_sec = 99_999_999_999
        try #require(unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        #expect(try await gallery.get("/-/listing/house").status == 200)
        #expect(try await gallery.get("/house/20x20/\(address(names[0]))").status == 200)
        #expect(try await gallery.get("/info/house/\(address(names[0]))").status == 200)
    }

    @Test(
        "have no tiles of levels that overflow",
        arguments: ["-9223372036854775808", "9223372036854775807", "-1", "99999999999999999999"])
    func levels(level: String) async throws {
        let address = "/tiles/house/\(address(names[0]))_files/\(level)/0_0.jpg"
        #expect(try await gallery.get(address).status == 404)
    }
}
