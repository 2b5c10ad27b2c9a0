// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("A region of an image") struct RegionTests {
    private let size = PixelSize(width: 130, height: 90)

    private func source(_ format: String) throws -> ImageSource {
        var options = EncodeOptions()
        options.isLossless = true
        let file = try ImageDestination(format: format, codecs: builtInCodecs, options: options)
            .encode(TestImage.photograph(size, seed: 3))
        return try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    @Test(
        "is equal to the cropped whole", arguments: ["png", "jpeg", "webp", "tiff", "qoi", "bmp"])
    func cut(format: String) throws {
        let source = try source(format)
        let whole = try source.image()
        for region in [
            PixelRect(x: 0, y: 0, width: 130, height: 90),
            PixelRect(x: 17, y: 33, width: 40, height: 21),
            PixelRect(x: 129, y: 89, width: 1, height: 1),
            PixelRect(x: 0, y: 50, width: 130, height: 40),
        ] {
            var options = DecodeOptions()
            options.region = region
            let part = try source.image(options)
            #expect(part.size == region.size)
            // Chroma planes of half the size are upsampled from the start of the region.
            let comparison = PixelComparison(part, whole.cut(region))
            #expect(comparison.maximumDifference <= (format == "jpeg" ? 1 : 0), "\(region)")
        }
    }

    @Test("of a reduced JPEG image is equal to the cropped whole", arguments: [false, true])
    func reducedJPEG(isProgressive: Bool) throws {
        for format in [PixelFormat.rgb8, .gray8] {
            let image = TestImage.photograph(PixelSize(width: 400, height: 640), seed: 4)
            var encoding = EncodeOptions()
            encoding.isProgressive = isProgressive
            let file = try ImageDestination(
                format: "jpeg", codecs: builtInCodecs, options: encoding
            ).encode(image.converted(to: format))
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
            var options = DecodeOptions(box: PixelSize(width: 100, height: 160), mode: .stretch)
            let whole = try source.image(options)
            // The rows of blocks above and below are not transformed.
            for (y, height) in [(0, 80), (240, 160), (560, 80)] {
                let region = PixelRect(x: 80, y: y, width: 240, height: height)
                options.region = region
                options.box = PixelSize(width: 60, height: height / 4)
                let decoded = try source.decodedImage(options)
                #expect(decoded.report.decoder == "shrinking")
                let expected = whole.cut(
                    PixelRect(x: 20, y: y / 4, width: 60, height: height / 4))
                let comparison = PixelComparison(decoded.image.asRGBA, expected.asRGBA)
                #expect(comparison.maximumDifference <= 1, "\(format), \(region): \(comparison)")
            }
        }
    }

    @Test("ends at the edge of the image, and is at least one pixel")
    func outside() throws {
        let source = try source("png")
        for (region, expected) in [
            (PixelRect(x: 100, y: 80, width: 100, height: 100), PixelSize(width: 30, height: 10)),
            (PixelRect(x: -5, y: -5, width: 10, height: 10), PixelSize(width: 5, height: 5)),
            (PixelRect(x: 5, y: 5, width: .max, height: .max), PixelSize(width: 125, height: 85)),
            (PixelRect(x: .max, y: .min, width: 0, height: -1), PixelSize(width: 1, height: 1)),
        ] {
            var options = DecodeOptions()
            options.region = region
            #expect(source.resultSize(options) == expected)
            #expect(try source.image(options).size == expected)
        }
    }

    @Test(
        "is reduced like an independent program does",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func smaller() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "picture.png")
            let image = TestImage.photograph(PixelSize(width: 400, height: 300), seed: 5)
            try ImageDestination(format: "png", codecs: builtInCodecs).write(image, to: file.path)
            let expected = try #require(
                try PeerTool.image(
                    "resample.py",
                    [file.path, "50", "40", "lanczos3", "101", "57", "200", "160"]))
            var options = DecodeOptions(box: PixelSize(width: 50, height: 40), mode: .stretch)
            options.region = PixelRect(x: 101, y: 57, width: 200, height: 160)
            let source = try ImageSource(EncodedBytes(mapping: file.path), codecs: builtInCodecs)
            let comparison = PixelComparison(try source.image(options).asRGBA, expected.asRGBA)
            #expect(comparison.maximumDifference <= 2, "\(comparison)")
        }
    }
}
