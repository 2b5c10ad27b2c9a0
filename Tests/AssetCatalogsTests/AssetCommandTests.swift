// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import AssetCatalogs
@testable import AssetTool

@Suite("The assets command")
struct AssetCommandTests {
    private func compile(_ arguments: String...) throws {
        try AssetCompile.parse(arguments + ["--no-sandbox", "--quiet"]).run()
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test("any number of jobs gives the same file, report and names")
    func jobs() throws {
        try withTemporaryFolder { folder in
            _ = try mixedCatalog(in: folder.appending(path: "A.xcassets"))
            let catalog = folder.appending(path: "A.xcassets").path
            var results: [[[UInt8]]] = []
            for jobs in [1, 4] {
                let paths = ["assets", "json", "swift"].map {
                    folder.appending(path: "\(jobs).\($0)").path
                }
                try compile(
                    catalog, "-o", paths[0], "--report", paths[1], "--swift", paths[2], "--jobs",
                    "\(jobs)")
                results.append(try paths.map(bytes))
            }
            #expect(results[0] == results[1])
            let report = try JSONSerialization.jsonObject(with: Data(results[0][1]))
            #expect((report as? [[String: Any]])?.count == 6)
        }
    }

    @Test("a cache gives the same file, and is not used for files that have changed")
    func cache() throws {
        try withTemporaryFolder { folder in
            let generated = try mixedCatalog(in: folder.appending(path: "A.xcassets"))
            let cache = folder.appending(path: "cache").path
            let outputs = (0..<3).map { folder.appending(path: "\($0).assets").path }
            try compile(generated.folder.path, "-o", outputs[0])
            for _ in 0..<2 {
                try compile(generated.folder.path, "-o", outputs[1], "--cache", cache)
                #expect(try bytes(outputs[0]) == bytes(outputs[1]))
            }
            let entries = try FileManager.default.contentsOfDirectory(atPath: cache)
            #expect(entries.count == 6)
            // A damaged entry is made again.
            for entry in entries {
                try Data("damaged".utf8).write(to: URL(filePath: cache + "/" + entry))
            }
            try compile(generated.folder.path, "-o", outputs[1], "--cache", cache)
            #expect(try bytes(outputs[0]) == bytes(outputs[1]))
            let image = TestImage.noise(PixelSize(width: 20, height: 14), .rgba8, seed: 77)
            try generated.addImages("Photo", [("", image)])
            try compile(generated.folder.path, "-o", outputs[1], "--cache", cache)
            try compile(generated.folder.path, "-o", outputs[2])
            #expect(try bytes(outputs[1]) == bytes(outputs[2]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: cache).count == 7)
        }
    }

    @Test("the cache stores the content of the bytes that its entry is named after")
    func cachedBytes() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder.appending(path: "A.xcassets"))
            try generated.write("A.dataset/a", "old")
            try generated.write("A.dataset/Contents.json", #"{"data": [{"filename": "a"}]}"#)
            let compiler = CatalogCompiler(try generated.opened(), codecs: builtInCodecs)
            let cache = EncodedCache(folder: folder.path)
            let bytes = try compiler.read(compiler.sources[0])
            // Another process replaces the file after it was read.
            try generated.write("A.dataset/a", "new")
            for _ in 0..<2 {
                let encoded = try cache.encoded(compiler.sources[0], bytes, compiler)
                #expect(encoded.stored.file?.bytes == Array("old".utf8))
            }
        }
    }

    @Test("a missing file is reported by the exit status, and the others are compiled")
    func missingFile() throws {
        try withTemporaryFolder { folder in
            let generated = try mixedCatalog(in: folder.appending(path: "A.xcassets"))
            try FileManager.default.removeItem(
                at: generated.folder.appending(path: "Mask.imageset/0.png"))
            let output = folder.appending(path: "A.assets").path
            #expect(throws: ExitCode(1)) { try compile(generated.folder.path, "-o", output) }
            let catalog = try CompiledCatalog(mapping: output)
            #expect(try catalog.slots(of: Asset.Key(.image, "Mask")).count == 1)
            #expect(try catalog.slots(of: Asset.Key(.image, "Photo")).count == 1)
        }
    }

    @Test("extracted images have the pixels of the folder, and data its bytes")
    func extraction() throws {
        try withTemporaryFolder { folder in
            let generated = try mixedCatalog(in: folder.appending(path: "A.xcassets"))
            let output = folder.appending(path: "A.assets").path
            try compile(generated.folder.path, "-o", output, "--optimize", "size")
            let files = folder.appending(path: "files")
            try AssetExtract.parse([output, "-o", files.path, "--no-sandbox", "--quiet"]).run()
            for asset in try generated.opened().assets {
                for case .file(let name) in asset.slots.map(\.content) {
                    let source = try bytes("\(asset.path)/\(name)")
                    let extracted = try bytes(
                        files.appending(path: "\(asset.key.name)/\(name)").path)
                    guard asset.key.kind == .image else {
                        #expect(source == extracted)
                        continue
                    }
                    let images = try [source, extracted].map {
                        try ImageSource(EncodedBytes($0), codecs: builtInCodecs).image().asRGBA
                    }
                    #expect(PixelComparison(images[0], images[1]).maximumDifference == 0)
                }
            }
        }
    }

    @Test(
        "names that leave the folder of the output are errors", arguments: ["..", "a/../..", "/a"])
    func outside(name: String) {
        #expect(throws: (any Error).self) { try ExtractedFile("b.png", of: name, []) }
    }

    @Test("invalid traits are errors", arguments: ["idiom", "scale=0", "shape=round"])
    func traits(text: String) {
        #expect(throws: (any Error).self) {
            try AssetCompile.parse(["a", "-o", "b", "--thin", text])
        }
    }

    @Test("traits have the values of Contents.json, and short names")
    func thinning() throws {
        let command = try AssetCompile.parse([
            "a", "-o", "b", "--thin", "idiom=phone,scale=2", "--thin", "idiom=ipad,appearance=dark",
        ])
        #expect(command.thin.map(\.idiom) == ["iphone", "ipad"])
        #expect(command.thin.map(\.scale) == [2, nil])
        #expect(command.thin.map(\.luminosity) == [nil, "dark"])
    }
}
