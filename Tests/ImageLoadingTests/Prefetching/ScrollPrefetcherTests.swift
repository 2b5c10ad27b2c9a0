// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

/// A carousel of items of 100 pixels, of which one is visible.
@Suite("A prefetcher for scrolling", .timeLimit(.minutes(5))) struct ScrollPrefetcherTests {
    /// What was begun: an item, and how large at most.
    private struct Begun: Hashable {
        let item: String
        let side: Int
        let quality: DecodeOptions.Quality
    }

    private struct Harness: Sendable {
        let pipeline: ImagePipeline
        let prefetcher: ScrollPrefetcher
        let clock = FakeClock()
        let loaders = (0..<40).map { _ in FakeLoader() }
        let begun = Log<Begun>()

        init(_ change: (inout ImagePipeline.Configuration) -> Void = { _ in }) {
            pipeline = ImagePipeline(FakeCodec()) {
                $0.decodeThreadCount = 2
                change(&$0)
            }
            prefetcher = ScrollPrefetcher(
                pipeline: pipeline, layout: GridLayout(itemCount: 40, rowLength: 100), clock: clock,
                receive: { [begun] event in
                    guard case .started(let identity) = event else { return }
                    begun.append(
                        Begun(
                            item: identity.source, side: identity.options.box?.width ?? 0,
                            quality: identity.options.quality))
                },
                request: { [loaders] in Self.request($0, loaders) })
        }

        private static func request(_ item: Int, _ loaders: [FakeLoader]) -> ImageRequest {
            ImageRequest(
                .loader(loaders[item], name: "\(item)"), options: DecodeOptions(maximumSide: 64))
        }

        func request(_ item: Int) -> ImageRequest { Self.request(item, loaders) }

        func show(_ item: Int, velocity: Double) {
            let start = Double(item) * 100
            prefetcher.update(visible: start..<start + 100, velocity: velocity)
        }

        /// Waits until the loads that began last are these.
        func began(_ expected: Set<Begun>) async {
            await eventually { Set(begun.items.suffix(expected.count)) == expected }
        }

        /// Sends a whole image of 64 by 64 pixels.
        func deliver(_ item: Int, start: Int = 1) async {
            await loaders[item].started(start)
            loaders[item].send(PipelineHarness.file(side: 64))
            loaders[item].finish()
        }

        func cached(_ item: Int) -> LOD? {
            pipeline.sharpestCachedImage(for: request(item))?.lod
        }
    }

    @Test(
        "X2: loads ahead at lower detail while it is fast, cancels passed items, and refines"
    )
    func fling() async {
        let harness = Harness()
        harness.show(0, velocity: 3000)
        await harness.began([
            Begun(item: "1", side: 16, quality: .fast), Begun(item: "2", side: 32, quality: .fast),
        ])
        for item in 1...2 { await harness.loaders[item].started(1) }
        // Both have been passed before they came.
        harness.show(10, velocity: 3000)
        for item in 1...2 { await eventually { harness.loaders[item].cancelCount == 1 } }
        await harness.began([
            Begun(item: "11", side: 16, quality: .fast),
            Begun(item: "12", side: 32, quality: .fast),
        ])
        await harness.deliver(11)
        await harness.deliver(12)
        await eventually { harness.cached(11) == .quarter && harness.cached(12) == .half }
        await harness.began([
            Begun(item: "13", side: 32, quality: .fast),
            Begun(item: "14", side: 32, quality: .fast),
        ])
        // It slows down: what comes next is made as it is shown.
        harness.prefetcher.update(visible: 1070..<1170, velocity: 400)
        for item in 13...14 { await harness.deliver(item) }
        let exact = Begun(item: "12", side: 64, quality: .exact)
        await eventually { harness.begun.items.contains(exact) }
        await harness.deliver(12, start: 2)
        await eventually { harness.cached(12) == .exact }
        #expect(
            harness.pipeline.sharpestCachedImage(for: harness.request(12))?.image.image.size
                == PixelSize(width: 64, height: 64))
        // It stands still: a small image of the neighbour that has none, nothing further away.
        harness.show(11, velocity: 0)
        let neighbour = Begun(item: "10", side: 16, quality: .fast)
        await eventually { harness.begun.items.contains(neighbour) }
        #expect(harness.loaders[9].startCount == 0)
    }

    @Test("continues running loads while their items may become visible")
    func goesOn() async {
        let harness = Harness()
        harness.show(0, velocity: 3000)
        for item in 1...2 { await harness.loaders[item].started(1) }
        harness.show(1, velocity: 2000)
        harness.show(1, velocity: 0)
        await harness.deliver(1)
        await harness.deliver(2)
        await eventually { harness.cached(2) != nil }
        #expect(harness.loaders[1].startCount == 1 && harness.loaders[1].cancelCount == 0)
        #expect(harness.loaders[2].cancelCount == 0)
    }

    @Test("measures load times by its clock, and requests lower detail when loads are slow")
    func learning() async {
        let harness = Harness()
        #expect(harness.prefetcher.policy.times[.exact] == .milliseconds(40))
        harness.show(5, velocity: 0)
        for item in [4, 6] { await harness.loaders[item].started(1) }
        harness.clock.advance(by: .milliseconds(80))
        await harness.deliver(4)
        await harness.deliver(6)
        await eventually { harness.cached(4) == .quarter && harness.cached(6) == .quarter }
        await eventually { harness.prefetcher.policy.times[.quarter] >= .milliseconds(80) }
        // At 40 ms the image of item 12 would have been taken to be there in time.
        harness.show(10, velocity: 1000)
        await harness.began([
            Begun(item: "11", side: 16, quality: .fast),
            Begun(item: "12", side: 16, quality: .fast),
        ])
    }

    @Test("requests images that memory cannot hold and images that fail only once")
    func futile() async {
        let harness = Harness { $0.memoryCacheByteLimit = 0 }
        harness.show(5, velocity: 0)
        await harness.deliver(4)
        await harness.loaders[6].started(1)
        harness.loaders[6].fail(.timedOut(url: "6"))
        await eventually { harness.pipeline.images.loadCount == 0 }
        harness.show(5, velocity: 0)
        harness.show(6, velocity: 0)
        // Item 4 is out of reach and 5 and 7 are the neighbours now.
        await harness.began([
            Begun(item: "5", side: 16, quality: .fast),
            Begun(item: "7", side: 16, quality: .fast),
        ])
        #expect(harness.begun.items.count == 4)
        #expect(harness.loaders[4].startCount == 1 && harness.loaders[6].startCount == 1)
    }

    @Test("starts nothing while it is paused, and cancels all loads when it is stopped")
    func pausing() async {
        let harness = Harness()
        harness.prefetcher.isPaused = true
        harness.show(5, velocity: 0)
        harness.show(20, velocity: 0)
        harness.prefetcher.isPaused = false
        for item in [19, 21] { await harness.loaders[item].started(1) }
        #expect(harness.loaders[4].startCount == 0)
        harness.prefetcher.stop()
        for item in [19, 21] { await eventually { harness.loaders[item].cancelCount == 1 } }
    }
}
