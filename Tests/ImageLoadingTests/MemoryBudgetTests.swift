// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadScheduling
import Pixels
import Synchronization
import Testing

@testable import ImageLoading

@Suite("The memory budget", .timeLimit(.minutes(5))) struct MemoryBudgetTests {
    private let budget = MemoryBudget(byteLimit: 1_000)
    private let order = NameLog()

    /// Asks for room that there is not yet, and returns once it is waited for.
    private func reserve(
        _ name: String, _ byteCount: Int, _ priority: LoadPriority = .visible,
        as ticket: MemoryBudget.Ticket? = nil
    ) async -> Task<MemoryReservation, any Error> {
        let before = budget.waitingCount
        let task = Task {
            let reservation = try await budget.reserve(byteCount, priority: priority, as: ticket)
            order.append(name)
            return reservation
        }
        await eventually { budget.waitingCount > before }
        return task
    }

    /// Returns a cache with `count` images of 64 bytes that no view holds.
    private func cache(_ count: Int) -> MemoryCache {
        let cache = MemoryCache(byteLimit: 1_000, budget: budget)
        for number in 0..<count { #expect(cache.put("\(number)")) }
        return cache
    }

    @Test("calls the caches in order, and no more of them than necessary")
    func caches() throws {
        let first = cache(5)
        let tiles = TileCache(byteLimit: 1_000, budget: budget)
        for x in 0..<5 { tiles.put(x) }
        #expect((first.byteCount, tiles.byteCount) == (320, 320))

        let one = try #require(budget.tryReserve(600))
        #expect((first.byteCount, tiles.byteCount) == (64, 320))
        let other = try #require(budget.tryReserve(200))
        #expect((first.byteCount, tiles.byteCount) == (0, 192))
        #expect(budget.byteCount == 992)

        // There is no room for another, and none is taken.
        let third = try #require(budget.tryReserve(190))
        #expect(tiles.byteCount == 0)
        tiles.put(9)
        #expect(tiles.byteCount == 0)
        one.release()
        tiles.put(9)
        #expect(budget.byteCount == 200 + 190 + 64)
        tiles.removeAll()
        #expect(budget.byteCount == 200 + 190)
        withExtendedLifetime((other, third)) {}
    }

    @Test("evicts half of the tiles on a warning, and all when memory is critical")
    func pressure() {
        let tiles = TileCache(byteLimit: 1_000, budget: budget)
        for x in 0..<4 { tiles.put(x) }
        tiles.respond(to: .normal)
        #expect(budget.byteCount == 256)
        tiles.respond(to: .warning)
        #expect(budget.byteCount == 128)
        tiles.respond(to: .critical)
        #expect((budget.byteCount, tiles.byteCount) == (0, 0))
    }

    @Test("decodes a level once it fits, and reserves the bytes of its tiles") func level()
        async throws
    {
        let maker = TileMaker()
        var configuration = maker.configuration
        configuration.directPixelCount = 1 << 20
        let budget = MemoryBudget(byteLimit: 100_000)
        let image = try TiledImage(
            ImageSource(
                FormulaCodec.file(PixelSize(width: 128, height: 128)), codecs: maker.codecs),
            name: "picture", codecs: maker.codecs, queue: maker.queue,
            cache: TileCache(budget: budget), configuration: configuration)
        let other = try await budget.reserve(100_000)
        let tile = Task { try await image.tile(TileAddress(level: 0, x: 0, y: 0)) }
        await eventually { budget.waitingCount == 1 }
        #expect(maker.codec.decodes.begun == 0)
        other.release()
        #expect(try await tile.value.size == PixelSize(width: 64, height: 64))
        #expect(budget.byteCount == image.cache.byteCount)
        #expect(budget.byteCount == 4 * 64 * 192)
        await maker.queue.close()
    }

    @Test("regains reservations that are released, in whole or in part")
    func releasing() async throws {
        var reservation: MemoryReservation? = try await budget.reserve(600)
        #expect(budget.byteCount == 600)
        reservation?.shrink(to: 400)
        #expect(budget.byteCount == 400)
        reservation?.release()
        reservation?.release()
        #expect(budget.byteCount == 0)
        reservation = try await budget.reserve(1_000)
        #expect(budget.byteCount == 1_000)
        reservation = nil
        #expect(budget.byteCount == 0)
        withExtendedLifetime(reservation) {}
    }

    @Test("rejects at once a reservation that can never fit, so that a smaller image can be made")
    func tooMuch() async {
        let expected = LoadError.memoryBudgetExceeded(needed: 1_001, allowed: 1_000)
        await #expect(throws: expected) { try await budget.reserve(1_001) }
        #expect(budget.tryReserve(1_001) == nil)
        #expect(budget.byteCount == 0)
    }

    @Test("rejects a waiting reservation once it can no longer fit") func limitLowered()
        async throws
    {
        let running = try await budget.reserve(500)
        let waiting = await reserve("large", 900)
        budget.byteLimit = 800
        let expected = LoadError.memoryBudgetExceeded(needed: 900, allowed: 800)
        await #expect(throws: expected) { try await waiting.value }
        withExtendedLifetime(running) {}
    }

    @Test("lets a decode wait until another is over") func waiting() async throws {
        let running = try await budget.reserve(800)
        let waiting = await reserve("waiting", 300)
        #expect(budget.byteCount == 800)
        running.release()
        #expect(try await waiting.value.byteCount == 300)
    }

    @Test("admits by priority, then by age, and nothing past a large reservation")
    func queueing() async throws {
        let running = try await budget.reserve(400)
        let second = try await budget.reserve(600)
        let tasks = [
            "background": await reserve("background", 600, .background),
            "large": await reserve("large", 950),
            "small": await reserve("small", 600),
            "prefetch": await reserve("prefetch", 600, .prefetch),
        ]
        // Now there would be room for each but the first.
        second.release()
        #expect(budget.waitingCount == 4)
        #expect(budget.tryReserve(1) == nil)
        running.release()
        let expected = ["large", "small", "prefetch", "background"]
        for name in expected { try await tasks[name]?.value.release() }
        #expect(order.names == expected)
    }

    @Test("does not starve a large decode by small ones that fit") func starvation() async throws {
        let running = try await budget.reserve(500)
        let large = await reserve("large", 1_000)
        var small: [Task<MemoryReservation, any Error>] = []
        for number in 0..<10 { small.append(await reserve("\(number)", 10)) }
        #expect(budget.waitingCount == 11)
        running.release()
        let reservation = try await large.value
        #expect(budget.waitingCount == 10)
        reservation.release()
        for task in small { #expect(try await task.value.byteCount == 10) }
    }

    @Test("removes a cancelled reservation and admits those behind it") func cancelling()
        async throws
    {
        let running = try await budget.reserve(900)
        let leaving = await reserve("large", 200)
        let staying = await reserve("small", 100)
        leaving.cancel()
        await #expect(throws: LoadError.cancelled) { try await leaving.value }
        #expect(try await staying.value.byteCount == 100)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await budget.reserve(500)
        }
        await #expect(throws: LoadError.cancelled) { try await cancelled.value }
        #expect(budget.waitingCount == 0)
        withExtendedLifetime(running) {}
    }

    @Test("raises the priority of a waiting reservation, which keeps its age") func raising()
        async throws
    {
        let running = try await budget.reserve(1_000)
        let tickets = [budget.makeTicket(), budget.makeTicket()]
        var tasks = [await reserve("visible", 1_000, .visible)]
        tasks.append(await reserve("second", 1_000, .background, as: tickets[1]))
        tasks.append(await reserve("first", 1_000, .background, as: tickets[0]))
        for ticket in tickets { budget.move(ticket, to: .visible) }
        running.release()
        for task in [tasks[2], tasks[1], tasks[0]] { try await task.value.release() }
        #expect(order.names == ["first", "second", "visible"])
    }

    @Test("is shared by cached images, decodes in flight and frames of animations")
    func oneAccount() async throws {
        let cache = cache(4)
        #expect(budget.byteCount == cache.byteCount)
        let frame = try #require(budget.tryReserve(100))
        let decode = try await budget.reserve(500)
        #expect(budget.byteCount == 4 * 64 + 600)
        // The cache evicts as much as is needed before a load waits.
        let second = try await budget.reserve(200)
        #expect(cache.statistics.imageCount == 3)
        #expect(budget.byteCount == 3 * 64 + 800)
        let third = try await budget.reserve(200)
        #expect(cache.statistics.imageCount == 0)
        // What is in flight is not the cache's to give.
        let waiting = await reserve("waiting", 200)
        decode.release()
        _ = try await waiting.value
        cache.removeAll()
        withExtendedLifetime((frame, second, third)) {}
    }

    @Test("keeps the bytes of a decode reserved for its image")
    func becomingCached() async throws {
        let cache = cache(0)
        let decode = try await budget.reserve(900)
        let image = LoadedImage.units(2, .named("a"))
        #expect(cache.insert(image, charging: decode))
        #expect(decode.byteCount == 0)
        #expect(budget.byteCount == 128)
        cache.remove(image.key)
        #expect(budget.byteCount == 0)
    }

    @Test("evicts an image that has reached the cache for a waiting decode")
    func waitingForCached() async throws {
        let cache = cache(0)
        let decodes = [try await budget.reserve(128), try await budget.reserve(700)]
        let waiting = await reserve("waiting", 300)
        cache.insert(.units(2, .named("a")), charging: decodes[0])
        #expect(try await waiting.value.byteCount == 300)
        #expect(cache.byteCount == 0)
        withExtendedLifetime(decodes) {}
    }

    @Test("lets the cache evict the bytes above a lowered limit") func cacheOverLowerLimit() {
        let cache = cache(4)
        budget.byteLimit = 150
        #expect(cache.byteCount == 128)
        #expect(budget.byteCount == 128)
    }

    @Test("keeps no image in the cache that does not fit") func fullOfOthers() throws {
        let cache = cache(2)
        let frames = try #require(budget.tryReserve(1_000))
        #expect(cache.byteCount == 0)
        let shown = LoadedImage.units(1, .named("shown"))
        #expect(!cache.insert(shown))
        #expect(cache.image(for: shown.key) === shown)
        #expect(budget.byteCount == 1_000)
        frames.release()
        #expect(budget.byteCount == 0)
    }

    @Test("never has more reserved than its limit, and loses no byte", arguments: 0..<4)
    func manyTasks(seed: UInt64) async throws {
        let cache = cache(3)
        let highest = await withTaskGroup(of: Int.self) { [budget] group in
            for number in UInt64(0)..<64 {
                group.addTask {
                    var random = SeededRandom(seed: seed * 1_000 + number)
                    let units = Int.random(in: 1...3, using: &random)
                    let byteCount = units * 64 + Int.random(in: 0...500, using: &random)
                    guard let reservation = try? await budget.reserve(byteCount) else { return 0 }
                    let reserved = budget.byteCount
                    await Task.yield()
                    if Bool.random(using: &random) {
                        cache.insert(.units(units, .named("\(number)")), charging: reservation)
                    }
                    return reserved
                }
            }
            if seed % 2 == 1 { group.cancelAll() }
            return await group.reduce(0) { max($0, $1) }
        }
        #expect(highest > 0 && highest <= 1_000)
        #expect(budget.waitingCount == 0)
        #expect(budget.byteCount == cache.byteCount)
        cache.removeAll()
        #expect(budget.byteCount == 0)
    }
}

/// Names in the order in which they came.
private final class NameLog: Sendable {
    private let log = Mutex<[String]>([])

    var names: [String] { log.withLock { $0 } }

    func append(_ name: String) { log.withLock { $0.append(name) } }
}

extension TileCache {
    /// A tile of 64 bytes.
    fileprivate func put(_ x: Int) {
        insert(
            DecodedTile(TestImage.flat(PixelSize(width: 64, height: 1), .gray8, [7]), nil),
            Key(image: "picture", tile: TileAddress(level: 0, x: x, y: 0)))
    }
}
