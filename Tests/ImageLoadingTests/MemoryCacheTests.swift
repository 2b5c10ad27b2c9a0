// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import ImageLoading

@Suite("The memory cache") struct MemoryCacheTests {
    private static let unit = 64

    private func cache(units: Int, count: Int = .max) -> MemoryCache {
        MemoryCache(byteLimit: units * Self.unit, countLimit: count)
    }

    @Test("evicts the least recently used of images of equal worth")
    func leastRecentlyUsed() {
        let names = ["a", "b", "c", "d", "e"]
        let cache = cache(units: 5)
        for name in names { cache.put(name) }
        #expect(cache.byteCount == 5 * Self.unit)
        #expect(cache.image(for: .named("a")) != nil)
        cache.put("f")
        #expect(cache.byteCount == 5 * Self.unit)
        #expect(cache.present(names + ["f"]) == ["a", "c", "d", "e", "f"])
    }

    @Test("evicts at once when an insertion exceeds the count")
    func countLimit() {
        let cache = cache(units: 100, count: 2)
        for name in ["a", "b", "c"] {
            cache.put(name)
            #expect(cache.statistics.imageCount <= 2)
        }
        #expect(cache.present(["a", "b", "c"]) == ["b", "c"])
        #expect(cache.statistics.evictionCount == 1)
    }

    @Test("stores no image that exceeds its share, and evicts nothing for it")
    func largestShare() {
        let cache = cache(units: 4)
        #expect(cache.put("small"))
        #expect(!cache.put("large", units: 2))
        #expect(cache.present(["small", "large"]) == ["small"])
        #expect(cache.byteCount == Self.unit)
    }

    @Test("counts an image that is inserted again once, by its new size, as a use")
    func overwriting() {
        let cache = cache(units: 8)
        cache.put("a")
        cache.put("b")
        for units in [2, 1, 2] {
            cache.put("a", units: units)
            #expect(cache.byteCount == (units + 1) * Self.unit)
            #expect(cache.statistics.imageCount == 2)
        }
        for name in ["c", "d", "e", "f", "g", "h"] { cache.put(name) }
        #expect(cache.present(["a", "b"]) == ["a"])
    }

    @Test("does not find expired images, however often they were used")
    func lifetime() {
        let clock = TestClock()
        let cache = MemoryCache(byteLimit: 1_000, lifetime: .seconds(10), now: { clock.now })
        let held = LoadedImage.units(1, .named("a"))
        cache.insert(held)
        cache.put("b")
        clock.advance(by: .seconds(9))
        #expect(cache.image(for: held.key) === held)
        cache.put("b")
        // What only others hold is no younger for being found.
        cache.trim(toShare: 0)
        #expect(cache.image(for: held.key) === held)
        clock.advance(by: .seconds(1))
        #expect(!cache.contains(held.key))
        #expect(cache.image(for: held.key) == nil)
        cache.put("c")
        clock.advance(by: .seconds(10))
        #expect(cache.byteCount == Self.unit)
        cache.removeExpired()
        #expect(cache.byteCount == 0)
    }

    @Test("applies a lower limit at once")
    func loweringLimits() {
        let cache = cache(units: 8)
        for name in ["a", "b", "c", "d", "e", "f"] { cache.put(name) }
        cache.byteLimit = 4 * Self.unit
        #expect(cache.byteCount == 4 * Self.unit)
        cache.countLimit = 3
        #expect(cache.present(["a", "b", "c", "d", "e", "f"]) == ["d", "e", "f"])
        cache.byteLimit = 0
        #expect(cache.statistics.imageCount == 0)
    }

    @Test("keeps images that were used since the last eviction")
    func readSinceSweep() {
        let cache = cache(units: 4)
        for name in ["a", "b", "c", "d"] { cache.put(name) }
        #expect(cache.image(for: .named("b")) != nil)
        cache.trim(toShare: 0.25)
        #expect(cache.present(["a", "b", "c", "d"]) == ["b"])
    }

