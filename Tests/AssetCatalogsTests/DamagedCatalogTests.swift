// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Testing

@testable import AssetCatalogs

/// Uses everything of a compiled file.
///
/// - Returns: The number of results that were not errors.
func useAll(_ bytes: [UInt8]) -> Int {
    guard let catalog = try? CompiledCatalog(EncodedBytes(bytes), path: "damaged") else { return 0 }
    var count = 0
    let query = try? catalog.query(AssetTraits())
    for asset in (try? catalog.assets()) ?? [] {
        if let query, (try? catalog.slot(asset.key.kind, asset.key.name, for: query)) != nil {
            count += 1
        }
        for slot in (try? catalog.slots(of: asset.key)) ?? [] {
            if (try? catalog.image(of: slot.scaled(to: 2), codecs: builtInCodecs)) != nil {
                count += 1
            }
            if (try? catalog.data(of: slot)) != nil { count += 1 }
            if (try? catalog.storage(of: slot)) != nil { count += 1 }
            if (try? catalog.rasterScales(of: slot)) != nil { count += 1 }
        }
    }
    return count
}

@Suite("Damaged compiled catalogs")
struct DamagedCatalogTests {
    @Test("5,000 changed files are read without a crash")
    func mutations() throws {
        try withTemporaryFolder { folder in
            let original = try compile(try mixedCatalog(in: folder).opened()).bytes
            let whole = useAll(original)
            #expect(whole > 20)
            let tables = try CompiledLayout(original.span).blobStart
            var random = SeededRandom(seed: 3)
            var differentCount = 0
            for _ in 0..<5_000 {
                var bytes = original
                for _ in 0...random.next() % 4 {
                    // Mostly the tables; the decoders of blobs have tests of their own.
                    let end = random.next() % 8 == 0 ? bytes.count : tables
                    let offset = Int(random.next() % UInt64(end))
                    let values: [UInt8] = [
                        0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: random.next()),
                    ]
                    bytes[offset] = values[Int(random.next() % 6)]
                }
                if useAll(bytes) != whole { differentCount += 1 }
            }
            // Changes of names and numbers change no count.
            #expect(differentCount > 500)
        }
    }

    @Test("a file cut short at any byte is an error")
    func truncation() throws {
        try withTemporaryFolder { folder in
            let bytes = try compile(try mixedCatalog(in: folder).opened()).bytes
            for count in Array(0..<2_000) + [bytes.count - 1] {
                #expect(throws: AssetCatalogError.self, "\(count) bytes") {
                    try CompiledCatalog(EncodedBytes(Array(bytes[..<count])), path: "short")
                }
            }
        }
    }
}
