// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import CalotypeServer

@Suite("The scrolling benchmark") struct ScrollBenchmarkTests {
    private let clock = FakeFrameClock()
    private let ledger = ImageLedger()
    private let images: FakeImages

    init() { images = FakeImages(ledger) }

    /// A carousel of 20 items of 800 pixels.
    private func play(_ lines: String, rate: Int = 10) async throws -> ScrollResult {
        let trace = try ScrollTrace("own", csv: Array("milliseconds,pixels\n\(lines)".utf8))
        let paths = (0..<20).map { "\($0)" }
        let benchmark = ScrollBenchmark(
            scene: try #require(ScrollScene("carousel", paths)), trace: trace, seconds: 60,
            clock: clock.clock)
        return await benchmark.play(
            ScrollRun(
                layout: "carousel", rate: rate, design: .tagged, store: .cold, trace: "own"),
            images, ledger)
    }

    private func showAll() {
        let image = FakeImages.picture("a")
        images.shown = { _ in ShownImage(parts: [image], lod: .exact) }
    }

    @Test("misses no frame that is drawn before its deadline")
    func inTime() async throws {
        showAll()
        images.work = { [clock] _ in clock.work(.milliseconds(99)) }
        let result = try await play("0,0\n1000,800")
        #expect(result.frameCount == 10 && result.missedFrameCount == 0)
        #expect(images.hasEnded)
    }