    @Test("stores nothing with a limit of 0, not even images that consumers hold")
    func limitOfZero() {
        for cache in [cache(units: 0), cache(units: 4, count: 0)] {
            let held = LoadedImage.units(1, .named("a"))
            #expect(!cache.insert(held))
            #expect(!cache.put("b", units: 0 + 1))
            #expect(cache.image(for: held.key) == nil)
            #expect(cache.statistics.imageCount == 0)
            #expect(cache.byteCount == 0)
        }
    }

    @Test("counts its contents exactly after any sequence of operations", arguments: 0..<8)
    func randomOperations(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let clock = TestClock()
        let cache = MemoryCache(
            byteLimit: 20 * Self.unit, countLimit: 12, lifetime: .seconds(50), now: { clock.now })
        let names = (0..<30).map { "\($0)" }
        var sizes: [String: Int] = [:]
        for _ in 0..<2_000 {
            guard let name = names.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                let units = Int.random(in: 1...6, using: &random)
                if cache.put(name, units: units) { sizes[name] = units }
            case 9..<15:
                let image = cache.image(for: .named(name))
                // What is found is what was put in last.
                #expect(image.map(\.image.size.height) == (image == nil ? nil : sizes[name]))
            case 15: cache.remove(.named(name))
            case 16: cache.trim(toShare: 0.8)
            case 17: cache.byteLimit = Int.random(in: 10...30, using: &random) * Self.unit
            case 18: cache.countLimit = Int.random(in: 6...20, using: &random)
            default: clock.advance(by: .seconds(2))
            }
            let statistics = cache.statistics
            // No view holds any of them, so an image that is not found is not in the cache, unless
            // it has expired and was not requested.
            cache.removeExpired()
            let live = cache.present(names).map { (sizes[$0] ?? 0) * Self.unit }
            #expect(cache.byteCount == live.reduce(0, +))
            #expect(cache.statistics.imageCount == live.count)
            #expect(statistics.byteCount <= cache.byteLimit)
            #expect(statistics.imageCount <= cache.countLimit)
        }
        cache.removeAll()
        #expect(cache.byteCount == 0)
    }

    @Test("evicts images of low cost for their size first")
    func cost() {
        let cache = cache(units: 8)
        cache.put("dear", cost: .milliseconds(100))
        cache.put("cheap", cost: .milliseconds(1))
        cache.put("large and dear", units: 2, cost: .milliseconds(100))
        cache.trim(toShare: 0.8)
        #expect(cache.present(["dear", "cheap", "large and dear"]) == ["dear", "large and dear"])
        cache.trim(toShare: 0.6)
        #expect(cache.present(["dear", "cheap", "large and dear"]) == ["dear"])
    }

    @Test("eventually evicts expensive images that are not used any more")
    func aging() {
        let cache = cache(units: 4)
        cache.put("dear", cost: .microseconds(10))
        var evictedAfter: Int?
        for number in 0..<1_000 where evictedAfter == nil {
            cache.put("\(number)", cost: .microseconds(1))
            if !cache.contains(.named("dear")) { evictedAfter = number }
        }
        // Each round of three lets what is new start from a microsecond more.
        #expect(evictedAfter.map { (20...40).contains($0) } == true)
    }

    @Test("evicts images far from the visible ones first, also after scrolling")
    func distance() {
        let cache = cache(units: 8)
        let names = ["0", "1", "2", "3", "4", "5"]
        let looked = Mutex(0.0)
        let distance: MemoryCache.Distance = { key in
            guard case .named(let name) = key.original, let place = Double(name) else { return 0 }
            return abs(place - looked.withLock { $0 })
        }
        cache.rank(byDistance: distance)
        for name in names { cache.put(name) }
        cache.trim(toShare: 0.5)
        #expect(cache.present(names) == ["0", "1", "2"])
        cache.removeAll()
        for name in names { cache.put(name) }
        looked.withLock { $0 = 5 }
        cache.rank(byDistance: distance)
        cache.trim(toShare: 0.5)
        #expect(cache.present(names) == ["3", "4", "5"])
    }

    @Test("counts hits and misses") func statistics() {
        let cache = cache(units: 4)
        cache.put("a")
        _ = cache.image(for: .named("a"))
        _ = cache.image(for: .named("b"))
        _ = cache.image(for: .named("a"))
        #expect(cache.contains(.named("a")))
        #expect(cache.statistics.hitCount == 2)
        #expect(cache.statistics.missCount == 1)
    }

    @Test("does not replace a finished image by a preview") func previews() {
        let cache = cache(units: 8)
        let key = ImageKey.named("a")
        cache.insert(.units(1, key, isPreview: true))
        #expect(cache.image(for: key)?.isPreview == true)
        cache.insert(.units(2, key))
        #expect(cache.image(for: key)?.isPreview == false)
        #expect(!cache.insert(.units(1, key, isPreview: true)))
        #expect(cache.image(for: key)?.isPreview == false)
        #expect(cache.byteCount == 2 * Self.unit)
    }
}

