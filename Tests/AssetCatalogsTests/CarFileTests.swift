// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import AssetCatalogs

/// A file of Apple's compiler, and the devices that it was compiled for.
struct CompiledByApple: CustomTestStringConvertible {
    let name: String
    let devices: [AssetTraits]
    /// The number of renditions that are not sheets.
    let renditionCount: Int
    /// Whether keys contain the idiom; those of Mac do not.
    let hasIdioms: Bool
    let scales: [Int]
    /// Renditions that Apple's compiler keeps although no device selects them.
    let unreachable: Set<String>

    var testDescription: String { name }

    static let all = [
        CompiledByApple(
            "assets_ios", ["iphone", "ipad"], 156,
            unreachable: ["v_overrides facebook", "v_overrides blue@3x.png"]),
        CompiledByApple(
            "assets_iphone", ["iphone"], 149,
            unreachable: [
                "v_device facebook-2", "v_device facebook-2.pdf", "v_overrides facebook",
                "v_overrides facebook-2", "v_overrides blue.png", "v_overrides blue@2x.png",
                "v_overrides blue@3x.png",
            ]),
        CompiledByApple(
            "assets_mac", ["mac"], 59, hasIdioms: false, scales: [1, 2],
            unreachable: ["v_overrides facebook-1-1-1"]),
    ]

    private init(
        _ name: String, _ idioms: [String], _ renditionCount: Int, hasIdioms: Bool = true,
        scales: [Int] = [1, 2, 3], unreachable: Set<String>
    ) {
        self.name = name
        self.renditionCount = renditionCount
        self.hasIdioms = hasIdioms
        self.unreachable = unreachable
        self.scales = scales
        devices = idioms.flatMap { idiom in
            scales.map { scale in
                var device = AssetTraits()
                (device.idiom, device.scale) = (idiom, scale)
                return device
            }
        }
    }

    func opened() throws -> CarFile {
        let path = RealCatalogs.folder.appending(path: "acextract/\(name).car").path
        return try CarFile(EncodedBytes(reading: path), path: path)
    }

    func traits(_ traits: AssetTraits, scale: Int?) -> AssetTraits {
        var traits = traits
        traits.scale = scale
        if !hasIdioms { traits.idiom = nil }
        return traits
    }
}

/// What identifies a rendition.
private struct Rendition: Hashable {
    let name: String
    let file: String
    let traits: AssetTraits
}

@Suite("Files of Apple's compiler", .enabled(if: RealCatalogs.exists))
struct CarFileTests {
    /// The renditions that our compiler makes of the same folder for the same devices.
    private func ours(_ apple: CompiledByApple) throws -> [Rendition: AssetSlot] {
        var options = CatalogCompiler.Options()
        options.devices = apple.devices
        let compiler = CatalogCompiler(
            try AssetCatalog(folder: RealCatalogs.acextract), options: options,
            codecs: builtInCodecs)
        var result: [Rendition: AssetSlot] = [:]
        for source in compiler.sources {
            let asset = compiler.assets[source.asset]
            let slot = asset.slots[source.slot]
            let file = URL(filePath: source.path)
            let name = file.lastPathComponent
            let isVector = file.pathExtension == "pdf"
            let scales = isVector ? [nil] + source.scales.map { Optional($0) } : [slot.traits.scale]
            for scale in scales {
                let isFile = isVector && scale == nil
                result[
                    Rendition(
                        name: asset.key.name,
                        file: isFile ? file.deletingPathExtension().lastPathComponent : name,
                        traits: apple.traits(slot.traits, scale: scale))] = slot
            }
        }
        return result
    }

