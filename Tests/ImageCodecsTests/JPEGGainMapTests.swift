// SPDX-License-Identifier: Apache-2.0

#if JPEG
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Gain maps of JPEG") struct JPEGGainMapTests {
    /// The logarithm of the largest gain of files of the corpus, as libultrahdr reads it.
    ///
    /// libultrahdr takes the headroom of 4.532783 in the first file for a logarithm; Apple's documentation
    /// defines it as a ratio, of at most 8. The maker note of the second one states 3 stops.
    private static let knownMaxima = [
        "apple_gainmap_new.jpg": log2(4.532783), "apple_gainmap_old.jpg": 3,
        "01.jpg": 2.656715, "04.jpg": 2.057993,
    ]

    private static var metadata: GainMapMetadata {
        var channel = GainMapMetadata.Channel()
        channel.maximum = 2.5
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2.25
        return metadata
    }

    /// A smooth image, and a map that is its luma at a quarter of its size.
    private func file(
        _ size: PixelSize = PixelSize(width: 640, height: 400),
        orientation: Orientation = .upright
    ) throws -> [UInt8] {
        let image = TestImage.make(size, .rgb8) { x, y, channel in
            let wave = sin(Double(x) / 40 + Double(channel)) + cos(Double(y) / 25)
            return UInt8(127 + wave * 55 + Double(x) / Double(size.width) * 15)
        }
        let mapSize = PixelSize(width: size.width / 4, height: size.height / 4)
        let map = image.converted(to: .gray8).resized(
            SampleRegion(image.size), to: mapSize)
        var options = EncodeOptions()
        options.quality = 95
        options.gainMap = GainMap(Self.metadata, file: try encoded(map))
        if orientation != .upright {
            options.metadata.exif = EXIFBlock.photograph(
                isLittleEndian: true, orientation: Int(orientation.rawValue))
        }
        return try encoded(image, options)
    }

    private func encoded(
        _ image: PixelBuffer, _ options: EncodeOptions = EncodeOptions()
    ) throws -> [UInt8] {
        try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func source(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    @Test("are read as they were written, and do not change the image") func roundTrip() throws {
        let image = TestImage.photograph(PixelSize(width: 99, height: 70))
        let mapFile = try encoded(TestImage.photograph(PixelSize(width: 25, height: 18), .gray8))
        var options = EncodeOptions()
        options.gainMap = GainMap(Self.metadata, file: mapFile)
        let file = try encoded(image, options)
        let source = try source(file)
        #expect(source.header.hasGainMap)
        let map = try #require(try source.gainMap())
        #expect(map.metadata == Self.metadata)
        #expect(
            try self.source(map.file).image().packedBytes
                == self.source(mapFile).image().packedBytes)
        let plain = try self.source(encoded(image))
        #expect(try source.image().packedBytes == plain.image().packedBytes)
        #expect(!plain.header.hasGainMap)
        #expect(try plain.gainMap() == nil)
        // The map follows the end of the image.
        #expect(Array(file.suffix(map.file.count)) == map.file)
        let end = file.count - map.file.count
        #expect(file[end - 2] == 0xFF && file[end - 1] == 0xD9)
    }

    /// An image and the part of it that each case shows.
    private static var geometries: [DecodeOptions] {
        var cases: [DecodeOptions] = []
        for side in [640, 320, 200, 64] { cases.append(DecodeOptions(maximumSide: side)) }
        for mode in [ResizeMode.fill, .stretch] {
            cases.append(
                DecodeOptions(box: PixelSize(width: 160, height: 160), mode: mode))
        }
        for region in [
            PixelRect(x: 0, y: 0, width: 320, height: 200),
            PixelRect(x: 101, y: 57, width: 333, height: 222),
            PixelRect(x: 500, y: 300, width: 140, height: 100),
        ] {
            var options = DecodeOptions()
            options.region = region
            cases.append(options)
            options.box = PixelSize(width: 100, height: 100)
            cases.append(options)
        }
        return cases
    }

    @Test(
        "are cropped, resized and turned like the image", arguments: Orientation.allCases)
    func geometry(_ orientation: Orientation) throws {
        let source = try source(file(orientation: orientation))
        #expect(source.header.orientation == orientation)
        for options in Self.geometries {
            let image = try source.image(options)
            let map = try #require(try source.gainMap(options, quality: 95))
            let made = try self.source(map.file).image()
            #expect(made.format == .gray8)
            func side(_ length: Int) -> Int { max(1, Int((Double(length) / 4).rounded())) }
            #expect(
                made.size
                    == PixelSize(width: side(image.size.width), height: side(image.size.height)))
            let wanted = image.converted(to: .gray8).resized(
                SampleRegion(image.size), to: made.size)
            let error = meanSquareError(made, wanted)
            #expect(error < 6, "\(orientation) \(options.box as Any) \(options.region as Any)")
        }
    }

    private func meanSquareError(_ one: PixelBuffer, _ other: PixelBuffer) -> Double {
        let (a, b) = (one.packedBytes, other.packedBytes)
        let sum = zip(a, b).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
        return sum / Double(a.count)
    }

    @Test("of the corpus have libultrahdr's values") func corpus() throws {
        let files = SampleFiles.real("hdr", extensions: ["jpg"])
        for file in files {
            let source = try ImageSource(
                EncodedBytes(mapping: file.path), codecs: builtInCodecs)
            let map = try #require(try source.gainMap(), "\(file.lastPathComponent)")
            if let maximum = Self.knownMaxima[file.lastPathComponent] {
                #expect(abs(map.metadata.channels[0].maximum - maximum) < 1e-4)
                #expect(abs(map.metadata.alternateHeadroom - maximum) < 1e-4)
            }
            let small = try #require(try source.gainMap(DecodeOptions(maximumSide: 200)))
            #expect(try self.source(small.file).pixelSize.largestSide <= 200)
        }
    }

    @Test("that are damaged cost the map, never the image") func damaged() throws {
        let file = try file(PixelSize(width: 160, height: 100))
        let map = try #require(try source(file).gainMap())
        let image = try source(file).image().packedBytes
        let reduced = try source(file).image(DecodeOptions(maximumSide: 50)).packedBytes
        var random = SeededRandom(seed: 11)
        let start = file.count - map.file.count
        var missingCount = 0
        for _ in 0..<2500 {
            var changed = file
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                changed[.random(in: start..<file.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            let source = try source(changed)
            let result = try source.gainMap(DecodeOptions(maximumSide: 50))
            if result == nil { missingCount += 1 }
            #expect(try source.image(DecodeOptions(maximumSide: 50)).packedBytes == reduced)
        }
        #expect(missingCount > 50)
        let truncated = try source(Array(file.prefix(start + 100)))
        #expect(try truncated.gainMap(DecodeOptions(maximumSide: 50)) == nil)
        #expect(try truncated.image().packedBytes == image)
    }

    @Test("of files with a damaged list have none, or the image is refused") func list() throws {
        let file = try file(PixelSize(width: 160, height: 100))
        let list = try #require(file.firstRange(of: Array("MPF\0".utf8)))
        var random = SeededRandom(seed: 12)
        for _ in 0..<2500 {
            var changed = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[list.lowerBound + .random(in: 0..<86, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            _ = try source(changed).gainMap(DecodeOptions(maximumSide: 50))
        }
    }

    @Test(
        "are read by libultrahdr with the same values",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func peer() throws {
        let python = try #require(PeerTool.python)
        let folder = try TemporaryFolder()
        let source = try source(file())
        var paths: [String] = []
        for (number, options) in Self.geometries.enumerated() {
            var encodeOptions = EncodeOptions()
            encodeOptions.gainMap = try source.gainMap(options)
            let path = folder.path("\(number).jpg")
            try Data(encoded(source.image(options), encodeOptions)).write(
                to: URL(filePath: path))
            paths.append(path)
        }
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/gain_maps.py")
        let output = try #require(try PeerTool.run(python, [script.path] + paths))
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == paths.count)
        for (line, options) in zip(lines, Self.geometries) {
            let values = line.split(separator: " ").compactMap { Double($0) }
            let size = source.resultSize(options)
            #expect(values.count == 6, "\(line)")
            guard values.count == 6 else { continue }
            #expect(values[0] == Double(size.width) && values[1] == Double(size.height))
            #expect(abs(log2(values[2]) - 2.5) < 1e-4, "the largest gain")
            #expect(abs(log2(values[3]) - 2.25) < 1e-4, "the headroom")
            #expect(abs(values[4] - 0.015625) < 1e-4, "the offset")
            #expect(abs(values[5] - 4) <= 1, "the ratio of image and map")
        }
    }
}
#endif
