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
        openings.sort()
        let catalog = try CompiledCatalog(mapping: path)
        var random = SystemRandomNumberGenerator()
        // Copies in the order of the lookups, so that the memory of names is read ahead.
        let names = try names(catalog).shuffled(using: &random)
            .map { String(decoding: Array($0.utf8), as: UTF8.self) }
        var found = 0
        let (first, later) = try lookupTimes(path, names, &found)
        let query = try catalog.query(device)
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
                + "\(percentile(first, 50)), p99 \(percentile(first, 99)); second one median "
                + "\(percentile(later, 50)), p99 \(percentile(later, 99)); first pixels median "
                + "\(percentile(firsts, 50)), p99 \(percentile(firsts, 99)) (\(found))")
    }

    /// The times of the first and of the second lookup of each name after the file was opened, in seconds and
    /// sorted, one for each block of names.
    ///
    /// The file is opened 30 times, each time with none of it in the caches of the processor. A block that
    /// another process interrupts takes several times as long; the least time of each block counts.
    private static func lookupTimes(
        _ path: String, _ names: [String], _ found: inout Int
    ) throws -> (first: [Double], later: [Double]) {
        let clock = ContinuousClock()
        var other = [UInt8](repeating: 1, count: 32 << 20)
        // Blocks of 16, because a reading of the clock takes as long as a lookup.
        var times = [[Double]](
            repeating: [Double](repeating: .infinity, count: names.count / 16), count: 2)
        for _ in 0..<30 {
            for index in stride(from: 0, to: other.count, by: 64) { other[index] &+= 1 }
            for name in names { for byte in name.utf8 { found &+= Int(byte) } }
            let catalog = try CompiledCatalog(mapping: path)
            let query = try catalog.query(device)
            for pass in 0..<2 {
                for block in times[pass].indices {
                    let time = try clock.measure {
                        for index in block * 16..<block * 16 + 16
                        where try catalog.slot(.image, names[index], for: query) != nil {
                            found += 1
                        }
                    }
                    times[pass][block] = min(times[pass][block], seconds(time) / 16)
                }
            }
        }
        return (times[0].sorted(), times[1].sorted())
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