@Suite("An image that is in use") struct MemoryCacheUseTests {
    private let cache = MemoryCache(byteLimit: 4 * 64)
    private let shown = LoadedImage.units(1, .named("shown"))

    @Test("is found after its eviction, as the same object")
    func evicted() {
        cache.insert(shown)
        for number in 0..<8 { cache.put("\(number)") }
        #expect(cache.statistics.imageCount == 4)
        #expect(cache.state.withLock { $0.entries[shown.key]?.kept } == nil)
        #expect(cache.image(for: shown.key) === shown)
        // And is worth keeping again.
        #expect(cache.state.withLock { $0.entries[shown.key]?.kept } === shown)
        #expect(cache.byteCount == 4 * 64)
    }

    @Test("is found although it was too large to be stored") func tooLarge() {
        let large = LoadedImage.units(3, .named("large"))
        #expect(!cache.insert(large))
        #expect(cache.image(for: large.key) === large)
        #expect(cache.byteCount == 0)
    }

    @Test("is not found once it has no holder") func released() {
        let key = ImageKey.named("brief")
        do {
            let brief = LoadedImage.units(1, key)
            cache.insert(brief)
            cache.trim(toShare: 0)
            #expect(cache.contains(key))
            withExtendedLifetime(brief) {}
        }
        #expect(cache.image(for: key) == nil)
        #expect(cache.state.withLock { $0.entries.isEmpty })
    }

    @Test("is not found after removal by its key, its original or of all images")
    func removal() {
        let removals: [(MemoryCache) -> Void] = [
            { [shown] in $0.remove(shown.key) },
            { [shown] in $0.removeAll(of: shown.key.original) },
            { $0.removeAll() },
        ]
        for remove in removals {
            for isEvicted in [false, true] {
                cache.insert(shown)
                if isEvicted { cache.trim(toShare: 0) }
                #expect(cache.contains(shown.key))
                remove(cache)
                #expect(cache.image(for: shown.key) == nil)
                #expect(cache.statistics.imageCount == 0)
            }
        }
    }

    @Test("leaves nothing behind when it is one of very many")
    func purging() {
        let cache = MemoryCache(byteLimit: 4 * 64)
        for number in 0..<10_000 {
            let held = LoadedImage.units(1, .named("\(number)"))
            cache.insert(held)
            cache.trim(toShare: 0)
            withExtendedLifetime(held) {}
        }
        #expect(cache.state.withLock { $0.entries.count } <= 64)
        #expect(cache.state.withLock { $0.entriesByOriginal.count } <= 64)
    }

    @Test("is removed with its original, and others are not") func byOriginal() {
        for side in 1...3 {
            cache.insert(.units(1, .named("a", DecodeOptions(maximumSide: side))))
        }
        cache.put("b")
        cache.removeAll(of: .named("a"))
        #expect(cache.statistics.imageCount == 1)
        #expect(cache.contains(.named("b")))
    }
}
