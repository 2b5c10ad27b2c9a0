// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Several sizes of one decode") struct SeveralSizesTests {
    /// Sizes on both sides of the factors by which decoders shrink, in all modes.
    private static func options(_ size: PixelSize, acceptsYCbCr: Bool) -> [DecodeOptions] {
        let sides = [1, 2, 3, 5, 9, 16, 20].map { max(1, size.largestSide / $0) }
        let boxes = sides.map { PixelSize(width: $0, height: max(1, $0 * 2 / 3)) }
        let options =
            sides.map { DecodeOptions(maximumSide: $0) }
            + boxes.suffix(3).map { DecodeOptions(box: $0, mode: .fill) }
            + boxes.suffix(3).map { DecodeOptions(box: $0, mode: .stretch) }
        return options.map {
            var options = $0
            options.acceptsYCbCr = acceptsYCbCr
            return options
        }
    }

    @Test(
        "have the pixels of separate decodes", arguments: builtInCodecs.codecs.map(\.format),
        [false, true])
    func samePixels(format: ImageFormat, acceptsYCbCr: Bool) throws {
        for file in SampleFiles.own(format.name, "valid") {
            let source = try ImageSource(EncodedBytes(mapping: file.path), codecs: builtInCodecs)
            guard source.pixelSize.area < 300_000 else { continue }
            var waiting = Self.options(source.pixelSize, acceptsYCbCr: acceptsYCbCr)
            var passCount = 0
            while !waiting.isEmpty {
                let images = try source.decodedImages(waiting)
                passCount += 1
                try #require(images.count == waiting.count && images[0] != nil)
                for (options, decoded) in zip(waiting, images) {
                    guard let decoded else { continue }
                    let alone = try source.decodedImage(options)
                    #expect(
                        decoded.image.size == alone.image.size
                            && decoded.image.packedBytes == alone.image.packedBytes
                            && decoded.report == alone.report,
                        "\(file.lastPathComponent) \(options.mode) \(decoded.image.size)")
                }
                waiting = zip(waiting, images).filter { $0.1 == nil }.map(\.0)
            }
            // Decoders have few shrink factors, whatever the number of sizes.
            #expect(passCount <= 8, "\(file.lastPathComponent)")
        }
    }

    @Test(
        "that share the decode of the largest take one pass and differ by little",
        arguments: builtInCodecs.codecs.map(\.format), [false, true])
    func shared(format: ImageFormat, acceptsYCbCr: Bool) throws {
        for file in SampleFiles.own(format.name, "valid") {
            let source = try ImageSource(EncodedBytes(mapping: file.path), codecs: builtInCodecs)
            guard source.pixelSize.area < 300_000, !source.header.isScalable else { continue }
            let options = Self.options(source.pixelSize, acceptsYCbCr: acceptsYCbCr).map {
                var options = $0
                options.sharesDecode = true
                return options
            }
            let images = try source.decodedImages(options)
            for (options, decoded) in zip(options, images) {
                // A camera's preview may be the image itself for some sizes only.
                let decoded = try #require(
                    decoded, "\(file.lastPathComponent) \(options.box as Any)")
                let alone = try source.decodedImage(options).image
                #expect(decoded.image.size == alone.size)
                #expect(acceptsYCbCr || decoded.image.format == alone.format)
                guard alone.size.area > 500 else { continue }
                let similarity = decoded.image.structuralSimilarity(to: alone)
                #expect(similarity > 0.95, "\(file.lastPathComponent) \(alone.size)")
            }
        }
    }

    @Test("of a JPEG file take one decode per shrink factor")
    func passes() throws {
        guard builtInCodecs.codec(named: "jpeg") != nil else { return }
        let image = TestImage.photograph(PixelSize(width: 1600, height: 1200))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let small = (80...100).map { DecodeOptions(maximumSide: $0) }
        #expect(try source.decodedImages(small).allSatisfy { $0 != nil })
        let images = try source.decodedImages(small + [DecodeOptions(maximumSide: 1200)])
        #expect(images.map { $0 == nil } == small.map { _ in false } + [true])
    }
}
