// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import AssetCatalogs
@testable import AssetTool

@Suite("Hostile compiled catalogs")
struct HostileCatalogTests {
    @Test("assets whose names are not found are described and extracted")
    func hiddenNames() throws {
        try withTemporaryFolder { folder in
            let source = try mixedCatalog(in: folder.appending(path: "A.xcassets"))
            var bytes = try compile(try source.opened()).bytes
            let layout = try CompiledLayout(bytes.span)
            let places = layout.offsets[CompiledLayout.Table.places.rawValue]
            for offset in places..<places + layout.count(.places) * 4 { bytes[offset] = 0xFF }
            let path = folder.appending(path: "A.assets").path
            try ImageDestination.write(bytes, to: path)
            let catalog = try AnyCatalog(path)
            var describedCount = 0
            for (number, asset) in try catalog.assets().enumerated() {
                for index in asset.slots.indices {
                    let members = try catalog.storedMembers(of: asset, number, index, builtInCodecs)
                    let files = try catalog.extractedFiles(of: asset, number, index, builtInCodecs)
                    #expect(members.isEmpty == files.isEmpty)
                    describedCount += files.count
                }
            }
            #expect(describedCount == 6)
        }
    }

    @Test("strings that share bytes are an error")
    func sharedStrings() throws {
        let assets = ["a", "b", "c"].map {
            Asset(
                key: Asset.Key(.image, $0), path: "", slots: [], renderingMode: nil,
                preservesVectors: false, compressionType: nil)
        }
        var writer = CompiledWriter()
        for asset in assets { _ = try writer.add(asset, []) }
        var bytes = writer.file(assets.map(\.key))
        let layout = try CompiledLayout(bytes.span)
        // The first and the third string are all bytes, and the second one is used by no asset.
        let ends = layout.offsets[CompiledLayout.Table.stringEnds.rawValue]
        for (index, end) in [3, 0, 3].enumerated() { bytes[ends + index * 4] = UInt8(end) }
        bytes[try layout.offset(.assets, 1)] = 2
        let catalog = try CompiledCatalog(EncodedBytes(bytes), path: "a.assets")
        #expect(
            throws: AssetCatalogError.malformed(path: "a.assets", reason: "strings share bytes")
        ) { try catalog.assets() }
    }

    @Test("the memory of all descriptions is limited before it is taken")
    func descriptions() throws {
        try withTemporaryFolder { folder in
            let bytes = try compile(try mixedCatalog(in: folder).opened()).bytes
            var limits = DecodeLimits()
            limits.maximumMemoryByteCount = 1_000
            let catalog = try CompiledCatalog(EncodedBytes(bytes), path: "a", limits: limits)
            do {
                _ = try catalog.assets()
                Issue.record("no error")
            } catch AssetCatalogError.limitExceeded(path: "a", _) {}
        }
    }

    @Test("missing bytes of a file that is truncated while it is mapped are an error")
    func truncation() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder.appending(path: "A.xcassets"))
            let data = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            try generated.write("A.dataset/a", data)
            try generated.write("A.dataset/Contents.json", #"{"data": [{"filename": "a"}]}"#)
            let path = folder.appending(path: "A.assets").path
            try ImageDestination.write(try compile(try generated.opened()).bytes, to: path)
            let catalog = try CompiledCatalog(mapping: path)
            let slot = try #require(
                try catalog.slot(.data, "A", for: catalog.query(AssetTraits())))
            #expect(try catalog.data(of: slot) == data)
            // The tables are kept.
            let status = unsafe truncate(path, 8_192)
            #expect(status == 0)
            do {
                _ = try catalog.data(of: slot)
                Issue.record("no error")
            } catch AssetCatalogError.unreadable(path: path, _) {}
        }
    }
}

/// Writes the blocks of a BOM store.
private struct StoreWriter {
    private var blocks: [[UInt8]] = []
    private var names: [(name: String, block: Int)] = []

    mutating func add(_ block: [UInt8]) -> Int {
        blocks.append(block)
        return blocks.count - 1
    }

    mutating func name(_ name: String, _ block: [UInt8]) { names.append((name, add(block))) }

