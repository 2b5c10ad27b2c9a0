// SPDX-License-Identifier: Apache-2.0

import Effects
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import LoadingTesting
import Pixels
import Synchronization
import Testing

@testable import ImageLoading

@Suite("An operation on a decoded image") struct ImageOperationTests {
    private let photograph = TestImage.photograph(PixelSize(width: 61, height: 43), .rgba8)

    private func apply(
        _ operation: any ImageProcessor, to image: PixelBuffer
    ) throws -> PixelBuffer {
        try operation.process(image, CancellationFlag())
    }

    @Test(
        "crops to the requested part", arguments: [PixelFormat.gray8, .rgb8, .rgba8, .rgb16])
    func crop(_ format: PixelFormat) throws {
        let image = photograph.converted(to: format)
        for (x, y, left, top) in [(0.0, 1.0, 0, 33), (0.5, 0.5, 21, 17), (9, -1, 41, 0)] {
            let part = try apply(
                ImageOperation.crop(PixelSize(width: 20, height: 10), x: x, y: y), to: image)
            #expect(part.size == PixelSize(width: 20, height: 10))
            let expected = image.cut(PixelRect(x: left, y: top, width: 20, height: 10))
            #expect(part.packedBytes == expected.packedBytes)
        }
        let whole = try apply(ImageOperation.crop(PixelSize(width: 100, height: 100)), to: image)
        #expect(PixelComparison(whole, image).maximumDifference == 0)
    }

    @Test("has a size of the box's, whatever the format", arguments: PixelFormat.allCases)
    func resize(_ format: PixelFormat) throws {
        let image =
            format == .yCbCr420
            ? TestImage.photograph(photograph.size, .yCbCr420) : photograph.converted(to: format)
        let fitted = try apply(ImageOperation.resize(PixelSize(width: 30, height: 30)), to: image)
        #expect(fitted.size == PixelSize(width: 30, height: 21))
        let filled = try apply(
            ImageOperation.resize(PixelSize(width: 90, height: 20), .fill), to: image)
        #expect(filled.size == PixelSize(width: 90, height: 20))
    }

    @Test(
        "blurs by the definition of a Gaussian",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [0.6, 1, 2.5, 8, 40])
    func blur(_ sigma: Double) throws {
        let blurred = try apply(Effect.blur(sigma: sigma), to: photograph.converted(to: .rgb8))
        let peer = try peer("blur", sigma, of: photograph.converted(to: .rgb8))
        let comparison = PixelComparison(blurred.converted(to: .rgba8), peer)
        #expect(comparison.maximumDifference <= 1, "\(comparison)")
        #expect(comparison.meanDifference < 0.2, "\(comparison)")
    }

    @Test("stops a blur between two rows when it is cancelled", arguments: [0, 3, 6])
    func cancelledBlur(count: Int) throws {
        let image = TestImage.photograph(PixelSize(width: 10, height: 8))
        let calls = Mutex(0)
        let cancellation = CancellationFlag {
            calls.withLock {
                $0 += 1
                return $0 > count + 1
            }
        }
        #expect(throws: CodecError.cancelled) {
            try Effect.blur(sigma: 2).process(image, cancellation)
        }
        #expect(calls.withLock { $0 } == count + 2)
    }

    @Test("keeps a uniform color when it blurs", arguments: [0.3, 1, 7, 900, 1e9])
    func blurOfFlat(_ sigma: Double) throws {
        let flat = TestImage.flat(PixelSize(width: 9, height: 5), .rgba8, [200, 100, 0, 128])
        #expect(
            PixelComparison(try apply(Effect.blur(sigma: sigma), to: flat), flat).maximumDifference
                == 0)
    }

    @Test(
        "rounds corners as Pillow does",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [0, 1, 7.5, 21.5])
    func corners(_ radius: Double) throws {
        let opaque = photograph.converted(to: .rgb8)
        let rounded = try apply(ImageOperation.roundCorners(radius: radius), to: opaque)
        let comparison = PixelComparison(rounded, try peer("corners", radius, of: opaque))
        // Pillow's circles are polygons of 16 corners a pixel.
        #expect(comparison.maximumDifference <= 12, "\(comparison)")
        #expect(comparison.meanDifference < 0.1, "\(comparison)")
    }

    @Test("makes a circle of a square, with the area of a circle")
    func circle() throws {
        let size = PixelSize(width: 101, height: 101)
        let round = try apply(
            ImageOperation.roundCorners(radius: .infinity), to: TestImage.flat(size, .gray8, [255]))
        var sum = 0
        for y in 0..<size.height {
            for x in 0..<size.width { sum += Int(round.row(y)[x * 4 + 3]) }
        }
        let area = Double(sum) / 255
        #expect(abs(area - .pi * 50.5 * 50.5) < 1)
    }

    @Test("blends colors with one, and keeps the shape of the image")
    func tint() throws {
        let image = TestImage.flat(PixelSize(width: 3, height: 2), .rgba8, [200, 100, 0, 128])
        let blue = SRGBColor(red: 0, green: 0, blue: 1)
        func pixel(_ amount: Double) throws -> [UInt8] {
            Array(try apply(Effect.tint(blue, amount: amount), to: image).packedBytes.prefix(4))
        }
        #expect(try pixel(1) == [0, 0, 128, 128])
        // Half of 100, 50 and 0, which are premultiplied, and half of 128.
        #expect(try pixel(0.5) == [50, 25, 64, 128])
        #expect(try pixel(0) == [100, 50, 0, 128])
        let gray = TestImage.flat(PixelSize(width: 1, height: 1), .gray8, [90])
        #expect(try apply(Effect.tint(blue, amount: 1), to: gray).format == .rgb8)
    }

    @Test("treats NaN as 0")
    func noNumbers() throws {
        let red = SRGBColor(red: .nan, green: 0, blue: 0)
        let operations: [any ImageProcessor] = [
            ImageOperation.crop(PixelSize(width: 0, height: -4), x: .nan, y: .infinity),
            ImageOperation.resize(PixelSize(width: 0, height: 0)),
            ImageOperation.roundCorners(radius: .nan), Effect.blur(sigma: .nan),
            Effect.tint(red, amount: .nan), Effect.tint(red, amount: 1),
        ]
        for operation in operations {
            #expect(!(try apply(operation, to: photograph).size.isEmpty))
        }
    }

    @Test("has another identity for other settings")
    func identity() {
        let operations: [ImageOperation] = [
            .crop(PixelSize(width: 2, height: 3)), .crop(PixelSize(width: 2, height: 3), x: 0),
            .resize(PixelSize(width: 2, height: 3)), .resize(PixelSize(width: 2, height: 3), .fill),
            .resize(PixelSize(width: 2, height: 3), .fit, .box), .roundCorners(radius: 1),
            .roundCorners(radius: 1.5),
        ]
        #expect(Set(operations.map(\.identity)).count == operations.count)
    }

    @Test("does not begin after cancellation")
    func cancelled() {
        let flag = CancellationFlag()
        flag.cancel()
        #expect(throws: CodecError.cancelled) {
            try Effect.blur(sigma: 3).process(photograph, flag)
        }
    }

    private func peer(_ operation: String, _ amount: Double, of image: PixelBuffer) throws
        -> PixelBuffer
    {
        let folder = try TestFolder()
        let path = folder.url.appending(path: "a.png")
        let file = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
        try Data(file).write(to: path)
        let arguments = [path.path, operation, "\(amount)"]
        return try withExtendedLifetime(folder) {
            try #require(try PeerTool.image("operations.py", arguments))
        }
    }
}
