// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

/// Complete images: the shrinking decoder against a full decode that is resampled.
@Suite(
    "Shrinking decoder: images",
    .enabled(if: TestBuild.isOptimized, GeneratedFiles.needsOptimization))
struct ShrinkingDecoderImageTests {
    private static var needsCjpeg: Comment { "cjpeg (libjpeg-turbo-progs) is missing" }

    /// Returns an image of low frequencies, which reduction preserves.
    private static func image(_ size: PixelSize, _ format: PixelFormat = .rgb8) -> PixelBuffer {
        TestImage.make(size, format) { x, y, channel in
            let phase = (x * (channel + 1) + y * (3 - channel)) % 512
            return UInt8(20 + (phase < 256 ? phase : 511 - phase) * 215 / 255)
        }
    }

    /// Returns a file encoded by cjpeg.
    private static func file(
        _ size: PixelSize, _ format: PixelFormat = .rgb8, _ arguments: [String]
    ) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            let input = folder.appending(path: "picture.pnm")
            let kind = format == .gray8 ? 5 : 6
            let header = "P\(kind)\n\(size.width) \(size.height)\n255\n"
            try Data(Array(header.utf8) + image(size, format).packedBytes).write(to: input)
            let cjpeg = try #require(PeerTool.cjpeg)
            return try #require(
                try PeerTool.run(cjpeg, ["-quality", "90"] + arguments + [input.path]))
        }
    }

    private func open(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    /// Returns whether the shrinking decoder, and not libjpeg-turbo, decodes the file.
    private func isShrunk(_ file: [UInt8], _ options: DecodeOptions) throws -> Bool {
        let choice = ShrinkChoice(DecodePlan(try open(file).header, options))
        let decoder = ShrinkingDecoder(
            limits: DecodeLimits(), cancellation: nil, isDraft: options.quality == .fast)
        var planes = ShrunkPlanes { choice.blockSides($0, $1) }
        do { try decoder.decode(file.span, into: &planes) } catch { return false }
        return planes.isWhole
    }

    /// Returns the image resampled from a full decode.
    private func reference(_ file: [UInt8], _ options: DecodeOptions) throws -> PixelBuffer {
        let source = try open(file)
        var full = DecodeOptions()
        full.appliesOrientation = false
        let plan = DecodePlan(source.header, options)
        return try source.image(full).resampled(
            to: plan.geometry.size, region: plan.geometry.region, kernel: plan.kernel,
            orientation: plan.orientation)
    }

    /// Compares with ``reference(_:_:)``; `tolerance` is the maximum mean difference.
    private func check(
        _ file: [UInt8], _ options: DecodeOptions, _ name: String, tolerance: Double = 1,
        isShrunk expected: Bool = true
    ) throws {
        let image = try open(file).image(options)
        if image.format == .yCbCr420 {
            try checkPlanes(image, file, options, name)
        } else {
            let comparison = PixelComparison(image, try reference(file, options))
            #expect(comparison.meanDifference < tolerance, "\(name): \(comparison)")
            #expect(comparison.maximumDifference < 40, "\(name): \(comparison)")
        }
        #expect(try isShrunk(file, options) == expected, "\(name)")
    }

    /// Compares each plane with the YCbCr (JFIF) of a full decode at its size.
    private func checkPlanes(
        _ image: PixelBuffer, _ file: [UInt8], _ options: DecodeOptions, _ name: String
    ) throws {
        let full = try open(file).image()
        for plane in 0..<2 {
            let size = image.layout(ofPlane: plane).size
            // With an odd side, the last chroma sample covers half of the area of the others.
            guard
                plane == 0
                    || image.size.width.isMultiple(of: 2) && image.size.height.isMultiple(of: 2)
            else { continue }
            let rgb = full.resampled(to: size).packedBytes.map(Double.init)
            let channelCount = image.format.plane(plane).channelCount
            var total = 0.0
            for y in 0..<size.height {
                let row = image.row(y, plane: plane)
                for index in row.indices {
                    let pixel = (y * size.width + index / channelCount) * 3
                    let luma =
                        0.299 * rgb[pixel] + 0.587 * rgb[pixel + 1] + 0.114 * rgb[pixel + 2]
                    let expected =
                        switch plane + index % channelCount {
                        case 0: luma
                        case 1: 128 + (rgb[pixel + 2] - luma) / 1.772
                        default: 128 + (rgb[pixel] - luma) / 1.402
                        }
                    total += abs(Double(row[index]) - expected)
                }
            }
            let mean = total / Double(size.area * channelCount)
            #expect(mean < 1.5, "plane \(plane) of \(name)")
        }
    }

    private static let sizes = [
        PixelSize(width: 333, height: 222), PixelSize(width: 257, height: 129),
        PixelSize(width: 103, height: 210), PixelSize(width: 640, height: 480),
        PixelSize(width: 161, height: 161),
    ]

    @Test(
        "images with any chroma sampling match a full decode",
        .enabled(if: PeerTool.cjpeg != nil, needsCjpeg),
        arguments: [
            "1x1", "2x1", "1x2", "2x2", "4x1", "3x1", "1x3", "1x4", "4x2", "3x2", "2x4",
            "2x2,2x1,1x2", "2x2,1x1,2x2", "1x1,2x2,2x2",
        ])
    func sampling(factors: String) throws {
        for size in Self.sizes.prefix(3) {
            for coding in [[], ["-progressive"], ["-optimize", "-restart", "1"]] {
                let file = try Self.file(size, .rgb8, ["-sample", factors] + coding)
                for side in [16, 33, 90] {
                    for acceptsYCbCr in [false, true] {
                        var options = DecodeOptions(maximumSide: side)
                        options.acceptsYCbCr = acceptsYCbCr
                        let reduction = Double(size.largestSide) / Double(side)
                        try check(
                            file, options,
                            "\(size), \(factors) \(coding), to \(side), planes \(acceptsYCbCr)",
                            isShrunk: reduction >= (factors == "1x1,2x2,2x2" ? 6 : 3))
                    }
                }
            }
        }
    }

    @Test(
        "images in grey and RGB match a full decode",
        .enabled(if: PeerTool.cjpeg != nil, needsCjpeg),
        arguments: [
            ["-grayscale"], ["-rgb"], ["-rgb", "-progressive"], ["-rgb", "-restart", "2"],
        ])
    func space(arguments: [String]) throws {
        for size in Self.sizes {
            let file = try Self.file(size, .rgb8, arguments)
            for side in [16, 31, 50] {
                for quality in DecodeOptions.Quality.allCases {
                    var options = DecodeOptions(maximumSide: side)
                    options.quality = quality
                    try check(
                        file, options, "\(size), \(arguments), to \(side), \(quality)",
                        tolerance: quality == .exact ? 1 : 3)
                }
            }
        }
    }

    @Test(
        "images in CMYK and YCCK match a full decode",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: ["CMYK", "YCCK"], [false, true])
    func inks(space: String, isProgressive: Bool) throws {
        let python = try #require(PeerTool.python)
        let size = PixelSize(width: 301, height: 203)
        var file = try withTemporaryFolder { folder in
            let input = folder.appending(path: "picture.ppm")
            let output = folder.appending(path: "picture.jpg")
            let header = "P6\n\(size.width) \(size.height)\n255\n"
            try Data(Array(header.utf8) + Self.image(size).packedBytes).write(to: input)
            let script =
                "from PIL import Image; p = Image.open('\(input.path)'); "
                + "c = p.convert('CMYK'); k = c.getchannel(0).point(lambda v: v // 3); "
                + "c = Image.merge('CMYK', (*c.split()[:3], k)); "
                + "c.save('\(output.path)', quality=92, progressive=\(isProgressive ? 1 : 0))"
            _ = try #require(try PeerTool.run(python, ["-c", script]))
            return Array(try Data(contentsOf: output))
        }
        // The last byte of the Adobe segment specifies whether the first three components are YCC.
        let adobe = Array("Adobe".utf8)
        let start = try #require(
            file.indices.first { file[$0...].starts(with: adobe) })
        file[start + 11] = space == "CMYK" ? 0 : 2
        #expect(try open(file).header.colorModel == .cmyk)
        for side in [20, 37, 64] {
            try check(
                file, DecodeOptions(maximumSide: side), "\(space), to \(side)", tolerance: 2)
        }
        // Without the segment, CMYK is not inverted.
        if space == "CMYK" {
            let bare = file[..<(start - 4)] + file[(start + 12)...]
            try check(Array(bare), DecodeOptions(maximumSide: 40), "bare", tolerance: 2)
        }
    }

    @Test(
        "orientation and resize mode are applied", .enabled(if: PeerTool.cjpeg != nil, needsCjpeg),
        arguments: 1...8)
    func orientation(value: Int) throws {
        let exif =
            [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8]
            + [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(value), 0, 0, 0, 0, 0, 0]
        for factors in ["1x1", "2x1", "2x2", "1x2"] {
            let plain = try Self.file(
                PixelSize(width: 403, height: 281), .rgb8, ["-sample", factors])
            let file = Array(plain[..<2] + exif + plain[2...])
            for (width, height) in [(40, 40), (17, 60), (60, 17), (51, 50)] {
                for mode in ResizeMode.allCases {
                    let box = PixelSize(width: width, height: height)
                    let options = DecodeOptions(box: box, mode: mode)
                    try check(
                        file, options, "orientation \(value), \(factors), \(box), \(mode)",
                        tolerance: 1.5)
                }
            }
        }
    }

    @Test(
        "truncated files are decoded by libjpeg-turbo from the first row",
        .enabled(if: PeerTool.cjpeg != nil, needsCjpeg),
        arguments: [
            ["-sample", "1x1"], ["-sample", "2x2"], ["-sample", "2x2", "-restart", "1"],
            ["-grayscale"], ["-rgb", "-sample", "1x1"],
        ])
    func missingEnd(coding: [String]) throws {
        // Larger than a window, so that rows precede the detection of the missing end.
        let size = PixelSize(width: 1600, height: 1200)
        let whole = try Self.file(size, .rgb8, ["-quality", "100"] + coding)
        #expect(whole.count * 9 / 10 > EntropyCodedData.windowByteCount)
        let cut = Array(whole.prefix(whole.count * 9 / 10))
        let reference = try open(cut).image()
        for side in [100, 250, 500] {
            let options = DecodeOptions(maximumSide: side)
            #expect(try isShrunk(whole, options))
            #expect(throws: CodecError.self) { try open(cut).image(options.strict) }
            let image = try open(cut).image(options)
            let comparison = PixelComparison(image, reference.resampled(to: image.size))
            #expect(comparison.meanDifference < 1, "to \(side): \(comparison)")
        }
    }

    @Test("files that the shrinking decoder does not handle are decoded by libjpeg-turbo")
    func fallThrough() throws {
        for file in SampleFiles.own("jpeg", "valid") {
            let bytes = Array(try Data(contentsOf: file))
            let isArithmetic = file.lastPathComponent.contains("arithmetic")
            var options = DecodeOptions(maximumSide: 12)
            try check(
                bytes, options, file.lastPathComponent, tolerance: 4,
                isShrunk: !isArithmetic)
            options = DecodeOptions()
            #expect(try !isShrunk(bytes, options))
            _ = try open(bytes).image(options)
        }
    }
}