    @Test("our compiler keeps the same renditions as Apple's", arguments: CompiledByApple.all)
    func renditions(apple: CompiledByApple) throws {
        let car = try apple.opened()
        #expect(car.renditions.count == apple.renditionCount)
        let ours = try ours(apple)
        let theirs = Set(
            car.renditions.map {
                Rendition(
                    name: $0.name, file: $0.fileName,
                    traits: apple.traits($0.traits, scale: $0.traits.scale))
            })
        // A Mac has none of these classes; our compiler leaves them open.
        let ofMac = ours.keys.filter { rendition in
            let traits = rendition.traits
            return traits.memory == nil && traits.graphics == nil && traits.widthClass == nil
                && traits.heightClass == nil
        }
        #expect(Set(apple.hasIdioms ? Array(ours.keys) : ofMac).subtracting(theirs) == [])
        // Slots that another one of the idiom or the scale always wins over.
        let missing = theirs.subtracting(ours.keys).map { "\($0.name) \($0.file)" }
        #expect(Set(missing) == apple.unreachable)
        for rendition in car.renditions {
            let key = Rendition(
                name: rendition.name, file: rendition.fileName,
                traits: apple.traits(rendition.traits, scale: rendition.traits.scale))
            guard let slot = ours[key] else { continue }
            #expect(rendition.alignmentInsets == slot.alignmentInsets, "\(rendition.fileName)")
            // Apple's file for the Mac stretches a centre that tiles according to the folder.
            if apple.hasIdioms || rendition.fileName != "cyan@2x.png" {
                #expect(rendition.slicing == slot.slicing, "\(rendition.fileName)")
            }
        }
    }

    @Test("the pixels of PNG files are equal", arguments: CompiledByApple.all)
    func pixels(apple: CompiledByApple) throws {
        let car = try apple.opened()
        let catalog = try AssetCatalog(folder: RealCatalogs.acextract)
        var count = 0
        for rendition in car.renditions where !rendition.isVector && !rendition.isDrawn {
            let asset = try #require(catalog[.image, rendition.name])
            let path = "\(asset.path)/\(rendition.fileName)"
            let source = try ImageSource(
                EncodedBytes(reading: path), codecs: builtInCodecs
            ).image()
            let expected = Self.parts(of: source, rendition.slicing)
            let comparison = PixelComparison(try car.image(of: rendition).asRGBA, expected.asRGBA)
            // Apple's compiler draws the parts of sliced images anew.
            let allowed = rendition.slicing == nil ? 0 : 35
            #expect(comparison.maximumDifference <= allowed, "\(path) \(comparison)")
            #expect(comparison.meanDifference <= (allowed == 0 ? 0 : 4), "\(path) \(comparison)")
            count += 1
        }
        #expect(count > 40)
    }

    /// The parts of an image that a sliced image consists of, side by side.
    private static func parts(of image: PixelBuffer, _ slicing: AssetSlicing?) -> PixelBuffer {
        guard let slicing else { return image }
        func kept(_ count: Int, _ start: Double, _ center: Double?, _ end: Double) -> [Int] {
            guard let center else { return Array(0..<count) }
            return Array(0..<Int(start + center)) + Array(count - Int(end)..<count)
        }
        let caps = slicing.capInsets
        let columns = kept(image.size.width, caps.left, slicing.centerWidth, caps.right)
        let rows = kept(image.size.height, caps.top, slicing.centerHeight, caps.bottom)
        let source = image.asRGBA
        let size = PixelSize(width: columns.count, height: rows.count)
        var parts: [UInt8] = []
        for y in rows {
            for x in columns {
                for channel in 0..<4 { parts.append(source.row(y)[x * 4 + channel]) }
            }
        }
        return PixelBuffer(packed: parts, size, .rgba8)
    }

    @Test("files that are vectors are PDF", arguments: CompiledByApple.all)
    func vectors(apple: CompiledByApple) throws {
        let car = try apple.opened()
        let vectors = car.renditions.filter(\.isVector)
        #expect(vectors.count == (apple.hasIdioms ? 7 : 3))
        for rendition in vectors {
            let data = try #require(car.data(of: rendition))
            #expect(data.starts(with: Array("%PDF-".utf8)))
            #expect(String(decoding: data.suffix(6), as: UTF8.self).contains("%%EOF"))
        }
    }

