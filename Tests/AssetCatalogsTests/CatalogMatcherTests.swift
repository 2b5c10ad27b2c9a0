// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Testing

@testable import AssetCatalogs

/// Writes a catalog in which many slots of each set suit a device.
private func randomCatalog(in folder: URL) throws -> String {
    let generated = GeneratedCatalog(folder: folder.appending(path: "Random.xcassets"))
    var random = SeededRandom(seed: 21)
    func pick(_ key: String, _ values: [String], _ random: inout SeededRandom) -> String? {
        let index = Int(random.next() % UInt64(values.count * 3))
        return index < values.count ? #""\#(key)": "\#(values[index])""# : nil
    }
    for index in 0..<120 {
        var slots: [String] = []
        for slot in 0..<Int(random.next() % 30) + 1 {
            let appearance = ["light", "dark"].map {
                #""appearances": [{"appearance": "luminosity", "value": "\#($0)"}]"#
            }
            let properties = [
                pick("idiom", ["iphone", "ipad", "mac", "universal"], &random),
                pick("subtype", ["retina4"], &random),
                pick("width-class", ["compact", "regular"], &random),
                pick("height-class", ["compact", "regular"], &random),
                random.next() % 3 == 0 ? appearance[Int(random.next() % 2)] : nil,
                pick("display-gamut", ["sRGB", "display-P3"], &random),
                pick("language-direction", ["right-to-left"], &random),
                pick("locale", ["ar", "pt", "pt-BR"], &random),
                pick("memory", ["1GB", "2GB", "4GB"], &random),
                pick("graphics-feature-set", ["metal1v2", "metal2v2", "metal3v1"], &random),
                pick("scale", ["1x", "2x", "3x"], &random), #""filename": "\#(slot).png""#,
            ]
            slots.append("{\(properties.compactMap(\.self).joined(separator: ", "))}")
        }
        try generated.write(
            "Set \(index).imageset/Contents.json",
            #"{"images": [\#(slots.joined(separator: ",\n"))]}"#)
    }
    return generated.folder.path
}

/// A query of `Tests/Peers/catalog_matcher.py` with its answer.
private struct MatchedQuery {
    let key: Asset.Key
    let traits: AssetTraits
    /// The index of the slot in `Contents.json`, or -1.
    let answer: Int

    init?(_ line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        let kinds: [String: Asset.Kind] = [
            "imageset": .image, "appiconset": .appIcon, "colorset": .color, "dataset": .data,
            "symbolset": .symbol,
        ]
        guard fields.count == 17, let kind = kinds[fields[0]], let answer = Int(fields[16]) else {
            return nil
        }
        key = Asset.Key(kind, fields[1])
        self.answer = answer
        var traits = AssetTraits()
        let texts = fields[2...].map { $0.isEmpty ? nil : $0 }
        traits.idiom = texts[0]
        traits.platform = texts[1]
        traits.subtype = texts[2]
        traits.screenWidth = texts[3]
        traits.widthClass = texts[4]
        traits.heightClass = texts[5]
        traits.luminosity = texts[6]
        traits.contrast = texts[7]
        traits.gamut = texts[8]
        traits.direction = texts[9]
        traits.locale = texts[10]
        traits.memory = texts[11].flatMap { Int($0.dropLast(2)) }
        traits.graphics = texts[12]
        traits.scale = texts[13].flatMap { Int($0.dropLast()) }
        self.traits = traits
    }
}

@Suite("Lookups", .enabled(if: PeerTool.python != nil))
struct CatalogMatcherTests {
    private static let isDeep =
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_DAMAGES"] != nil
    private static let queryCount = isDeep ? 100_000 : 8_000

    @Test("folders and compiled files answer random queries like a matcher by elimination")
    func matcher() throws {
        try withTemporaryFolder { folder in
            let paths = [try randomCatalog(in: folder)] + RealCatalogs.all
            var answerCount = 0
            for (index, path) in paths.enumerated() {
                answerCount += try compare(path, Self.queryCount / paths.count, seed: index)
            }
            #expect(answerCount > Self.queryCount / 3)
        }
    }

    /// Returns the number of queries with an answer.
    private func compare(_ path: String, _ count: Int, seed: Int) throws -> Int {
        let catalog = try AssetCatalog(folder: path)
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/catalog_matcher.py")
        let python = try #require(PeerTool.python)
        let output = try PeerTool.run(python, [script.path, path, "\(count)", "\(seed)"])
        let lines = String(decoding: output ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.count == count)
        // Files of slots need not exist for a lookup.
        var writer = CompiledWriter()
        let sorted = catalog.assets.sorted { $0.key.precedes($1.key) }
        for asset in sorted {
            let filled = asset.slots.filter { $0.content != .empty }
            _ = try writer.add(asset, filled.map { ($0, StoredSlot()) })
        }
        let compiled = try CompiledCatalog(
            EncodedBytes(writer.file(sorted.map(\.key))), path: "a.assets")
        var answerCount = 0
        for line in lines {
            let query = try #require(MatchedQuery(line))
            let asset = try #require(catalog[query.key.kind, query.key.name])
            let expected = query.answer < 0 ? nil : asset.slots[query.answer]
            let slot = asset.slot(for: query.traits)
            let stored = try compiled.slot(
                query.key.kind, query.key.name, for: compiled.query(query.traits))
            if slot != expected { Issue.record("\(path) \(line): \(String(describing: slot))") }
            if try stored.map({ try compiled.details(of: $0) }) != expected {
                Issue.record("compiled \(path) \(line)")
            }
            answerCount += expected == nil ? 0 : 1
        }
        return answerCount
    }
}
