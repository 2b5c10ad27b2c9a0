// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("The frames of an animation", .timeLimit(.minutes(5))) struct AnimationMemoryTests {
    private let base = AnimationHarness.baseByteCount
    private let frame = AnimationHarness.frameByteCount

    @Test("are reserved while it is played")
    func charged() async throws {
        let harness = AnimationHarness(FakeAnimation(20))
        do {
            let animation = try await harness.animation()
            #expect(harness.budget.byteCount == 0, "nothing is decoded yet")
            var frames = animation.makeAsyncIterator()
            _ = try await frames.next()
            await harness.ahead(2)
            #expect(harness.budget.byteCount == base + 2 * frame)
            var second = animation.makeAsyncIterator()
            _ = try await second.next()
            await eventually { harness.budget.byteCount == 2 * (base + 2 * frame) }
            #expect(harness.pipeline.resources.playing.count == 2)
        }
        await harness.over()
    }

    @Test("have no reservation but the last one's after the end")
    func ended() async throws {
        let harness = AnimationHarness(FakeAnimation(3))
        var frames = try await harness.animation().makeAsyncIterator()
        while try await frames.next() != nil {}
        await eventually { harness.budget.byteCount == frame }
    }

    @Test("are fewer ahead where memory is short, and none is skipped", arguments: 0...2)
    func smallBudget(room: Int) async throws {
        let harness = AnimationHarness(
            FakeAnimation(6, loopCount: 2), byteLimit: base + room * frame + frame / 2)
        var greys: [Int] = []
        var frames = try await harness.animation(countAhead: 5).makeAsyncIterator()
        // A view holds the frame that it shows while it requests the next one.
        var shown: AnimationFrame?
        while let next = try await frames.next() {
            shown = next
            greys.append(next.grey)
            if greys.count < 6 { await harness.ahead(room) }
            #expect(harness.budget.byteCount <= base + room * frame)
        }
        withExtendedLifetime(shown) {}
        #expect(greys == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
    }

    @Test("fail where there is no memory for one")
    func tooSmall() async throws {
        let harness = AnimationHarness(FakeAnimation(6), byteLimit: base - 1)
        var frames = try await harness.animation().makeAsyncIterator()
        await #expect(throws: LoadError.memoryBudgetExceeded(needed: base, allowed: base - 1)) {
            try await frames.next()
        }
        #expect(harness.codec.decodes.isEmpty)
    }

    @Test("are smaller if that is accepted") func smaller() async throws {
        let harness = AnimationHarness(FakeAnimation(2), byteLimit: base - 1)
        let animation = try await harness.animation { $0.acceptsSmaller = true }
        for try await frame in animation {
            #expect(frame.image.size == PixelSize(width: 8, height: 4))
        }
        #expect(harness.codec.decodes == [0, 1])
    }

    @Test("wait for memory like other images") func waiting() async throws {
        let harness = AnimationHarness(FakeAnimation(2), byteLimit: base)
        let taken = try await harness.budget.reserve(1)
        let animation = try await harness.animation()
        let task = Task {
            var frames = animation.makeAsyncIterator()
            return try await frames.next()?.grey
        }
        await eventually { harness.budget.waitingCount == 1 }
        #expect(harness.codec.decodes.isEmpty)
        taken.release()
        #expect(try await task.value == 0)
        await harness.over()
    }

    @Test("take no memory from an image that waits for it")
    func others() async throws {
        let harness = AnimationHarness(FakeAnimation(20), byteLimit: base + 2 * frame)
        var frames = try await harness.animation().makeAsyncIterator()
        _ = try await frames.next()
        await harness.ahead(2)
        let image = Task { [budget = harness.budget] in try await budget.reserve(2 * frame) }
        await eventually { harness.budget.waitingCount == 1 }
        for shown in 1...5 { #expect(try await frames.next()?.grey == shown) }
        #expect(try await image.value.byteCount == 2 * frame)
    }

    @Test("that are ahead are released when memory is critical, and decoded again in their turn")
    func pressure() async throws {
        let harness = AnimationHarness(FakeAnimation(20, loopCount: 0))
        var frames = try await harness.animation(countAhead: 4).makeAsyncIterator()
        let first = try await frames.next()
        #expect(first?.grey == 0)
        await harness.ahead(4)
        harness.pipeline.respond(to: .warning)
        #expect(harness.budget.byteCount == base + 2 * frame)
        harness.pipeline.respond(to: .critical)
        #expect(harness.budget.byteCount == base)
        for shown in 1...3 {
            #expect(try await frames.next()?.grey == shown)
            #expect(harness.budget.byteCount == base, "none is ahead of \(shown)")
        }
        // What was ahead was decoded twice, with what has to be drawn before it.
        #expect(harness.codec.decodes == [0, 1, 2, 3, 4, 0, 1, 2, 3])
        harness.pipeline.respond(to: .normal)
        for shown in 4...7 { #expect(try await frames.next()?.grey == shown) }
        await harness.ahead(4)
    }

    @Test("of an animation that begins while memory is critical are decoded one by one")
    func bornUnderPressure() async throws {
        let harness = AnimationHarness(FakeAnimation(5))
        harness.pipeline.respond(to: .critical)
        var greys: [Int] = []
        for try await next in try await harness.animation() {
            greys.append(next.grey)
            #expect(harness.budget.byteCount == base)
        }
        #expect(greys == [0, 1, 2, 3, 4])
        #expect(harness.codec.decodes == greys)
    }

    @Test("that are being decoded when memory becomes critical are not kept")
    func pressureWhileDecoding() async throws {
        let harness = AnimationHarness(FakeAnimation(20, isGated: true))
        harness.codec.openGate(2)
        var frames = try await harness.animation(countAhead: 3).makeAsyncIterator()
        #expect(try await frames.next()?.grey == 0)
        await eventually { harness.codec.decodes == [0, 1, 2] }
        harness.pipeline.respond(to: .critical)
        harness.codec.openGate(20)
        await harness.ahead(0)
        for shown in 1...4 { #expect(try await frames.next()?.grey == shown) }
    }

    @Test("that are ahead are released in the background") func background() async throws {
        let harness = AnimationHarness(FakeAnimation(20))
        var frames = try await harness.animation().makeAsyncIterator()
        _ = try await frames.next()
        await harness.ahead(2)
        harness.pipeline.enterBackground()
        #expect(harness.budget.byteCount == base)
        for shown in 1...4 { #expect(try await frames.next()?.grey == shown) }
        await harness.ahead(2)
    }

    @Test("that are being decoded when the program goes to the background are not kept")
    func backgroundWhileDecoding() async throws {
        let harness = AnimationHarness(FakeAnimation(20, isGated: true))
        harness.codec.openGate()
        var frames = try await harness.animation().makeAsyncIterator()
        #expect(try await frames.next()?.grey == 0)
        await eventually { harness.codec.decodes == [0, 1] }
        harness.pipeline.enterBackground()
        harness.codec.openGate(20)
        await harness.ahead(0)
        #expect(harness.codec.decodes == [0, 1])
        for shown in 1...3 { #expect(try await frames.next()?.grey == shown) }
        await harness.ahead(2)
    }
}
