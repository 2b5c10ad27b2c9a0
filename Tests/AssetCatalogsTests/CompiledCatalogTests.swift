// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import AssetCatalogs

/// Traits with random values, most of which occur in catalogs.
func randomTraits(_ random: inout SeededRandom) -> AssetTraits {
    func pick(_ values: String?..., random: inout SeededRandom) -> String? {
        values[Int(random.next() % UInt64(values.count))]
    }
    var traits = AssetTraits()
    traits.idiom = pick(nil, "iphone", "ipad", "mac", "tv", "watch", "car", random: &random)
    traits.subtype = pick(nil, nil, nil, "retina4", random: &random)
    traits.screenWidth = pick(nil, nil, "<=145", ">145", random: &random)
    traits.widthClass = pick(nil, "compact", "regular", random: &random)
    traits.heightClass = pick(nil, "compact", "regular", random: &random)
    traits.luminosity = pick(nil, "light", "dark", random: &random)
    traits.contrast = pick(nil, nil, "high", random: &random)
    traits.gamut = pick(nil, "sRGB", "display-P3", random: &random)
    traits.direction = pick(nil, "left-to-right", "right-to-left", random: &random)
    traits.locale = pick(nil, nil, "ar", "pt-BR", random: &random)
    traits.graphics = pick(nil, "metal1v2", "metal2v2", "metal3v1", "metal2v9", random: &random)
    traits.memory = pick(nil, "1", "2", "3", "4", random: &random).flatMap { Int($0) }
    traits.scale = pick(nil, "1", "2", "3", random: &random).flatMap { Int($0) }
    return traits
}

@Suite("Compiled catalogs")
struct CompiledCatalogTests {
    /// Compares all assets, and the answers to random queries.
    private func expectSameAnswers(
        _ catalog: AssetCatalog, _ compiled: CompiledCatalog, missing: Set<String> = []
    ) throws {
        let expected = catalog.assets.sorted { $0.key.precedes($1.key) }
        let assets = try compiled.assets()
        #expect(assets.map(\.key) == expected.map(\.key))
        var random = SeededRandom(seed: 5)
        for (asset, source) in zip(assets, expected) {
            let isWhole = source.slots.allSatisfy { slot in
                guard case .file(let name) = slot.content else { return true }
                return !missing.contains("\(source.path)/\(name)")
            }
            guard isWhole else { continue }
            #expect(asset.slots == source.slots.filter { $0.content != .empty })
            #expect(asset.renderingMode == source.renderingMode)
            #expect(asset.preservesVectors == source.preservesVectors)
            for _ in 0..<20 {
                let traits = randomTraits(&random)
                let slot = try compiled.slot(
                    asset.key.kind, asset.key.name, for: compiled.query(traits))
                let details = try slot.map { try compiled.details(of: $0) }
                #expect(details == source.slot(for: traits), "\(asset.key.name) \(traits)")
            }
        }
    }

    /// Compares the pixels and files of all slots.
    private func expectSameContents(
        _ catalog: AssetCatalog, _ compiled: CompiledCatalog
    ) throws -> Int {
        var count = 0
        for asset in catalog.assets {
            let filled = asset.slots.filter { $0.content != .empty }
            for (slot, stored) in zip(filled, try compiled.slots(of: asset.key)) {
                guard case .file(let name) = slot.content else { continue }
                let bytes = try EncodedBytes(reading: "\(asset.path)/\(name)")
                guard let source = try? ImageSource(bytes, codecs: builtInCodecs) else {
                    let data = try #require(try compiled.data(of: stored))
                    #expect(data == bytes.copy(of: 0..<bytes.count))
                    continue
                }
                let image = try compiled.image(of: stored, codecs: builtInCodecs)
                let comparison = PixelComparison(image, try source.image())
                #expect(comparison.maximumDifference == 0, "\(asset.key.name) \(comparison)")
                count += 1
            }
        }
        return count
    }