    /// Adds a tree of one node with pairs of blocks.
    mutating func addTree(_ name: String, _ entries: [(key: Int, value: Int)]) {
        var node: [UInt8] = []
        node.append(1, byteCount: 2, .bigEndian)
        node.append(entries.count, byteCount: 2, .bigEndian)
        node += [UInt8](repeating: 0, count: 8)
        for entry in entries {
            node.append(entry.value, byteCount: 4, .bigEndian)
            node.append(entry.key, byteCount: 4, .bigEndian)
        }
        var tree = Array("tree".utf8) + [0, 0, 0, 1]
        tree.append(add(node), byteCount: 4, .bigEndian)
        self.name(name, tree + [0, 0, 0, 0])
    }

    func file() -> [UInt8] {
        var body: [UInt8] = []
        var table: [UInt8] = []
        table.append(blocks.count, byteCount: 4, .bigEndian)
        for block in blocks {
            table.append(32 + body.count, byteCount: 4, .bigEndian)
            table.append(block.count, byteCount: 4, .bigEndian)
            body += block
        }
        var variables: [UInt8] = []
        variables.append(names.count, byteCount: 4, .bigEndian)
        for (name, block) in names {
            variables.append(block, byteCount: 4, .bigEndian)
            variables += [UInt8(name.utf8.count)] + Array(name.utf8)
        }
        var header = BOMStore.magic + [UInt8](repeating: 0, count: 8)
        header.append(32 + body.count, byteCount: 4, .bigEndian)
        header.append(table.count, byteCount: 4, .bigEndian)
        header.append(32 + body.count + table.count, byteCount: 4, .bigEndian)
        header.append(variables.count, byteCount: 4, .bigEndian)
        return header + body + table + variables
    }
}

@Suite("Hostile files of Apple's compiler")
struct HostileCarTests {
    /// The header of a rendition of one column of pixels, without content.
    private func rendition(height: Int, bytesPerRow: Int) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: 184)
        func set(_ text: String, at offset: Int) {
            header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        func set(_ value: Int, at offset: Int) {
            var bytes: [UInt8] = []
            bytes.append(value, byteCount: 4, .littleEndian)
            header.replaceSubrange(offset..<offset + 4, with: bytes)
        }
        set("ISTC", at: 0)
        set(1, at: 12)
        set(height, at: 16)
        set("BGRA", at: 24)
        set(1, at: 28)
        set("a.png", at: 40)
        set(12, at: 168)
        for value in [1007, 4, bytesPerRow] {
            header.append(value, byteCount: 4, .littleEndian)
        }
        return header
    }

    /// A file with an asset whose renditions have the same header, in one block or in one for each.
    private func file(_ value: [UInt8], count: Int, isShared: Bool) -> [UInt8] {
        var store = StoreWriter()
        var format = Array("tmfk".utf8) + [0, 0, 0, 0]
        format.append(1, byteCount: 4, .littleEndian)
        format.append(CarAttribute.identifier.rawValue, byteCount: 4, .littleEndian)
        store.name("KEYFORMAT", format)
        let facet: [UInt8] = [0, 0, 0, 0, 0, 0, 17, 0, 5, 0, 0, 0]
        let name = store.add(Array("A".utf8))
        store.addTree("FACETKEYS", [(name, store.add(facet))])
        let shared = store.add(value)
        store.addTree(
            "RENDITIONS",
            (0..<count).map { index in
                let key = store.add([5, 0])
                return (key, isShared || index == 0 ? shared : store.add(value))
            })
        return store.file()
    }

    @Test("renditions that share a block are an error")
    func sharedBlocks() throws {
        let value = rendition(height: 1, bytesPerRow: 4)
        let bytes = EncodedBytes(file(value, count: 50, isShared: false))
        let names = try CarFile(bytes, path: "a").renditions.map(\.name)
        #expect(names == Array(repeating: "A", count: 50))
        let shared = EncodedBytes(file(value, count: 50, isShared: true))
        #expect(
            throws: AssetCatalogError.malformed(
                path: "a", reason: "entries of the tree RENDITIONS share blocks")
        ) { try CarFile(shared, path: "a") }
    }

    @Test("the memory of padded rows is limited before it is taken")
    func paddedRows() throws {
        let value = rendition(height: 40_000, bytesPerRow: 4_100)
        let car = try CarFile(EncodedBytes(file(value, count: 1, isShared: false)), path: "a")
        var limits = DecodeLimits()
        limits.maximumMemoryByteCount = 10_000_000
        do {
            _ = try car.image(of: try #require(car.renditions.first), limits: limits)
            Issue.record("no error")
        } catch AssetCatalogError.image(_, .limitExceeded(.memoryByteCount, let needed, _)) {
            #expect(needed > 40_000 * 4_100)
        }
    }
}
