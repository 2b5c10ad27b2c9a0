// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite("Planes in memory", .enabled(if: builtInCodecs.codec(named: "jpeg") != nil))
struct ReducedImagesTests {
    private func planes(_ side: Int = 48) throws -> ReducedImage {
        let image = TestImage.photograph(PixelSize(width: 800, height: 600))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        return try #require(
            try source.decodedSizes(
                [DecodeOptions(maximumSide: side)], planesByteCount: 1 << 20
            ).reduced)
    }

    private func identities(_ count: Int) -> [FileIdentity] {
        (0..<count).map {
            FileIdentity(path: "\($0)", byteCount: 1, modificationTime: 1, inode: UInt64($0))
        }
    }

    @Test("of the least recently used file are evicted") func eviction() throws {
        let planes = try planes()
        let files = identities(6)
        let budget = MemoryBudget(byteLimit: 1 << 30)
        let reduced = ReducedImages(byteLimit: 5 * planes.byteCount, budget: budget)
        for file in files.prefix(5) { reduced.insert(planes, of: file) }
        #expect(reduced.byteCount == 5 * planes.byteCount)
        #expect(reduced.images(of: files[0]).count == 1)
        reduced.insert(planes, of: files[5])
        #expect(files.map { reduced.images(of: $0).count } == [1, 0, 1, 1, 1, 1])
        #expect(budget.byteCount == 5 * planes.byteCount)
        reduced.removeAll(of: files[0])
        #expect(budget.byteCount == 4 * planes.byteCount)
        reduced.removeAll()
        #expect(reduced.byteCount == 0 && budget.byteCount == 0)
    }

    @Test("are kept once for each choice of the decoder") func choices() throws {
        let file = identities(1)[0]
        let (small, same, large) = (try planes(), try planes(44), try planes(90))
        let budget = MemoryBudget(byteLimit: 1 << 30)
        let reduced = ReducedImages(byteLimit: 1 << 24, budget: budget)
        for image in [small, same, large] { reduced.insert(image, of: file) }
        #expect(reduced.images(of: file).count == 2)
        #expect(reduced.byteCount == small.byteCount + large.byteCount)
        #expect(budget.byteCount == reduced.byteCount)
    }

    @Test("are kept where further sizes of files are requested") func worth() {
        let files = identities(40)
        let reduced = ReducedImages(byteLimit: 4 << 20, budget: MemoryBudget(byteLimit: 1 << 30))
        for file in files { #expect(!reduced.noteSizes(1, of: file)) }
        // There is room for four files.
        #expect(!reduced.noteSizes(1, of: files[30]))
        #expect(reduced.noteSizes(1, of: files[38]))
        #expect(reduced.noteSizes(2, of: files[0]))
        for _ in 0..<4 { #expect(reduced.noteSizes(1, of: files[0])) }
        #expect(reduced.noteSizes(1, of: files[1]))
        for file in files { _ = reduced.noteSizes(1, of: file) }
        #expect(!reduced.noteSizes(1, of: files[1]))
        let none = ReducedImages(byteLimit: 0, budget: MemoryBudget(byteLimit: 1 << 30))
        #expect(!none.noteSizes(2, of: files[0]))
    }

    @Test("make room for other users of the budget") func budget() throws {
        let planes = try planes()
        let files = identities(2)
        let budget = MemoryBudget(byteLimit: 2 * planes.byteCount)
        let reduced = ReducedImages(byteLimit: 1 << 24, budget: budget)
        for file in files { reduced.insert(planes, of: file) }
        let reservation = try #require(budget.tryReserve(planes.byteCount))
        #expect(files.map { reduced.images(of: $0).count } == [0, 1])
        // Without room nothing is kept.
        let rest = try #require(budget.tryReserve(planes.byteCount))
        reduced.insert(planes, of: files[0])
        #expect(reduced.byteCount == 0)
        withExtendedLifetime((reservation, rest)) {}
        let none = ReducedImages(byteLimit: 0, budget: MemoryBudget(byteLimit: 1 << 30))
        none.insert(planes, of: files[0])
        #expect(none.byteCount == 0)
    }
}
