// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

@testable import AssetCatalogs

/// Writes files below a catalog; names of folders in a path are created.
private func catalog(_ files: [String: String], in folder: URL) throws -> AssetCatalog {
    for (path, text) in files {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
    return try AssetCatalog(folder: folder.path)
}

private func images(_ slots: String...) -> String {
    #"{"images": [\#(slots.map { "{\($0)}" }.joined(separator: ","))], "future": {"key": 1}}"#
}

private func files(
    _ slots: [String], _ change: (inout AssetTraits) -> Void
) throws -> AssetSlot.Content? {
    try withTemporaryFolder { folder in
        let text = #"{"images": [\#(slots.map { "{\($0)}" }.joined(separator: ","))]}"#
        let catalog = try catalog(["A.imageset/Contents.json": text], in: folder)
        var traits = AssetTraits()
        change(&traits)
        return try #require(catalog[.image, "A"]).slot(for: traits)?.content
    }
}

@Suite("Asset catalogs")
struct CatalogTests {
    @Test("groups with a namespace are part of the name, others are not")
    func namespaces() throws {
        try withTemporaryFolder { folder in
            let one = images(#""idiom": "universal", "filename": "a.png""#)
            let catalog = try catalog(
                [
                    "Contents.json": "{}",
                    "Toolbar/Contents.json": #"{"properties": {"provides-namespace": true}}"#,
                    "Toolbar/Share.imageset/Contents.json": one,
                    "Toolbar/Plain/Save.imageset/Contents.json": one,
                    "Plain/Open.imageset/Contents.json": one,
                    "Old.launchimage/Contents.json": #"{"images": 1}"#,
                ], in: folder)
            #expect(
                catalog.assets.map(\.key) == [
                    Asset.Key(.other("launchimage"), "Old"), Asset.Key(.image, "Open"),
                    Asset.Key(.image, "Toolbar/Save"), Asset.Key(.image, "Toolbar/Share"),
                ])
            #expect(catalog[.image, "Share"] == nil)
            #expect(catalog[.color, "Open"] == nil)
        }
    }

    @Test("colour components are fractions, integers or hexadecimal digits")
    func colors() throws {
        try withTemporaryFolder { folder in
            let text = """
                {"colors": [{"idiom": "universal", "color": {"color-space": "display-p3",
                "components": {"red": "0x33", "green": "102", "blue": "0.600", "alpha": 0.5}}},
                {"idiom": "mac", "color": {"platform": "osx", "reference": "labelColor"}}]}
                """
            let catalog = try catalog(["C.colorset/Contents.json": text], in: folder)
            let slots = try #require(catalog[.color, "C"]).slots
            #expect(
                slots.map(\.content) == [
                    .color(
                        AssetColor(space: "display-p3", components: [0.2, 0.4, 0.6], alpha: 0.5)),
                    .systemColor("labelColor"),
                ])
        }
    }

    @Test(
        "damaged contents are errors that name the file",
        arguments: [
            "", "[]", #"{"images": 1}"#, images(#""filename": "../a.png""#),
            images(#""scale": "0x""#), images(#""scale": "9999999999999999999x""#),
            images(#""memory": "2""#),
            images(#""appearances": [{"appearance": "weight", "value": "bold"}]"#),
            #"{"colors": [{"color": {"components": {"red": "1.0"}}}]}"#,
            #"{"colors": [{"color": {"components": {"white": "grey"}}}]}"#,
        ])
    func damage(text: String) throws {
        try withTemporaryFolder { folder in
            let error = #expect(throws: AssetCatalogError.self) {
                try catalog(["A.imageset/Contents.json": text], in: folder)
            }
            guard case .malformed(let path, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(path.hasSuffix("A.imageset/Contents.json"))
        }
    }

    @Test("two sets with the same name are an error")
    func duplicates() throws {
        try withTemporaryFolder { folder in
            let error = #expect(throws: AssetCatalogError.self) {
                try catalog(
                    [
                        "A.imageset/Contents.json": images(),
                        "Group/A.imageset/Contents.json": images(),
                    ], in: folder)
            }
            guard case .duplicateName = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}

@Suite("Slots for traits")
struct SlotTests {
    private static let scales = [1, 2, 4].map { #""scale": "\#($0)x", "filename": "\#($0)""# }

    @Test(
        "the scale is the nearest above, else the nearest below",
        arguments: [(1, "1"), (2, "2"), (3, "4"), (5, "4")])
    func scale(query: Int, expected: String) throws {
        #expect(try files(Self.scales) { $0.scale = query } == .file(expected))
    }

    @Test("a slot for the idiom wins over a universal one of the right scale")
    func idiom() throws {
        let slots = [
            #""idiom": "universal", "scale": "2x", "filename": "any""#,
            #""idiom": "ipad", "scale": "1x", "filename": "ipad""#,
        ]
        let change = { (idiom: String?) in
            try files(slots) { ($0.idiom, $0.scale) = (idiom, 2) }
        }
        #expect(try change("ipad") == .file("ipad"))
        #expect(try change("tv") == .file("any"))
        #expect(try change(nil) == .file("any"))
        #expect(try files([slots[1]]) { $0.idiom = "tv" } == nil)
    }

    @Test("memory and graphics are the largest that the device has")
    func minima() throws {
        let memories = [1, 2, 4].map { #""memory": "\#($0)GB", "filename": "\#($0)""# }
        #expect(try files(memories) { $0.memory = 3 } == .file("2"))
        #expect(try files(memories) { $0.memory = 8 } == .file("4"))
        #expect(try files(memories) { _ in } == nil)
        let graphics = ["metal1v2", "metal3v1", "metal2v2"].map {
            #""graphics-feature-set": "\#($0)", "filename": "\#($0)""#
        }
        #expect(try files(graphics) { $0.graphics = "metal2v3" } == .file("metal2v2"))
    }

    @Test("dark, locale and gamut fall back to slots without them")
    func fallbacks() throws {
        let slots = [
            #""filename": "any""#, #""locale": "ar", "filename": "ar""#,
            #""appearances": [{"appearance": "luminosity", "value": "dark"}], "filename": "dark""#,
            #""display-gamut": "display-P3", "filename": "P3""#, #""scale": "1x""#,
        ]
        #expect(try files(slots) { _ in } == .file("any"))
        #expect(try files(slots) { $0.locale = "ar-EG" } == .file("ar"))
        #expect(try files(slots) { $0.locale = "arc" } == .file("any"))
        #expect(try files(slots) { $0.luminosity = "dark" } == .file("dark"))
        #expect(try files(slots) { $0.gamut = "display-P3" } == .file("P3"))
        #expect(try files([slots[3]]) { _ in } == .file("P3"))
    }
}

@Suite("Catalogs of applications")
struct RealCatalogTests {
    private static let root =
        ProcessInfo.processInfo.environment["CALOTYPE_CORPUS"].map { URL(filePath: $0) }
        ?? SampleFiles.packageDirectory.appending(path: "../shared/corpus").standardized
    private static let folder = root.appending(path: "catalogs/acextract/Images.xcassets")

    @Test(
        "acextract has 33 image sets, each with an answer for one of its devices",
        .enabled(if: FileManager.default.fileExists(atPath: folder.path)))
    func acextract() throws {
        let catalog = try AssetCatalog(folder: Self.folder.path)
        let imageSets = catalog.assets.filter { $0.key.kind == .image }
        #expect(imageSets.count == 33)
        for asset in imageSets {
            // A query with the traits of a slot selects it, and without a scale, one for scale 1.
            for slot in asset.slots where slot.content != .empty {
                var found = try #require(asset.slot(for: slot.traits)).traits
                if slot.traits.scale == nil, found.scale == 1 { found.scale = nil }
                #expect(found == slot.traits, "\(asset.key.name)")
            }
        }
    }
}