    #if PDF
    @Test("rasters of PDF files resemble those of Apple's compiler", arguments: CompiledByApple.all)
    func drawings(apple: CompiledByApple) throws {
        let car = try apple.opened()
        let catalog = try AssetCatalog(folder: RealCatalogs.acextract)
        let codecs = sandboxCodecs()
        var count = 0
        for rendition in car.renditions where rendition.isDrawn && !rendition.isVector {
            let asset = try #require(catalog[.image, rendition.name])
            let path = "\(asset.path)/\(rendition.fileName)"
            var options = DecodeOptions(box: rendition.pixelSize)
            options.allowsEnlarging = true
            let drawn = try ImageSource(EncodedBytes(reading: path), codecs: codecs).image(options)
            #expect(drawn.size == rendition.pixelSize)
            let similarity = try car.image(of: rendition).structuralSimilarity(to: drawn)
            #expect(similarity >= 0.98, "\(path) \(rendition.pixelSize)")
            count += 1
        }
        #expect(count == ["assets_ios": 15, "assets_iphone": 14, "assets_mac": 4][apple.name])
    }
    #endif

    @Test(
        "other codings are refused by their names",
        arguments: [
            (3, "LZVN"), (8, "palette"), (10, "deepmap with LZFSE"), (11, "deepmap 2"),
        ])
    func codings(_ number: UInt8, _ name: String) throws {
        let path = RealCatalogs.folder.appending(path: "acextract/assets_mac.car").path
        let file = try EncodedBytes(reading: path)
        let car = try CarFile(file, path: path)
        let rendition = try #require(car.renditions.first { !$0.isVector })
        var bytes = file.copy(of: 0..<file.count)
        // The number follows the magic of the pixels and a word of flags.
        for offset in 0..<bytes.count - 12
        where bytes[offset..<offset + 4].elementsEqual("MLEC".utf8) {
            bytes[offset + 8] = number
        }
        let changed = try CarFile(EncodedBytes(bytes), path: path)
        let error = #expect(throws: AssetCatalogError.self) {
            _ = try changed.image(of: rendition)
        }
        #expect(error?.reason.hasPrefix("not supported: ") == true)
        #expect(error?.reason.hasSuffix(": the compression \(number) (\(name))") == true)
    }

    @Test("5,000 changed files are read without a crash")
    func mutations() throws {
        let path = RealCatalogs.folder.appending(path: "acextract/assets_mac.car").path
        let bytes = try EncodedBytes(reading: path)
        let original = bytes.copy(of: 0..<bytes.count)
        var random = SeededRandom(seed: 9)
        var differentCount = 0
        let whole = (0..<14).map { useSomeOfCar(original, $0) }
        #expect(whole.reduce(0, +) == 59)
        for index in 0..<5_000 {
            var changed = original
            for _ in 0...random.next() % 8 {
                let offset = Int(random.next() % UInt64(changed.count))
                let values: [UInt8] = [
                    0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: random.next()),
                ]
                changed[offset] = values[Int(random.next() % 6)]
            }
            if useSomeOfCar(changed, index % 14) != whole[index % 14] { differentCount += 1 }
        }
        #expect(differentCount > 500)
    }
}

/// Decodes every 14th rendition, from one on; returns the number of results that were not errors.
func useSomeOfCar(_ bytes: [UInt8], _ first: Int) -> Int {
    guard let car = try? CarFile(EncodedBytes(bytes), path: "damaged") else { return 0 }
    var count = 0
    for index in stride(from: first, to: car.renditions.count, by: 14) {
        let rendition = car.renditions[index]
        if rendition.isVector {
            count += car.data(of: rendition) == nil ? 0 : 1
        } else if (try? car.image(of: rendition)) != nil {
            count += 1
        }
    }
    return count
}
