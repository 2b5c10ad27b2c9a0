// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageLoading
import ImageTesting
import Logging
import Testing

@testable import PhotoLibrary

@Suite(.timeLimit(.minutes(10))) struct LibrarySearchTests {
    private struct Photo {
        let path: String
        let words: Set<String>
        let camera: String
        let rating: Int
        let location: (latitude: Double, longitude: Double)
        let year: Int
    }

    private static let vocabulary = [
        "beach", "bear", "Berlin", "Zürich", "straße", "cat", "castle", "dog", "Doğa", "sun",
        "sunset", "東京", "Москва", "x100", "100x",
    ]

    @Test("searches find what a scan of all descriptions finds")
    func bruteForce() async throws {
        let folder = try TestLibrary()
        var random = SeededRandom(seed: 3)
        let photos = try (0..<400).map { try Self.write($0, folder, &random) }
        let library = try folder.library()
        try await library.whileRunning {
            await eventually {
                library.status.isComplete && library.status.foundCount == photos.count
            }
            for word in Self.vocabulary + ["be", "sunse", "zur", "москв", "DOG", "東"] {
                let expected = photos.filter { photo in
                    photo.words.contains { Self.folded($0).hasPrefix(Self.folded(word)) }
                }
                let found = try await library.paths(word)
                #expect(Set(found) == Set(expected.map(\.path)), "\(word)")
                #expect(found.count == expected.count)
            }
            for stars in 1...5 {
                #expect(
                    try await Set(library.paths("rating:\(stars)"))
                        == Set(photos.filter { $0.rating >= stars }.map(\.path)))
            }
            let both = photos.filter { $0.camera == "Canon R5" && $0.year == 2021 }
            #expect(
                try await Set(library.paths("camera:\"canon r5\" 2021")) == Set(both.map(\.path)))
            let near = photos.filter { Self.isNear($0.location) }
            #expect(!near.isEmpty)
            #expect(try await Set(library.paths("near:48,11,40km")) == Set(near.map(\.path)))
            let nearBears = near.filter { $0.words.contains("bear") }
            #expect(
                try await Set(library.paths("bear near:48,11,40km"))
                    == Set(nearBears.map(\.path)))
            #expect(try await library.paths("camera:beach") == [])
            #expect(try await library.paths("near:here") == [])
        }
    }

    @Test("completions are the most frequent values")
    func completions() async throws {
        let folder = try TestLibrary()
        try folder.write("a b/1.jpg", "camera=Canon EOS 5D;keywords=sea,sand;city=Sesto")
        try folder.write("a b/2.jpg", "camera=Canon EOS 5D;keywords=sea")
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(on: ["a b/1.jpg", "a b/2.jpg"])
            let found = try await library.completions(of: "se", limit: 9)
            #expect(
                found == [
                    Completion(kind: "keyword", text: "sea", count: 2),
                    Completion(kind: "place", text: "Sesto", count: 1),
                ])
            #expect(try await library.completions(of: "eos", limit: 9).map(\.count) == [2])
            #expect(try await library.completions(of: "camera:", limit: 9).count == 1)
            #expect(try await library.completions(of: "%", limit: 9) == [])
            #expect(try await library.completions(of: "", limit: 9) == [])
        }
    }

    @Test("a search lists the newest 10,000 images, and says that it is cut")
    func cut() async throws {
        let folder = try TestLibrary()
        let store = try LibraryStore(
            directory: folder.storeDirectory, root: folder.root, logger: .init(label: "test"))
        var timeline = Timeline()
        for start in stride(from: 0, to: 12_000, by: 1_000) {
            timeline.apply(
                store.add(
                    (start..<start + 1_000).map(Self.foundFile),
                    toFolder: "f"))
        }
        let query = SearchQuery("word")
        let range = ImageID.range(ofDays: -200_000...200_000)
        let found = store.search(query, range, limit: PhotoLibrary.maximumMatchCount + 1)
        #expect(found.count == PhotoLibrary.maximumMatchCount + 1)
        let all = timeline.days.flatMap(\.ids).sorted(by: >)
        #expect(found == Array(all.prefix(found.count)))
        #expect(store.search(query, range, offset: 11_990, limit: 20) == Array(all.suffix(10)))
        store.close()
    }

    private static func foundFile(_ number: Int) -> FoundFile {
        let seconds = 1_600_000_000 + number
        let identity = FileIdentity(
            path: "word\(number)", byteCount: 1, modificationTime: seconds * 1_000_000_000,
            inode: UInt64(number))
        return FoundFile(name: "word\(number)", identity: identity)
    }

    private static func write(
        _ number: Int, _ folder: TestLibrary, _ random: inout SeededRandom
    ) throws -> Photo {
        let words = (0..<2).compactMap { _ in vocabulary.randomElement(using: &random) }
        let camera = ["Canon R5", "Nikon Z6"].randomElement(using: &random) ?? ""
        let rating = Int.random(in: 0...5, using: &random)
        let year = Int.random(in: 2019...2022, using: &random)
        let location = (
            latitude: 48 + Double.random(in: -1...1, using: &random),
            longitude: 11 + Double.random(in: -1...1, using: &random)
        )
        let name = "\(words[0]) \(number).jpg"
        try folder.write(
            "f/\(name)",
            """
            taken=\(year):06:01 10:00:00;camera=\(camera);rating=\(rating);\
            location=\(location.latitude),\(location.longitude);keywords=\(words[1])
            """)
        return Photo(
            path: "f/\(name)", words: Set(words), camera: camera, rating: rating,
            location: location, year: year)
    }

    private static func folded(_ word: String) -> String {
        word.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    /// By the law of cosines, unlike the search.
    private static func isNear(_ location: (latitude: Double, longitude: Double)) -> Bool {
        let (one, other) = (48 * Double.pi / 180, location.latitude * .pi / 180)
        let angle = acos(
            sin(one) * sin(other)
                + cos(one) * cos(other) * cos((location.longitude - 11) * .pi / 180))
        return angle * 6_371_008.8 <= 40_000
    }
}
