// SPDX-License-Identifier: Apache-2.0

internal import AssetCatalogs
internal import EncodedImages
internal import Foundation
internal import ImageCodecs
internal import Pixels

/// Measures compiled catalogs; see `Benchmarks/catalogs.py`.
///
/// - `lookup FILE`: the time to open the file, of a lookup, and until the pixels of a raw image are read.
/// - `lookups FILE COUNT`: only lookups, for counting allocations.
/// - `compiled FILE COUNT`: reads all pixels of `COUNT` images from the file.
/// - `loose FOLDER COUNT`: decodes the PNG files of `COUNT` images of the folder.
@main enum CatalogsBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else {
            print("usage: catalogs-bench lookup|lookups|compiled|loose PATH [COUNT]")
            exit(64)
        }
        let count = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
        switch arguments[1] {
        case "lookup": try lookup(arguments[2])
        case "lookups": try lookups(arguments[2], count)
        case "compiled": try compiled(arguments[2], count)
        default: try loose(arguments[2], count)
        }
    }

    private static var device: AssetTraits {
        var traits = AssetTraits()
        traits.scale = 1
        return traits
    }

    private static func names(_ catalog: CompiledCatalog) throws -> [String] {
        try catalog.assets().filter { $0.key.kind == .image }.map(\.key.name)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    private static func lookup(_ path: String) throws {
        let clock = ContinuousClock()
        var openings: [Double] = []
        for _ in 0..<200 {
            openings.append(
                seconds(try clock.measure { _ = try CompiledCatalog(mapping: path) }))
        }
        let catalog = try CompiledCatalog(mapping: path)
        var random = SystemRandomNumberGenerator()
        let names = try names(catalog).shuffled(using: &random)
        let query = try catalog.query(device)
        var found = 0
        let first = try lookupTimes(catalog, names, query, &found)
        let blocks = first.count
        // A block that another process interrupts takes several times as long: the fastest of several rounds
        // is the time of its names.
        var all: [Double] = []
        var fastest = first
        for _ in 0..<20 {
            let times = try lookupTimes(catalog, names, query, &found)
            for block in 0..<blocks { fastest[block] = min(fastest[block], times[block]) }
            all += times
        }
        fastest.sort()
        all.sort()
        let firstSorted = first.sorted()
        openings.sort()
        var firsts: [Double] = []
        for name in names.prefix(500) {
            let time = try clock.measure {
                guard let slot = try catalog.slot(.image, name, for: query) else { return }
                let image = try catalog.image(of: slot, codecs: builtInCodecs)
                found += Int(image.bytes[0])
            }
            firsts.append(seconds(time))
        }
        firsts.sort()
        func percentile(_ times: [Double], _ percent: Int) -> String {
            "\(Int((times[times.count * percent / 100] * 1e9).rounded())) ns"
        }
        print(
            "\(names.count) names; open \(percentile(openings, 50)); first lookup of a name median "
                + "\(percentile(firstSorted, 50)), p99 \(percentile(firstSorted, 99)); later ones median "
                + "\(percentile(all, 50)), p99 \(percentile(all, 99)), of the fastest of 20 rounds "
                + "\(percentile(fastest, 50)), p99 \(percentile(fastest, 99)); first pixels median "
                + "\(percentile(firsts, 50)), p99 \(percentile(firsts, 99)) (\(found))")
    }

    /// The times of lookups of all names in seconds, one for each block of names.
    private static func lookupTimes(
        _ catalog: CompiledCatalog, _ names: [String], _ query: CompiledQuery, _ found: inout Int
    ) throws -> [Double] {
        let clock = ContinuousClock()
        var times: [Double] = []
        // Blocks of 16, because a reading of the clock takes as long as a lookup.
        for start in stride(from: 0, to: names.count - 15, by: 16) {
            let time = try clock.measure {
                for index in start..<start + 16
                where try catalog.slot(.image, names[index], for: query) != nil {
                    found += 1
                }
            }
            times.append(seconds(time) / 16)
        }
        return times
    }

    private static func lookups(_ path: String, _ count: Int) throws {
        let catalog = try CompiledCatalog(mapping: path)
        let names = try names(catalog)
        let query = try catalog.query(device)
        var found = 0
        for index in 0..<count
        where try catalog.slot(.image, names[index % names.count], for: query) != nil {
            found += 1
        }
        print("\(found)")
    }

    private static func sum(_ image: PixelBuffer) -> Int {
        var sum = 0
        let bytes = image.bytes
        for index in stride(from: 0, to: bytes.count, by: 64) { sum &+= Int(bytes[index]) }
        return sum
    }

    private static func compiled(_ path: String, _ count: Int) throws {
        let clock = ContinuousClock()
        var total = 0
        let time = try clock.measure {
            let catalog = try CompiledCatalog(mapping: path)
            let query = try catalog.query(device)
            for index in 0..<count {
                guard let slot = try catalog.slot(.image, "icon \(index)", for: query) else {
                    continue
                }
                total &+= sum(try catalog.image(of: slot, codecs: builtInCodecs))
            }
        }
        print("\(seconds(time) * 1e3) ms (\(total))")
    }

    private static func loose(_ path: String, _ count: Int) throws {
        let clock = ContinuousClock()
        var total = 0
        let time = try clock.measure {
            for index in 0..<count {
                let bytes = try EncodedBytes(mapping: "\(path)/icon \(index).imageset/1x.png")
                total &+= sum(try ImageSource(bytes, codecs: builtInCodecs).image())
            }
        }
        print("\(seconds(time) * 1e3) ms (\(total))")
    }
}
