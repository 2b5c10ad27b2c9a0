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

    @Test(
        "that are made of kept planes have the pixels of separate decodes",
        arguments: builtInCodecs.codecs.map(\.format), [false, true])
    func keptPlanes(format: ImageFormat, acceptsYCbCr: Bool) throws {
        var madeCount = 0
        for file in SampleFiles.own(format.name, "valid") {
            let source = try ImageSource(EncodedBytes(mapping: file.path), codecs: builtInCodecs)
            guard source.pixelSize.area < 300_000 else { continue }
            let (width, height) = (source.pixelSize.width, source.pixelSize.height)
            var part = DecodeOptions(maximumSide: max(1, width / 14))
            part.acceptsYCbCr = acceptsYCbCr
            part.region = PixelRect(
                x: width / 5, y: height / 7, width: max(1, width * 3 / 4),
                height: max(1, height * 4 / 5))
            let all = Self.options(source.pixelSize, acceptsYCbCr: acceptsYCbCr) + [part]
            for first in all {
                let sizes = try source.decodedSizes([first], planesByteCount: 4 << 20)
                #expect(
                    try sizes.images[0]?.image.packedBytes == source.image(first).packedBytes)
                guard let reduced = sizes.reduced else { continue }
                for options in all {
                    let alone = try source.decodedImage(options)
                    let made = try source.resampled(reduced, options)
                    // A decoder that reports the same factors makes the same planes.
                    #expect(
                        (made != nil) == (alone.report == sizes.images[0]?.report),
                        "\(file.lastPathComponent) \(options.mode) \(alone.image.size)")
                    guard let made else { continue }
                    madeCount += 1
                    #expect(
                        made.image.size == alone.image.size
                            && made.image.packedBytes == alone.image.packedBytes
                            && made.image.colorProfile == alone.image.colorProfile
                            && made.report == alone.report,
                        "\(file.lastPathComponent) \(options.mode) \(alone.image.size)")
                }
            }
        }
        #expect((madeCount > 0) == (format.name == "jpeg"))
    }

    @Test("are made of planes at exactly the sizes for which the decoder makes them")
    func exactSizes() throws {
        guard builtInCodecs.codec(named: "jpeg") != nil else { return }
        let image = TestImage.photograph(PixelSize(width: 800, height: 600))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let sides = Array(20...280)
        let decoded = try sides.map { try source.decodedImage(DecodeOptions(maximumSide: $0)) }
        // The factors 16 and 6 are limits.
        for side in [30, 50, 51, 60, 100, 133, 134, 200] {
            let options = DecodeOptions(maximumSide: side)
            let sizes = try source.decodedSizes([options], planesByteCount: 1 << 20)
            let reduced = try #require(sizes.reduced, "\(side)")
            for (side, alone) in zip(sides, decoded) {
                let made = try source.resampled(reduced, DecodeOptions(maximumSide: side))
                #expect((made != nil) == (alone.report == sizes.images[0]?.report), "\(side)")
                if let made { #expect(made.image.packedBytes == alone.image.packedBytes) }
            }
        }
    }

    @Test("are not made of planes that were decoded otherwise") func otherPlanes() throws {
        guard builtInCodecs.codec(named: "jpeg") != nil else { return }
        let image = TestImage.photograph(PixelSize(width: 800, height: 600))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let options = DecodeOptions(maximumSide: 60)
        let reduced = try #require(
            try source.decodedSizes([options], planesByteCount: 1 << 20).reduced)
        var (fast, planes, thumbnail) = (options, options, options)
        fast.quality = .fast
        planes.acceptsYCbCr = true
        thumbnail.embeddedThumbnail = .ifLargeEnough
        for other in [fast, planes, thumbnail] {
            #expect(try source.resampled(reduced, other) == nil)
        }
        var turned = options
        turned.appliesOrientation = false
        #expect(try source.resampled(reduced, turned) != nil)
        #expect(try source.decodedSizes([options], planesByteCount: 1000).reduced == nil)
        #expect(try source.decodedSizes([options], planesByteCount: 0).reduced == nil)
        // Too little of the image is decoded for others.
        var part = options
        part.region = PixelRect(x: 0, y: 0, width: 400, height: 500)
        part.box = PixelSize(width: 20, height: 20)
        #expect(try source.decodedSizes([part], planesByteCount: 1 << 20).reduced == nil)
        let cut = try ImageSource(EncodedBytes(Array(file.dropLast(1000))), codecs: builtInCodecs)
        var truncated = options
        truncated.acceptsTruncated = true
        #expect(try cut.decodedSizes([truncated], planesByteCount: 1 << 20).reduced == nil)
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
