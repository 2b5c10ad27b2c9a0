// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Placeholders
import Testing
import ViewerModel

@testable import ImageCommands

@Suite("Placeholders of images that were not decoded before") struct PlaceholderMakerTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("photograph.jpg")
    }

    /// The left half is red, the right one blue.
    private func halves(_ size: PixelSize, barHeight: Int = 0) -> PixelBuffer {
        var image = MutablePixelBuffer(size: size, format: .rgb8)
        for y in barHeight..<size.height - barHeight {
            image.withMutableRow(y) { row in
                for x in 0..<size.width { row[x * 3 + (x < size.width / 2 ? 0 : 2)] = 255 }
            }
        }
        return image.finish()
    }

    private func jpeg(_ image: PixelBuffer) throws -> [UInt8] {
        try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
    }

    /// A gray photograph, too large to be decoded, with a thumbnail of 160x120 pixels.
    private func photograph(
        _ size: PixelSize, orientation: Int, _ thumbnail: PixelBuffer
    ) throws -> [UInt8] {
        let thumbnail = try jpeg(thumbnail)
        let block = EXIFBlock.make(
            [(0x0112, .shorts([orientation]))],
            second: [(0x0201, .offset(of: thumbnail)), (0x0202, .longs([thumbnail.count]))])
        let body = Array("Exif\0\0".utf8) + block
        let length = [UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)]
        var file = try jpeg(TestImage.flat(size, .rgb8, [128, 128, 128]))
        file.insert(contentsOf: [0xFF, 0xE1] + length + body, at: 2)
        return file
    }

    private func placeholder(_ file: [UInt8]) throws -> ThumbHash? {
        try Data(file).write(to: URL(filePath: path))
        return placeholder(maker())
    }

    private func placeholder(_ maker: PlaceholderMaker) -> ThumbHash? {
        maker.placeholder(
            of: "photograph.jpg", in: FileFolder(folder.path, extensions: ["jpg"]))
    }

    private func maker(_ shared: ThumbnailCache? = nil) -> PlaceholderMaker {
        PlaceholderMaker(codecs: builtInCodecs, limits: DecodeLimits(), shared: shared)
    }

    private let large = PixelSize(width: 1600, height: 900)

    @Test("show the embedded thumbnail without its bars") func bars() throws {
        let thumbnail = halves(PixelSize(width: 160, height: 120), barHeight: 15)
        let made = try #require(
            try placeholder(photograph(large, orientation: 1, thumbnail)))
        let expected = ThumbHash(halves(PixelSize(width: 32, height: 18)))
        #expect(made.aspectRatio == expected.aspectRatio)
        let comparison = PixelComparison(made.image(), expected.image())
        #expect(comparison.meanDifference < 12, "\(comparison)")
    }

    @Test("are upright") func orientation() throws {
        let thumbnail = halves(PixelSize(width: 160, height: 120), barHeight: 15)
        let made = try #require(
            try placeholder(photograph(large, orientation: 6, thumbnail)))
        let upright = halves(PixelSize(width: 32, height: 18)).turned(.rotated90)
        let comparison = PixelComparison(made.image(), ThumbHash(upright).image())
        #expect(comparison.meanDifference < 12, "\(comparison)")
    }

    @Test("have the average colour of a thumbnail that was not turned with the image")
    func turned() throws {
        let thumbnail = halves(PixelSize(width: 160, height: 120), barHeight: 15)
        let made = try #require(
            try placeholder(
                photograph(PixelSize(width: 900, height: 1600), orientation: 1, thumbnail)))
        #expect(made.aspectRatio < 1)
        let image = made.image().converted(to: .rgb8)
        for y in 0..<image.size.height {
            let row = image.row(y)
            for x in 0..<image.size.width {
                #expect(abs(Int(row[x * 3]) - 128) < 16 && row[x * 3 + 1] < 16)
            }
        }
    }

    @Test("show small images, and nothing of damaged ones") func sizes() throws {
        let small = halves(PixelSize(width: 320, height: 180))
        #expect(try placeholder(jpeg(small))?.aspectRatio == ThumbHash(small).aspectRatio)
        #expect(try placeholder([1, 2, 3]) == nil)
    }

    @Test("have the average colour of the top of a large image without a thumbnail")
    func topRows() throws {
        // The lower half has another colour, which the start of the file does not contain.
        var image = MutablePixelBuffer(size: PixelSize(width: 1500, height: 2000), format: .rgb8)
        for y in 0..<2000 {
            image.withMutableRow(y) { row in
                for x in 0..<1500 { row[x * 3 + (y < 1000 ? 0 : 2)] = 200 }
            }
        }
        let made = try #require(try placeholder(jpeg(image.finish())))
        #expect(abs(made.aspectRatio - 0.75) < 0.2)
        let shown = made.image().converted(to: .rgb8)
        for y in 0..<shown.size.height {
            let row = shown.row(y)
            for x in 0..<shown.size.width {
                #expect(abs(Int(row[x * 3]) - 200) < 16 && row[x * 3 + 2] < 16)
            }
        }
    }

    @Test("show the first scan of a large progressive image, upright") func firstScan() throws {
        let photograph = TestImage.photograph(PixelSize(width: 1600, height: 1200))
        var options = EncodeOptions()
        options.isProgressive = true
        let destination = try ImageDestination(
            format: "jpeg", codecs: builtInCodecs, options: options)
        let made = try #require(try placeholder(destination.encode(photograph)))
        let expected = ThumbHash(
            photograph.resized(
                SampleRegion(photograph.size), to: PixelSize(width: 32, height: 24)))
        let comparison = PixelComparison(made.image(), expected.image())
        #expect(comparison.meanDifference < 8, "\(comparison)")
    }

    @Test("show the thumbnail that file managers share, unless it is out of date")
    func shared() throws {
        try Data(jpeg(halves(large))).write(to: URL(filePath: path))
        let cache = ThumbnailCache(folder: folder.path("thumbnails"))
        let colour = try #require(placeholder(maker(cache)))
        let filling = CacheFilling(
            cache: cache, maker: ThumbnailMaker(builtInCodecs), sizes: [.large])
        _ = try filling.fill(path, CancellationFlag())
        let made = try #require(placeholder(maker(cache)))
        let expected = ThumbHash(halves(PixelSize(width: 32, height: 18)))
        let comparison = PixelComparison(made.image(), expected.image())
        #expect(comparison.meanDifference < 12, "\(comparison)")
        let past = Date(timeIntervalSince1970: 5)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
        #expect(placeholder(maker(cache)) == colour)
    }
}