    @Test("a folder and its compiled file give the same answers and pixels")
    func generated() throws {
        try withTemporaryFolder { folder in
            let catalog = try mixedCatalog(in: folder).opened()
            for preference in CatalogCompiler.Preference.allCases {
                var options = CatalogCompiler.Options()
                options.preference = preference
                let file = try compile(catalog, options)
                let compiled = try CompiledCatalog(EncodedBytes(file.bytes), path: "a.assets")
                try expectSameAnswers(catalog, compiled)
                #expect(try expectSameContents(catalog, compiled) == 5)
                let compressions = Set(file.entries.map(\.compression))
                #expect(compressions.isSuperset(of: ["mask", "image", "file"]))
                #expect(
                    preference == .size || compressions.isSuperset(of: ["palette", "pixels"]))
            }
        }
    }

    @Test("catalogs of applications give the same answers and pixels", arguments: RealCatalogs.all)
    func real(path: String) throws {
        let catalog = try AssetCatalog(folder: path)
        let file = try compile(catalog)
        let compiled = try CompiledCatalog(EncodedBytes(file.bytes), path: "a.assets")
        let compiler = CatalogCompiler(catalog, codecs: builtInCodecs)
        let missing = Set(compiler.sources.map(\.path)).subtracting(file.entries.map(\.path))
        #expect(
            missing.allSatisfy {
                !FileManager.default.fileExists(atPath: $0) || needsSandbox($0)
            })
        try expectSameAnswers(catalog, compiled, missing: missing)
        if missing.isEmpty { #expect(try expectSameContents(catalog, compiled) > 0) }
    }

    /// Whether a file is decoded in a sandbox only, as SVG and PDF are with their traits.
    private func needsSandbox(_ path: String) -> Bool {
        do {
            _ = try ImageSource(EncodedBytes(reading: path), codecs: builtInCodecs)
            return false
        } catch CodecError.unsupported(let feature) {
            return feature.hasSuffix("outside of a sandbox")
        } catch { return false }
    }

    @Test("10,000 names have a place each, and other names have none")
    func names() throws {
        let keys = (0..<10_000).map { Asset.Key(.image, "Group \($0 % 7)/icon \($0)") }
        let sorted = keys.sorted { $0.precedes($1) }
        let assets = sorted.map {
            Asset(
                key: $0, path: "", slots: [], renderingMode: nil, preservesVectors: false,
                compressionType: nil)
        }
        var writer = CompiledWriter()
        for asset in assets { _ = try writer.add(asset, []) }
        let bytes = writer.file(sorted)
        let reader = CompiledReader(layout: try CompiledLayout(bytes.span))
        for (index, key) in sorted.enumerated() {
            #expect(try reader.asset(bytes.span, key.kind, key.name) == index)
            #expect(try reader.asset(bytes.span, .color, key.name) == nil)
            #expect(try reader.asset(bytes.span, .image, key.name + "x") == nil)
        }
    }

    @Test("names in NFC and NFD are different")
    func normalization() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder)
            let image = TestImage.noise(PixelSize(width: 2, height: 2), .rgba8)
            try generated.addImages("e\u{301}", [("", image)])
            let catalog = try generated.opened()
            let compiled = try CompiledCatalog(EncodedBytes(try compile(catalog).bytes), path: "")
            let query = try compiled.query(AssetTraits())
            #expect(catalog[.image, "\u{E9}"] == nil)
            #expect(catalog[.image, "e\u{301}"] != nil)
            #expect(try compiled.slot(.image, "\u{E9}", for: query) == nil)
            #expect(try compiled.slot(.image, "e\u{301}", for: query) != nil)
        }
    }

    @Test("the order in which sources are encoded does not change the file")
    func determinism() throws {
        try withTemporaryFolder { folder in
            let catalog = try mixedCatalog(in: folder).opened()
            let compiler = CatalogCompiler(catalog, codecs: builtInCodecs)
            let expected = try compile(catalog).bytes
            var encoded = [CatalogCompiler.Encoded?](repeating: nil, count: compiler.sources.count)
            for index in encoded.indices.reversed() {
                encoded[index] = try compiler.encode(compiler.sources[index])
            }
            #expect(try compiler.file(encoded).bytes == expected)
        }
    }

    @Test("equal images are stored once")
    func duplicates() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder)
            let image = TestImage.noise(PixelSize(width: 30, height: 30), .rgba8)
            let other = TestImage.noise(PixelSize(width: 30, height: 30), .rgba8, seed: 2)
            for index in 0..<50 {
                try generated.addImages(
                    "\(index)",
                    [(#""scale": "1x""#, image), (#""scale": "2x""#, index == 7 ? other : image)])
            }
            let entries = try compile(try generated.opened()).entries
            #expect(entries.count == 100)
            #expect(entries.filter { $0.storedByteCount > 0 }.count == 2)
        }
    }

    @Test("raw pixels are not copied")
    func mapping() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder.appending(path: "A.xcassets"))
            let image = TestImage.noise(PixelSize(width: 16, height: 16), .rgba8)
            try generated.addImages("A", [("", image)])
            let path = folder.appending(path: "A.assets").path
            try ImageDestination.write(try compile(try generated.opened()).bytes, to: path)
            let catalog = try CompiledCatalog(mapping: path)
            let slot = try #require(
                try catalog.slot(.image, "A", for: catalog.query(AssetTraits())))
            let addresses = try (0..<2).map { _ in
                let image = try catalog.image(of: slot, codecs: builtInCodecs)
                return unsafe image.bytes.withUnsafeBufferPointer {
                    UInt(bitPattern: $0.baseAddress)
                }
            }
            #expect(addresses[0] == addresses[1])
            #expect(addresses[0] % 64 == 0)
            try catalog.checkUnchanged()
            // Pixels of a file that is truncated are zeros, and the change is detected.
            let mapped = try catalog.image(of: slot, codecs: builtInCodecs)
            let status = unsafe truncate(path, 0)
            #expect(status == 0)
            #expect(mapped.bytes.indices.allSatisfy { mapped.bytes[$0] == 0 })
            #expect(throws: AssetCatalogError.self) { try catalog.checkUnchanged() }
        }
    }
}

