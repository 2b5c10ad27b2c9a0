// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Synchronization
import Testing

@testable import PhotoLibrary

@Suite("Duplicates of a library", .timeLimit(.minutes(5))) struct DuplicateTests {
    private let folder: TestLibrary

    init() throws { folder = try TestLibrary() }

    /// Waits until all images have been compared; returns the groups by path, each sorted.
    private func groups(_ library: PhotoLibrary) async throws -> Set<[String]> {
        try await eventually { try await library.duplicates(offset: 0, limit: 1).isComplete }
        let found = try await library.duplicates(offset: 0, limit: 100)
        #expect(found.groups.count == found.groupCount)
        #expect(found.readCount == found.totalCount)
        return Set(
            found.groups.map { group in
                group.images.map { $0.folder.isEmpty ? $0.name : "\($0.folder)/\($0.name)" }
                    .sorted()
            })
    }

    @Test("are images that look alike and files that are equal; others are none")
    func found() async throws {
        try folder.write("1.jpg", "hash=ff,0")
        try folder.write("a/2.jpg", "hash=fe,1")
        try folder.write("a/3.jpg", "hash=ffffffff,0")
        try folder.write("4.jpg", "size=9x9")
        try folder.write("b/5.jpg", "size=9x9")
        // The same length, with other bytes.
        try folder.write("6.jpg", "size=8x8")
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(
                on: ["1.jpg", "a/2.jpg", "a/3.jpg", "4.jpg", "b/5.jpg", "6.jpg"])
            let found = try await groups(library)
            #expect(found == [["1.jpg", "a/2.jpg"], ["4.jpg", "b/5.jpg"]])
            let all = try await library.duplicates(offset: 0, limit: 9)
            for group in all.groups {
                let areEqual = group.images.contains { $0.name == "4.jpg" }
                #expect(group.firstEqual == (areEqual ? [0, 0] : [0, 1]))
            }
            let second = try await library.duplicates(offset: 1, limit: 9)
            #expect(second.groups.count == 1 && second.groupCount == 2)
        }
    }

    @Test("follow changes of the folder; what was read is kept after a restart, and by moved files")
    func changes() async throws {
        try folder.write("1.jpg", "hash=ff,0")
        try folder.write("2.jpg", "hash=ff,1")
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(on: ["1.jpg", "2.jpg"])
            let found = try await groups(library)
            #expect(found == [["1.jpg", "2.jpg"]])
            try folder.write("3.jpg", "hash=ff,2")
            try await library.settle(on: ["1.jpg", "2.jpg", "3.jpg"])
            let more = try await groups(library)
            #expect(more == [["1.jpg", "2.jpg", "3.jpg"]])
        }
        #expect(folder.hashed.withLock { $0 }.sorted() == ["1.jpg", "2.jpg", "3.jpg"])
        try folder.move("2.jpg", to: "4.jpg")
        try folder.remove("1.jpg")
        let next = try folder.library()
        try await next.whileRunning {
            try await next.settle(on: ["3.jpg", "4.jpg"])
            let found = try await groups(next)
            #expect(found == [["3.jpg", "4.jpg"]])
        }
        #expect(folder.hashed.withLock { $0 }.count == 3)
    }

    @Test("damage to the store of hashes costs a reading") func damage() async throws {
        try folder.write("1.jpg", "hash=ff,0")
        try folder.write("2.jpg", "hash=ff,1")
        for round in 1...2 {
            let library = try folder.library()
            try await library.whileRunning {
                try await library.settle(on: ["1.jpg", "2.jpg"])
                let found = try await groups(library)
                #expect(found == [["1.jpg", "2.jpg"]])
            }
            #expect(folder.hashed.withLock { $0 }.count == 2 * round)
            for name in try FileManager.default.contentsOfDirectory(
                atPath: folder.storeDirectory) where name.hasPrefix("hashes-")
            {
                try Data("damage".utf8).write(
                    to: URL(filePath: folder.storeDirectory).appending(path: name))
            }
        }
    }
}

@Suite("Near hashes") struct NearHashTests {
    @Test("all pairs up to a distance are joined, and no others", arguments: 0..<4)
    func pairs(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var hashes: [PerceptualHash] = []
        // Groups around random centres, at all distances.
        for _ in 0..<40 {
            let centre = PerceptualHash(
                across: random.next(), down: random.next())
            hashes.append(centre)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                hashes.append(
                    Self.flipped(centre, Int.random(in: 0...30, using: &random), &random))
            }
        }
        hashes.shuffle(using: &random)
        var near = NearHashes(count: hashes.count)
        near.joinNear(hashes.enumerated().map { ($0, $1) })
        // The transitive closure of all pairs.
        var expected = Array(hashes.indices)
        for one in hashes.indices {
            for other in hashes.indices.dropFirst(one + 1)
            where hashes[one].distance(to: hashes[other]) <= PerceptualHash.nearDistance {
                let (new, old) = (expected[one], expected[other])
                expected = expected.map { $0 == old ? new : $0 }
            }
        }
        let groups = Dictionary(grouping: hashes.indices) { expected[$0] }.values
            .filter { $0.count > 1 }
        #expect(Set(near.groups()) == Set(groups))
        #expect(!groups.isEmpty)
    }

    private static func flipped(
        _ hash: PerceptualHash, _ count: Int, _ random: inout SeededRandom
    ) -> PerceptualHash {
        var bits = Array(0..<128).shuffled(using: &random).prefix(count)
        var (across, down) = (hash.across, hash.down)
        while let bit = bits.popFirst() {
            if bit < 64 { across ^= 1 << bit } else { down ^= 1 << (bit - 64) }
        }
        return PerceptualHash(across: across, down: down)
    }
}
