// SPDX-License-Identifier: Apache-2.0

import AssetCatalogs
import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

/// Compiles a catalog with an image set, whose slots are lists of properties and samples of the red channel.
///
/// Each image has 10x10 pixels for each unit of scale.
func servedCatalog(
    in folder: String, name: String, _ slots: [(properties: String, scale: Int, red: UInt8)]
) throws -> ServedCatalog {
    let set = URL(filePath: folder).appending(path: "A.xcassets/\(name).imageset")
    try FileManager.default.createDirectory(at: set, withIntermediateDirectories: true)
    let png = try ImageDestination(format: "png", codecs: builtInCodecs)
    var list: [String] = []
    for (index, slot) in slots.enumerated() {
        let size = PixelSize(width: 10 * slot.scale, height: 10 * slot.scale)
        try png.write(
            TestImage.flat(size, .rgb8, [slot.red, 2, 3]),
            to: set.appending(path: "\(index).png").path)
        list.append(
            #"{"filename": "\#(index).png", "scale": "\#(slot.scale)x"\#(slot.properties)}"#)
    }
    try Data(#"{"images": [\#(list.joined(separator: ","))]}"#.utf8)
        .write(to: set.appending(path: "Contents.json"))
    try Data(#"{"properties": {"provides-namespace": true}}"#.utf8)
        .write(to: set.deletingLastPathComponent().appending(path: "Contents.json"))
    let compiler = CatalogCompiler(
        try AssetCatalog(folder: "\(folder)/A.xcassets"), codecs: builtInCodecs)
    let file = try compiler.file(compiler.sources.map { try compiler.encode($0) })
    try ImageDestination.write(file.bytes, to: "\(folder)/A.assets")
    return try ServedCatalog(mapping: "\(folder)/A.assets")
}

@Suite("Images of an asset catalog")
struct AssetRouteTests {
    private static let dark =
        #", "appearances": [{"appearance": "luminosity", "value": "dark"}]"#

    private let folder: TemporaryFolder
    private let assets: ServedCatalog

    init() throws {
        folder = try TemporaryFolder()
        assets = try servedCatalog(
            in: folder.path, name: "Tools/Share",
            [("", 1, 10), ("", 2, 20), (Self.dark, 1, 30), (Self.dark, 2, 40)])
    }

    private func gallery(
        _ change: @escaping @Sendable (inout ImageServer.Configuration) -> Void = { _ in }
    ) throws -> TestGallery {
        try TestGallery { [assets] in
            $0.assets = assets
            change(&$0)
        }
    }

    /// The red sample of the image in a response, which identifies its slot.
    private func red(_ answer: Answer) throws -> UInt8 {
        let image = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
        return image.row(0)[0]
    }

    @Test(
        "have the scale and the appearance of the query",
        arguments: [
            ("", 10), ("?scale=1", 10), ("?scale=2", 20), ("?scale=8", 20),
            ("?appearance=dark", 30), ("?scale=2&appearance=dark", 40),
            ("?scale=2&appearance=light&locale=ar&idiom=iphone&gamut=sRGB", 20),
        ])
    func traits(query: String, red: UInt8) async throws {
        let answer = try await gallery().get("/assets/Tools/Share" + query)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers[.contentType] == "image/png")
        #expect(answer.headers[.vary] == nil)
        #expect(try self.red(answer) == red)
    }

    @Test("have the scale and the appearance of client hints, unless the query states them")
    func hints() async throws {
        let gallery = try gallery { $0.usesClientHints = true }
        let dark: HTTPFields = {
            var fields = HTTPFields()
            fields[named: "Sec-CH-DPR"] = "1.5"
            fields[named: "Sec-CH-Prefers-Color-Scheme"] = "\"dark\""
            return fields
        }()
        for (query, hints, red, vary) in [
            ("", dark, 40, "Sec-CH-DPR, Sec-CH-Prefers-Color-Scheme"),
            ("", [:], 10, "Sec-CH-DPR, Sec-CH-Prefers-Color-Scheme"),
            ("?scale=1", dark, 30, "Sec-CH-Prefers-Color-Scheme"),
            ("?appearance=light", dark, 20, "Sec-CH-DPR"),
            ("?appearance=light&scale=1", dark, 10, nil),
        ] as [(String, HTTPFields, UInt8, String?)] {
            let answer = try await gallery.get("/assets/Tools/Share" + query, hints)
            #expect(try self.red(answer) == red, "\(query)")
            #expect(answer.headers[.vary] == vary, "\(query)")
            #expect(
                answer.headers[named: "Accept-CH"] == "Sec-CH-DPR, Sec-CH-Prefers-Color-Scheme")
        }
        // Without --client-hints they are ignored.
        #expect(try self.red(try await self.gallery().get("/assets/Tools/Share", dark)) == 10)
    }

    @Test("have an entity tag of the content, which is the same on several servers")
    func validators() async throws {
        let gallery = try gallery()
        let answer = try await gallery.get("/assets/Tools/Share")
        let tag = try #require(answer.headers[.eTag])
        #expect(answer.headers[.cacheControl] == "public, no-cache")
        #expect(try await gallery.get("/assets/Tools/Share", [.ifNoneMatch: tag]).status == 304)
        let other = try await gallery.get("/assets/Tools/Share?scale=2", [.ifNoneMatch: tag])
        #expect(other.status == 200)
        let version = try await gallery.get("/assets/Tools/Share?v=\(assets.version)")
        #expect(version.headers[.cacheControl] == "public, max-age=31536000, immutable")
        #expect(version.headers[.eTag] == tag)
        for (red, isEqual) in [(UInt8(10), true), (11, false)] {
            let other = try TemporaryFolder()
            let copy = try servedCatalog(
                in: other.path, name: "Tools/Share",
                [("", 1, red), ("", 2, 20), (Self.dark, 1, 30), (Self.dark, 2, 40)])
            let answer = try await TestGallery { $0.assets = copy }.get("/assets/Tools/Share")
            #expect((answer.headers[.eTag] == tag) == isEqual)
        }
    }

    @Test("have the format of the query, or one that the client accepts")
    func formats() async throws {
        let gallery = try gallery { $0.negotiatedFormatNames = ["webp"] }
        let accepted = try await gallery.get("/assets/Tools/Share", [.accept: "image/webp"])
        #expect(accepted.headers[.contentType] == "image/webp")
        #expect(accepted.headers[.vary] == "Accept")
        // Without loss: a lossy encoder changes these samples.
        #expect(try red(accepted) == 10)
        let png = try await gallery.get("/assets/Tools/Share?format=png", [.accept: "image/webp"])
        #expect(png.headers[.contentType] == "image/png")
        #expect(png.headers[.vary] == nil)
    }

    @Test(
        "of invalid requests are refused",
        arguments: [
            ("/assets/Share", 404), ("/assets/Tools", 404), ("/assets/Tools/Share/x", 404),
            ("/assets/Tools/Share?scale=0", 400), ("/assets/Tools/Share?scale=9", 400),
            ("/assets/Tools/Share?scale=2x", 400), ("/assets/Tools/Share?appearance=blue", 400),
            ("/assets/Tools/Share?shape=round", 400), ("/assets/Tools/Share?format=exe", 400),
            ("/assets/..%2FA.assets", 404), ("/assets/", 404),
        ])
    func refused(address: String, status: Int) async throws {
        let answer = try await gallery().get(address)
        #expect(answer.status == status, "\(answer.text)")
    }

    @Test("need a signature, and hide a folder of the same name only with a catalog")
    func access() async throws {
        let signed = try gallery { $0.signatureKeys = [Array(repeating: 7, count: 32)] }
        #expect(try await signed.get("/assets/Tools/Share").status == 403)
        let presets = try gallery { $0.allowsPresetsOnly = true }
        #expect(try await presets.get("/assets/Tools/Share?scale=2").status == 200)
        #expect(try await presets.get("/assets/Tools/Share?format=webp").status == 403)
        let plain = try TestGallery()
        try plain.image("assets/1.png")
        #expect(try await plain.get("/assets/1.png").status == 200)
        let hidden = try gallery()
        try hidden.image("assets/1.png")
        #expect(try await hidden.get("/assets/1.png").status == 404)
    }

    @Test("of a catalog that is truncated while it is mapped are errors")
    func truncation() async throws {
        let gallery = try gallery()
        #expect(try await gallery.get("/assets/Tools/Share").status == 200)
        let status = unsafe truncate("\(folder.path)/A.assets", 0)
        #expect(status == 0)
        #expect(try await gallery.get("/assets/Tools/Share?scale=2").status == 500)
    }
}