@Suite("Thinned catalogs")
struct ThinningTests {
    @Test("a thinned file gives the answers of its device", arguments: RealCatalogs.all)
    func answers(path: String) throws {
        let catalog = try AssetCatalog(folder: path)
        var random = SeededRandom(seed: 11)
        for _ in 0..<12 {
            var device = AssetTraits()
            device.idiom = ["iphone", "ipad", "mac", "watch"][Int(random.next() % 4)]
            if random.next() % 2 == 0 { device.scale = Int(random.next() % 3) + 1 }
            if random.next() % 3 == 0 { device.luminosity = "dark" }
            if random.next() % 3 == 0 { device.memory = 2 }
            var removedCount = 0
            for asset in catalog.assets {
                let kept = Thinning(devices: [device]).keptSlots(of: asset)
                removedCount += asset.slots.count - kept.count
                let thinned = Asset(
                    key: asset.key, path: "", slots: kept.map { asset.slots[$0] },
                    renderingMode: nil, preservesVectors: false, compressionType: nil)
                for _ in 0..<30 {
                    var traits = randomTraits(&random)
                    traits.idiom = device.idiom
                    traits.scale = device.scale ?? traits.scale
                    traits.luminosity = device.luminosity ?? traits.luminosity
                    traits.memory = device.memory ?? traits.memory
                    #expect(
                        thinned.slot(for: traits) == asset.slot(for: traits),
                        "\(asset.key.name) \(traits)")
                }
            }
            if path == RealCatalogs.acextract { #expect(removedCount > 10) }
        }
    }

    @Test("slots that another one always wins over are removed")
    func unreachable() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder)
            let image = TestImage.noise(PixelSize(width: 2, height: 2), .rgba8)
            try generated.addImages(
                "A",
                [
                    ("", image), (#""idiom": "iphone""#, image), (#""idiom": "ipad""#, image),
                    (#""idiom": "iphone", "scale": "2x""#, image),
                ])
            let asset = try #require(try generated.opened()[.image, "A"])
            func kept(_ devices: (String?, Int?)...) -> [Int] {
                Thinning(
                    devices: devices.map { idiom, scale in
                        var device = AssetTraits()
                        (device.idiom, device.scale) = (idiom, scale)
                        return device
                    }
                ).keptSlots(of: asset)
            }
            #expect(kept() == [0, 1, 2, 3])
            #expect(kept(("iphone", nil)) == [1, 3])
            #expect(kept(("iphone", 2)) == [3])
            #expect(kept(("iphone", 2), ("ipad", nil)) == [2, 3])
            #expect(kept(("mac", nil)) == [0])
        }
    }
}
