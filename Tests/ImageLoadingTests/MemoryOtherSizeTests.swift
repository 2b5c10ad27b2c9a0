// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import ImageLoading

@Suite("Memory of another size") struct MemoryOtherSizeTests {
    /// Whether an image of an original will do for a box.
    private func satisfies(
        _ image: PixelSize, of original: PixelSize, _ wanted: DecodeOptions,
        _ precision: ShownPart.Precision
    ) -> Bool {
        ShownPart(DecodeOptions(box: image), of: original, size: image)
            .satisfies(ShownPart(wanted, of: original), precision)
    }

    private func square(_ side: Int) -> PixelSize { PixelSize(width: side, height: side) }

    private func box(
        _ width: Int, _ height: Int, _ mode: ResizeMode = .fit
    ) -> DecodeOptions {
        DecodeOptions(box: PixelSize(width: width, height: height), mode: mode)
    }

    @Test(
        "serves a smaller size if the request is inexact, and no larger one",
        arguments: [ResizeMode.fit, .fill, .stretch])
    func downsampled(mode: ResizeMode) {
        let expected: [(Int, ShownPart.Precision, Bool)] = [
            (200, .exact, false), (200, .inexact, false), (50, .inexact, true),
            (50, .exact, false), (100, .exact, true), (100, .inexact, true),
            (101, .exact, true), (101, .inexact, true), (99, .exact, true),
            (99, .inexact, true), (102, .exact, false), (102, .inexact, false),
            (98, .exact, false), (98, .inexact, true),
        ]
        for (side, precision, isServed) in expected {
            #expect(
                satisfies(square(100), of: square(1_000), box(side, side, mode), precision)
                    == isServed, "\(side) \(precision)")
        }
    }

    @Test("differs by one pixel only in the deciding side")
    func governingSide() {
        // A tall strip: one pixel more in width is ten in height.
        let strip = PixelSize(width: 100, height: 1_000)
        let original = PixelSize(width: 1_000, height: 10_000)
        for precision in [ShownPart.Precision.exact, .inexact] {
            #expect(satisfies(strip, of: original, box(101, .max), precision))
            #expect(!satisfies(strip, of: original, box(.max, 1_010), precision))
            #expect(satisfies(strip, of: original, box(.max, 1_001), precision))
        }
    }

    @Test("is compared by the side that meets the box first to fit it, and last to fill it")
    func fitAndFill() {
        let wanted = [box(50, 200, .fit), box(50, 200, .fill), box(200, 50, .fit)]
        #expect(
            wanted.map { satisfies(square(100), of: square(1_000), $0, .inexact) }
                == [true, false, true])
        #expect(satisfies(square(100), of: square(1_000), box(50, 100, .fill), .inexact))
        // But it shows more than that, so it is not the image itself.
        #expect(!satisfies(square(100), of: square(1_000), box(50, 100, .fill), .exact))
    }

    @Test("serves any inexact size with all pixels of a small original")
    func notDownsampled() {
        var enlarged = box(500, 500)
        enlarged.allowsEnlarging = true
        for wanted in [box(200, 200), box(50, 200, .fill), DecodeOptions(), enlarged] {
            #expect(satisfies(square(100), of: square(100), wanted, .inexact))
        }
        // Decoding it again would give the same, unless it were enlarged.
        #expect(satisfies(square(100), of: square(100), box(200, 200), .exact))
        #expect(!satisfies(square(100), of: square(100), enlarged, .exact))
        #expect(!satisfies(square(100), of: square(101 * 2), DecodeOptions(), .inexact))
    }

    @Test("serves requests for the part that it shows, or for parts of the whole original")
    func parts() {
        let original = PixelSize(width: 1_000, height: 500)
        let cut = ShownPart(box(100, 100, .fill), of: original)
        #expect(cut.satisfies(ShownPart(box(50, 50, .fill), of: original), .inexact))
        #expect(!cut.satisfies(ShownPart(box(50, 50), of: original), .inexact))
        #expect(!cut.satisfies(ShownPart(box(50, 40, .fill), of: original), .inexact))
        let stretched = ShownPart(box(100, 400, .stretch), of: original)
        #expect(stretched.satisfies(ShownPart(box(100, 100), of: original), .inexact))
        #expect(!stretched.satisfies(ShownPart(box(200, 200), of: original), .inexact))
    }

    @Test("serves no larger size of a vector original")
    func scalable() {
        let drawn = ShownPart(box(100, 100), of: square(10), isScalable: true)
        #expect(drawn.size == square(100))
        let larger = ShownPart(box(200, 200), of: square(10), isScalable: true)
        #expect(!drawn.satisfies(larger, .inexact))
        #expect(larger.satisfies(drawn, .inexact))
    }

    private func image(
        _ key: ImageKey, _ size: PixelSize, of original: PixelSize,
        _ format: PixelFormat = .rgb8, isPreview: Bool = false
    ) -> LoadedImage {
        LoadedImage(
            TestImage.photograph(size, format), key: key, originalSize: original,
            isPreview: isPreview)
    }

    @Test("does not serve processed images, except at their own size")
    func processors() {
        func key(_ side: Int) -> ImageKey {
            .named("a", DecodeOptions(maximumSide: side), processors: ["rounded(8)"])
        }
        let image = image(key(100), square(100), of: square(100))
        #expect(image.satisfies(key(100), .exact))
        #expect(!image.satisfies(key(99), .inexact))
        #expect(!image.satisfies(.named("a", DecodeOptions(maximumSide: 50)), .inexact))
        #expect(!image.shows(key(50)))
    }

    @Test("differs in nothing else than the size")
    func otherOptions() {
        let wanted = ImageKey.named("a", DecodeOptions(maximumSide: 50))
        let changes: [(Bool, (inout ImageKey) -> Void)] = [
            (true, { _ in }), (false, { $0.original = .named("b") }),
            (false, { $0.options.kernel = .box }), (false, { $0.options.convertsToSRGB = false }),
            (false, { $0.options.appliesOrientation = false }),
            (false, { $0.options.quality = .fast }), (true, { $0.options.acceptsYCbCr = true }),
        ]
        for (index, (isServed, change)) in changes.enumerated() {
            var key = ImageKey.named("a", DecodeOptions(maximumSide: 100))
            change(&key)
            let image = image(key, square(100), of: square(1_000))
            #expect(image.satisfies(wanted, .inexact) == isServed, "change \(index)")
        }
        var lying = wanted
        lying.options.appliesOrientation = false
        var own = lying
        own.options.box = square(100)
        #expect(!image(own, square(100), of: square(1_000)).satisfies(lying, .inexact))
        #expect(image(own, square(100), of: square(1_000)).satisfies(own, .exact))
    }

    @Test("is the smallest that is large enough, or else the sharpest one meanwhile")
    func lookup() {
        let cache = MemoryCache(byteLimit: 100 << 20)
        func key(_ side: Int) -> ImageKey { .named("a", DecodeOptions(maximumSide: side)) }
        for side in [400, 100, 50, 200] {
            cache.insert(image(key(side), square(side), of: square(1_000)))
        }
        cache.insert(image(key(150), square(150), of: square(1_000), isPreview: true))
        cache.insert(
            image(.named("b", DecodeOptions(maximumSide: 900)), square(900), of: square(1_000)))
        #expect(cache.larger(than: key(120))?.image.size == square(200))
        #expect(cache.larger(than: key(200))?.image.size == square(200))
        #expect(cache.larger(than: key(500)) == nil)
        #expect(cache.closest(to: key(120))?.image.size == square(200))
        #expect(cache.closest(to: key(500))?.image.size == square(400))
        cache.remove(key(400))
        cache.remove(key(200))
        #expect(cache.closest(to: key(500))?.image.size == square(150))
        #expect(cache.closest(to: key(500))?.isPreview == true)
        #expect(cache.closest(to: .named("c")) == nil)
        // One that only others hold will do as well.
        let held = image(key(300), square(300), of: square(1_000))
        cache.insert(held)
        cache.trim(toShare: 0)
        #expect(cache.larger(than: key(120)) === held)
    }

    @Test("is found among hundreds of sizes and parts of one original") func manySizes() {
        let cache = MemoryCache(byteLimit: 100 << 20)
        func key(_ side: Int) -> ImageKey {
            var options = DecodeOptions(maximumSide: side)
            options.allowsEnlarging = true
            return .named("a", options)
        }
        for side in 1...300 { cache.insert(image(key(side), square(side), of: square(1_000))) }
        // One pixel less is near enough.
        for side in 2...300 {
            #expect(cache.larger(than: key(side))?.image.size == square(side - 1))
        }
        #expect(cache.larger(than: key(302)) == nil)
        #expect(cache.closest(to: key(302))?.image.size == square(300))
        #expect(cache.larger(than: key(.max)) == nil)

        // Where hundreds of parts stand in the way, one that is larger than it must be will do.
        for x in 0..<300 {
            var part = key(20)
            part.options.region = .init(x: x, y: 0, width: 100, height: 100)
            cache.insert(image(part, square(20), of: square(1_000)))
        }
        #expect(cache.larger(than: key(10))?.image.size == square(9))
        #expect(cache.larger(than: key(21))?.image.size == square(45))
        // What has all pixels of the original will do for any size.
        cache.insert(image(key(1_000), square(1_000), of: square(1_000)))
        #expect(cache.larger(than: key(5_000))?.image.size == square(1_000))
        #expect(cache.larger(than: key(.max))?.image.size == square(1_000))
        cache.removeAll(of: .named("a"))
        #expect(cache.state.withLock { $0.entriesByOriginal.isEmpty && $0.entries.isEmpty })
    }

    @Test(
        "makes the same image as a decode of the original",
        arguments: [PixelFormat.rgb8, .rgba8, .gray8, .yCbCr420], [ResizeMode.fit, .fill, .stretch])
    func resized(format: PixelFormat, mode: ResizeMode) throws {
        let size = PixelSize(width: 401, height: 267)
        let whole = TestImage.photograph(size, format)
        var options = DecodeOptions(box: PixelSize(width: 201, height: 203))
        options.acceptsYCbCr = format == .yCbCr420
        let larger = LoadedImage(
            whole.decoded(options), key: .named("a", options), originalSize: size)
        options.box = PixelSize(width: 66, height: 71)
        options.mode = mode
        let wanted = ImageKey.named("a", options)
        #expect(larger.satisfies(wanted, .inexact))
        let result = try #require(larger.resized(for: wanted))
        let comparison = PixelComparison(result, whole.decoded(options))
        #expect(comparison.meanDifference < 1, "\(comparison)")
        #expect(comparison.maximumDifference < 40, "\(comparison)")
        options.acceptsYCbCr = false
        #expect((larger.resized(for: .named("a", options)) == nil) == (format == .yCbCr420))
    }

    @Test("is the image itself where it has the requested size") func sameSize() {
        let options = DecodeOptions(maximumSide: 100)
        let image = image(.named("a", options), square(100), of: square(1_000))
        let result = image.resized(for: .named("a", options))
        #expect(result.map { PixelComparison($0, image.image).maximumDifference } == 0)
    }
}

extension PixelBuffer {
    /// What a decoder makes of an original with these pixels.
    fileprivate func decoded(_ options: DecodeOptions) -> PixelBuffer {
        let part = ShownPart(options, of: size)
        guard format == .yCbCr420 else { return resampled(to: part.size, region: part.region) }
        let planes = (0..<3).map { plane in
            SourcePlane(
                size: format.planeSize(plane, of: size), horizontalScale: plane == 0 ? 1 : 0.5,
                verticalScale: plane == 0 ? 1 : 0.5)
        }
        var resampler = YCbCrResampler(
            from: planes, region: part.region, to: part.size, format)
        for plane in 0..<3 {
            for y in 0..<planes[plane].size.height {
                resampler.append(row(y, plane: plane), plane: plane)
            }
        }
        return resampler.finish()
    }
}
