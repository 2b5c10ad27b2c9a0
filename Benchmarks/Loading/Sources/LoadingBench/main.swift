// SPDX-License-Identifier: Apache-2.0

// Measures the overhead of the pipeline: cache hits, and requests that share a load.
//
// Build it with `swift build -c release`. Argument: a small image, because its decode is measured,
// too.

import CAllocationCount
import EncodedImages
import Foundation
import ImageCodecs
import ImageLoading
import LoadScheduling
import Logging
import Pixels
import Synchronization

/// A loader that returns its bytes once the expected number of requests has been made.
final class HeldLoader: OriginalLoader {
    private let bytes: [UInt8]
    private let expectedCount: Int
    private let requestCount = Atomic<Int>(0)
    private let allRequested = AsyncStream<Void>.makeStream()
    private let loads = Atomic<Int>(0)

    var loadCount: Int { loads.load(ordering: .relaxed) }

    init(_ bytes: [UInt8], expectedCount: Int) {
        self.bytes = bytes
        self.expectedCount = expectedCount
    }

    func countRequest() {
        if requestCount.add(1, ordering: .relaxed).newValue == expectedCount {
            allRequested.continuation.finish()
        }
    }

    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8] {
        loads.add(1, ordering: .relaxed)
        for await _ in allRequested.stream {}
        return bytes
    }
}

/// Prints nanoseconds and allocations per call, five times.
func measure(_ name: String, count: Int, _ body: (Int) async throws -> Void) async throws {
    for _ in 0..<5 {
        let before = calotype_allocation_count()
        let start = ContinuousClock.now
        for index in 0..<count { try await body(index) }
        let time = start.duration(to: .now)
        let allocations = Double(calotype_allocation_count() - before) / Double(count)
        print("\(name): \(Int(time / .nanoseconds(count))) ns, \(allocations) allocations")
    }
}

let path = CommandLine.arguments[1]
let original = OriginalIdentity.file(try FileIdentity(path: path))
let pixels = MutablePixelBuffer(size: PixelSize(width: 8, height: 8), format: .rgb8).finish()
let keys = (1...4096).map {
    ImageKey(original: original, options: DecodeOptions(maximumSide: $0))
}
let order = (0..<4096).map { _ in Int.random(in: keys.indices) }
let cache = MemoryCache(byteLimit: 1 << 30)
for key in keys {
    cache.insert(LoadedImage(pixels, key: key, originalSize: pixels.size))
}
try await measure("memory cache, hit", count: 1_000_000) { index in
    precondition(cache.image(for: keys[order[index % order.count]]) != nil, "a miss")
}

let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
let pipeline = ImagePipeline(
    codecs: builtInCodecs, configuration: ImagePipeline.Configuration(), logger: logger)
let request = ImageRequest(path: path, options: DecodeOptions(maximumSide: 100))
let shown = try await pipeline.image(for: request)
try await measure("cachedImage(for:), hit", count: 1_000_000) { _ in
    precondition(pipeline.cachedImage(for: request) === shown, "a miss")
}

let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
let data = ImageRequest(
    .bytes(EncodedBytes(bytes), name: "data"), options: DecodeOptions(maximumSide: 100))
let ofData = try await pipeline.image(for: data)
try await measure("image(for:), hit", count: 100_000) { _ in
    let image = try await pipeline.image(for: data)
    precondition(image === ofData, "a miss")
}

let count = 10_000

/// Runs `count` tasks concurrently and prints their total time.
func together(_ name: String, _ body: @escaping @Sendable () async throws -> LoadedImage)
    async throws
{
    let before = calotype_allocation_count()
    let start = ContinuousClock.now
    let images = try await withThrowingTaskGroup(of: LoadedImage.self) { group in
        for _ in 0..<count { group.addTask { try await body() } }
        var images: Set<ObjectIdentifier> = []
        for try await image in group { images.insert(ObjectIdentifier(image)) }
        return images.count
    }
    let time = start.duration(to: .now)
    let allocations = Int(calotype_allocation_count() - before) / count
    print(
        "\(count) \(name): \(time / .milliseconds(1)) ms, \(allocations) allocations each, \(images) image"
    )
}

for round in 0..<(Int(CommandLine.arguments.dropFirst(2).first ?? "") ?? 5) {
    // The overhead of Swift concurrency: the last task resumes all others.
    let waiting = Mutex<[CheckedContinuation<LoadedImage, Never>]>([])
    try await together("tasks that only wait") {
        await withCheckedContinuation { continuation in
            let all = waiting.withLock { waiting in
                waiting.append(continuation)
                defer { if waiting.count == count { waiting = [] } }
                return waiting.count == count ? waiting : []
            }
            for continuation in all { continuation.resume(returning: shown) }
        }
    }

    let loader = HeldLoader(bytes, expectedCount: count)
    let request = ImageRequest(
        .loader(loader, name: "shared \(round)"), options: DecodeOptions(maximumSide: 100))
    try await together("equal requests") {
        loader.countRequest()
        return try await pipeline.image(for: request)
    }
    precondition(loader.loadCount == 1, "loaded more than once")
}
await pipeline.close()