    @Test("misses all frames that become due while another one is drawn")
    func missed() async throws {
        showAll()
        var count = 0
        images.work = { [clock] frame in
            // The first call is for the first screen, before the trace begins.
            count += 1
            if count == 3 { clock.work(.milliseconds(250)) }
        }
        let result = try await play("0,0\n1000,800")
        #expect(result.frameCount == 10 && result.missedFrameCount == 2)
        // The offsets are those of the time of drawing.
        let offsets = images.frames.dropFirst().map { $0.visible.lowerBound }
        #expect(
            zip(offsets, [0, 80, 320, 400, 480, 560, 640, 720]).allSatisfy { abs($0 - $1) < 1 })
        #expect(offsets.count == 8)
    }

    @Test("counts cells without an image, with a reduced one and with a part of one")
    func cells() async throws {
        let image = FakeImages.picture("a")
        images.shown = { item in
            switch item {
            case 0: ShownImage(parts: [image], lod: .exact)
            case 1: ShownImage(parts: [image], lod: .half)
            case 2: nil
            default: ShownImage(parts: [image], lod: .exact, isWhole: false)
            }
        }
        // The visible items of the frames: 0; 0 and 1; 1; 1 and 2; 2; 2 and 3; 3.
        let result = try await play(
            "0,0\n100,400\n200,800\n300,1200\n400,1600\n500,2000\n600,2400\n700,2400")
        #expect(result.frameCount == 7 && result.cellFrameCount == 10)
        #expect(result.popInCount == 3)
        #expect(result.unsharpCount == 5)
        #expect(result.revealedCount == 3)
    }

    @Test("waits for the first screen, and measures that time")
    func opening() async throws {
        let image = FakeImages.picture("a")
        var count = 0
        images.work = { _ in count += 1 }
        images.shown = { _ in count > 3 ? ShownImage(parts: [image], lod: .exact) : nil }
        let result = try await play("0,0\n500,0")
        #expect(abs(result.openingSeconds - 0.3) < 1e-9)
        #expect(result.popInCount == 0 && result.frameCount == 5)
    }

    @Test("stops waiting for a first screen that never becomes sharp")
    func noOpening() async throws {
        let result = try await play("0,0\n500,0")
        #expect(result.openingSeconds == ScrollBenchmark.maximumOpening)
        #expect(result.popInCount == 5)
    }

    @Test("measures the time from rest until each cell is sharp")
    func sharpness() async throws {
        let image = FakeImages.picture("a")
        images.shown = { [weak images = images] item in
            let frame = images?.frames.count ?? 0
            // One is ready immediately, one two frames later, one never.
            let isThere = item == 0 || frame >= (item == 1 ? 5 : .max)
            return isThere ? ShownImage(parts: [image], lod: .exact) : nil
        }
        // At rest from frame 2 on, with items 0 and 1 visible; frame 1 is the opening.
        let result = try await play("0,0\n100,200\n200,400\n1000,400")
        #expect(result.sharpTimes.sorted().map { ($0 * 10).rounded() } == [0, 1])
        #expect(result.neverSharpCount == 0)
        let never = try await play("0,0\n100,900\n200,1300\n1000,1300")
        #expect(never.neverSharpCount == 1)
        #expect(never.sharpTimes.max() == 0.8)
    }

    @Test("reports velocity zero for a jump, and the velocity of any other movement")
    func velocity() async throws {
        showAll()
        _ = try await play("0,0\n100,0\n150,40\n199,40\n200,8000\n300,8000", rate: 20)
        let velocities = images.frames.dropFirst().map { $0.velocity.rounded() }
        #expect(velocities == [0, 0, 0, 800, 0, 0])
    }

    @Test("copies an image once while it is visible, and again when it returns")
    func reuse() {
        let image = FakeImages.picture("a")
        var screen = CellScreen(ledger)
        images.shown = { item in
            item == 0 ? ShownImage(parts: [image], lod: .exact) : nil
        }
        for items in [0..<2, 0..<2, 1..<3, 0..<2] {
            screen.draw(items, images)
            #expect(screen.emptyCount == (items.contains(0) ? 1 : 2))
            #expect(screen.isSharp(0) == items.contains(0))
        }
        #expect(screen.revealedCount == 4)
        #expect(ledger.unshown.count == 0)
    }

    @Test("counts images that were decoded, displayed, and are in memory")
    func ledgerCounts() {
        var kept: [LoadedImage] = [FakeImages.picture("a"), FakeImages.picture("b", side: 8)]
        for image in kept { ledger.record(image) }
        ledger.record(kept[0])
        #expect(ledger.decoded.count == 2 && ledger.unshown.count == 2)
        let byteCount = kept[0].image.byteCount
        ledger.show(kept[0])
        ledger.show(kept[0])
        #expect(ledger.unshown.count == 1)
        #expect(ledger.unshown.byteCount == ledger.decoded.byteCount - byteCount)
        #expect(ledger.liveByteCount() == ledger.decoded.byteCount)
        kept.removeLast()
        #expect(ledger.liveByteCount() == byteCount)
    }
}

/// Needs the PNG codec, which a build without that trait lacks.
@Suite("The designs of an image view", .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct ScrollDesignTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "display the same image", .timeLimit(.minutes(5)),
        arguments: ScrollDesign.allCases)
    func shows(design: ScrollDesign) async throws {
        let image = TestImage.photograph(PixelSize(width: 600, height: 450))
        let path = folder.path("a.png")
        try ImageDestination(format: "png", codecs: builtInCodecs).write(image, to: path)
        let scene = try #require(ScrollScene("grid", [path]))
        let ledger = ImageLedger()
        let images = design.images(scene, ledger, nil)
        var screen = CellScreen(ledger)
        repeat {
            images.update(ScrollFrame(scene, offset: 0, velocity: 0))
            screen.draw(0..<1, images)
            await Task.yield()
        } while !screen.isSharp
        let parts = try #require(images.picture(for: 0)).parts
        let isWhole = [.synchronous, .tagged, .tiled].contains(design)
        let size = isWhole ? image.size : PixelSize(width: 400, height: 300)
        #expect(parts.map(\.image.size.area).reduce(0, +) == size.area)
        #expect(parts.count == (design == .tiled ? 6 : 1))
        await images.end()
        #expect(ledger.unshown.count == 0)
    }
}
