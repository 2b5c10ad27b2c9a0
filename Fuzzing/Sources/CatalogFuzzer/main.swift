// SPDX-License-Identifier: Apache-2.0

// Changes compiled catalogs and uses everything that they contain.
//
// Arguments: the number of changed files, a seed, the file to which each input is written before it is used,
// and samples: folders of catalogs, which are compiled, and files of Apple's compiler. A crash leaves that
// file. An input that takes more than a second of CPU time is copied, and the exit code is 1.

import AssetCatalogs
import EncodedImages
import Foundation
import Glibc
import ImageCodecs
import ImageTesting

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count > 3, let count = Int(arguments[0]), let seed = UInt64(arguments[1]) else {
    fatalError("usage: CatalogFuzzer COUNT SEED INPUT-FILE SAMPLE…")
}
let inputPath = arguments[2]
let samples = try arguments.dropFirst(3).map { path in try sample(path) }
var fuzzer = CatalogFuzzer(seed: seed)
var slowCount = 0
for index in 0..<count {
    let input = fuzzer.changed(samples[index % samples.count])
    try Data(input).write(to: URL(filePath: inputPath))
    let start = clock()
    fuzzer.use(input)
    if clock() - start > CLOCKS_PER_SEC {
        slowCount += 1
        try Data(input).write(to: URL(filePath: "\(inputPath).slow\(slowCount)"))
    }
}
try? FileManager.default.removeItem(atPath: inputPath)
print("\(count) inputs: \(fuzzer), \(slowCount) slow")
exit(slowCount > 0 ? 1 : 0)

/// The bytes of a file, or of a folder after it was compiled.
func sample(_ path: String) throws -> [UInt8] {
    guard let catalog = try? AssetCatalog(folder: path) else {
        return Array(try Data(contentsOf: URL(filePath: path)))
    }
    let compiler = CatalogCompiler(catalog, codecs: builtInCodecs)
    return try compiler.file(compiler.sources.map { try? compiler.encode($0) }).bytes
}

/// Changes files, and counts the results of using them.
struct CatalogFuzzer: CustomStringConvertible {
    private var random: SeededRandom
    private var resultCount = 0
    private var errorCount = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    var description: String { "\(resultCount) results, \(errorCount) errors" }

    /// Changes a few bytes, mostly in the tables at the start, or cuts the file.
    mutating func changed(_ sample: [UInt8]) -> [UInt8] {
        var bytes = sample
        for _ in 0...random.next() % 8 {
            let end = random.next() % 2 == 0 ? bytes.count : min(bytes.count, 16_384)
            let offset = Int(random.next() % UInt64(end))
            switch random.next() % 4 {
            case 0: bytes[offset] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes[offset] ^= 1 << (random.next() % 8)
            case 2: bytes[offset] = [0, 1, 0x7F, 0x80, 0xFF][Int(random.next() % 5)]
            default:
                let other = Int(random.next() % UInt64(bytes.count))
                for place in 0..<4 where offset + place < bytes.count && other + place < bytes.count
                {
                    bytes[offset + place] = bytes[other + place]
                }
            }
        }
        if random.next() % 16 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
        return bytes
    }

    private mutating func note(_ body: () throws -> Void) {
        do {
            try body()
            resultCount += 1
        } catch {
            errorCount += 1
        }
    }

    mutating func use(_ input: [UInt8]) {
        do {
            if input.starts(with: Array("BOMStore".utf8)) {
                try useCar(input)
            } else {
                try useCompiled(input)
            }
        } catch {
            errorCount += 1
        }
    }

    private mutating func useCompiled(_ input: [UInt8]) throws {
        let catalog = try CompiledCatalog(EncodedBytes(input), path: "input")
        let query = try catalog.query(AssetTraits())
        for asset in try catalog.assets() {
            note { _ = try catalog.slot(asset.key.kind, asset.key.name, for: query) }
            for slot in try catalog.slots(of: asset.key) {
                note { _ = try catalog.image(of: slot, codecs: builtInCodecs) }
                note { _ = try catalog.data(of: slot) }
                note { _ = try catalog.storage(of: slot) }
            }
        }
    }

    private mutating func useCar(_ input: [UInt8]) throws {
        let car = try CarFile(EncodedBytes(input), path: "input")
        _ = car.assets
        // A part of the images, because the decoding of all takes long.
        for rendition in car.renditions where random.next() % 8 == 0 {
            note { _ = try car.image(of: rendition) }
            note { _ = car.data(of: rendition) }
        }
    }
}
