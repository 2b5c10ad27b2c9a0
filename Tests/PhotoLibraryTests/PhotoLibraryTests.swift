// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Synchronization
import Testing

@testable import PhotoLibrary

@Suite(.timeLimit(.minutes(10))) struct PhotoLibraryTests {
    @Test("images are in the order of their dates: metadata, file name, modification")
    func order() async throws {
        let folder = try TestLibrary()
        try folder.write("a/1.jpg", "taken=2020:01:01 10:00:00")
        try folder.write("b/c/IMG_20210101_100000.jpg")
        try folder.write("2.jpg", "taken=2022:01:01 10:00:00")
        try folder.write("now.jpg")
        let library = try folder.library()
        try await library.whileRunning {
            let expected = ["now.jpg", "2.jpg", "b/c/IMG_20210101_100000.jpg", "a/1.jpg"]
            try await library.settle(on: expected)
            #expect(try await library.paths() == expected)
            let timeline = try await library.timeline(matching: "")
            #expect(
                timeline.days.dropFirst().map(\.date) == ["2022-01-01", "2021-01-01", "2020-01-01"])
            #expect(timeline.aspects == Array(repeating: 147, count: 4))
            #expect(timeline.count == 4)
            let images = try await library.images(
                matching: "", inDays: -1...30_000, offset: 1, limit: 1)
            #expect(images.map(\.taken) == ["2022-01-01T10:00:00"])
            #expect(images.map(\.width) == [300])
        }
    }

    @Test("files that are added, changed, moved and removed")
    func changes() async throws {
        let folder = try TestLibrary()
        try folder.write("a/1.jpg", "taken=2020:01:01 10:00:00;camera=Canon")
        try folder.write("a/2.jpg", "taken=2020:01:02 10:00:00")
        try folder.write("b/3.jpg", "taken=2020:01:03 10:00:00")
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(on: ["a/1.jpg", "a/2.jpg", "b/3.jpg"])
            let generation = library.status.generation
            folder.described.withLock { $0 = [] }
            try folder.move("a/1.jpg", to: "b/one.jpg")
            try await library.settle(on: ["b/one.jpg", "a/2.jpg", "b/3.jpg"])
            #expect(try await library.paths("camera:canon") == ["b/one.jpg"])
            // What was read stays with the file.
            #expect(folder.described.withLock { $0 } == [])
            let partial = try await library.timeline(matching: "", since: generation)
            #expect(partial.isPartial)
            #expect(partial.days.map(\.date) == ["2020-01-01"])

            try folder.write("a/2.jpg", "taken=2021:01:02 10:00:00")
            try await eventually {
                try await library.paths().first == "a/2.jpg"
                    && library.status.isComplete
            }
            try folder.write("new/deep/4.jpg", "taken=2022:01:01 00:00:00")
            try await library.settle(
                on: ["new/deep/4.jpg", "a/2.jpg", "b/3.jpg", "b/one.jpg"])
            try folder.move("new", to: "newer")
            try await library.settle(
                on: ["newer/deep/4.jpg", "a/2.jpg", "b/3.jpg", "b/one.jpg"])
            try folder.remove("b")
            try await library.settle(on: ["newer/deep/4.jpg", "a/2.jpg"])
            #expect(try await library.completions(of: "canon", limit: 5) == [])
        }
    }

    @Test("a wait ends with a change, and with the library")
    func waits() async throws {
        let folder = try TestLibrary()
        try folder.write("1.jpg")
        let library = try folder.library()
        let running = Task { await library.run() }
        library.start()
        try await library.settle(on: ["1.jpg"])
        let generation = library.status.generation
        async let changed: Void = library.wait { $0.generation != generation && $0.isComplete }
        try folder.write("2.jpg")
        await changed
        #expect(try await library.paths().sorted() == ["1.jpg", "2.jpg"])
        async let never: Void = library.wait { _ in false }
        running.cancel()
        await running.value
        await never
        // Also one that begins after the end.
        await library.wait { _ in false }
    }

    @Test("a wait ends when its task is cancelled")
    func cancelledWait() async throws {
        let library = try TestLibrary().library()
        let (checks, sink) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            await library.wait { _ in
                sink.yield()
                return false
            }
        }
        for await _ in checks { break }
        waiting.cancel()
        await waiting.value
    }

    @Test("a folder that is replaced by another one of the same name")
    func replacedFolder() async throws {
        let folder = try TestLibrary()
        for path in ["a/1.jpg", "a/b/2.jpg", "c/3.jpg"] { try folder.write(path) }
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(on: ["a/1.jpg", "a/b/2.jpg", "c/3.jpg"])
            for round in 0..<20 {
                try folder.move("a", to: "x")
                try folder.move("c", to: "a")
                try folder.move("x", to: "c")
                let (one, other) = round % 2 == 0 ? ("c", "a") : ("a", "c")
                try await library.settle(
                    on: ["\(one)/1.jpg", "\(one)/b/2.jpg", "\(other)/3.jpg"])
                // The folders of the names are watched.
                try folder.write("a/new.jpg")
                try await library.settle(
                    on: ["\(one)/1.jpg", "\(one)/b/2.jpg", "\(other)/3.jpg", "a/new.jpg"])
                try folder.remove("a/new.jpg")
                try await library.settle(
                    on: ["\(one)/1.jpg", "\(one)/b/2.jpg", "\(other)/3.jpg"])
            }
        }
    }

    @Test("files whose names are exchanged stay in the library")
    func exchanged() async throws {
        let folder = try TestLibrary()
        let paths = (0..<6).map { "\($0 % 3)/\($0).jpg" }
        for (index, path) in paths.enumerated() { try folder.write(path, "size=\(index + 1)x9") }
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(on: paths)
            for round in 0..<60 {
                let (one, other) = (paths[round % 6], paths[(round * 5 + 1) % 6])
                guard one != other else { continue }
                try folder.move(one, to: "x")
                try folder.move(other, to: one)
                try folder.move("x", to: other)
            }
            try await library.settle(on: paths)
        }
    }

    @Test("a file whose time is set after it was written moves in the timeline")
    func times() async throws {
        let folder = try TestLibrary()
        for number in 1...2 { try folder.write("\(number).jpg") }
        let library = try folder.library()
        try await library.whileRunning {
            for (newest, other) in [("1.jpg", "2.jpg"), ("2.jpg", "1.jpg")] {
                for (name, year) in [(newest, 2.0), (other, 1.0)] {
                    let time = Date(timeIntervalSince1970: year * 365 * 86_400)
                    try FileManager.default.setAttributes(
                        [.modificationDate: time], ofItemAtPath: "\(folder.root)/\(name)")
                }
                try await eventually { try await library.paths() == [newest, other] }
            }
        }
    }

    @Test("a second start reads only what has changed meanwhile")
    func restart() async throws {
        let folder = try TestLibrary()
        for number in 0..<300 {
            try folder.write("\(number % 7)/\(number).jpg", "taken=2020:01:01 10:00:00")
        }
        let first = try folder.library()
        try await first.whileRunning {
            await eventually { first.status.isComplete && first.status.foundCount == 300 }
        }
        folder.described.withLock { $0 = [] }
        try folder.write("3/3.jpg", "taken=2023:01:01 10:00:00")
        try folder.remove("4")
        let second = try folder.library()
        try await second.whileRunning {
            try await eventually {
                let first = try await second.paths().first
                return second.status.isComplete && first == "3/3.jpg"
            }
            #expect(try await second.paths().count == 300 - 43)
        }
        #expect(folder.described.withLock { $0 } == ["3.jpg"])
    }

    @Test("names that look alike, links to folders and loops")
    func names() async throws {
        let folder = try TestLibrary()
        for name in ["\u{E9}.jpg", "e\u{301}.jpg"] {
            try folder.write("a/\(name)", "taken=2020:01:01 10:00:00")
        }
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.root)/a/loop", withDestinationPath: "..")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.root)/z", withDestinationPath: "a")
        let library = try folder.library()
        try await library.whileRunning {
            await eventually { library.status.isComplete }
            // Under one of the two paths.
            #expect(library.status.foundCount == 2)
            let names = try await library.paths().map { Array($0.utf8) }
            #expect(Set(names).count == 2)
        }
    }

    @Test("2,000 images of one second")
    func sameSecond() async throws {
        let folder = try TestLibrary()
        for number in 0..<2_000 {
            try folder.write("\(number).jpg", "taken=2020:01:01 10:00:00")
        }
        let library = try folder.library()
        try await library.whileRunning {
            await eventually {
                library.status.isComplete && library.status.foundCount == 2_000
            }
            let timeline = try await library.timeline(matching: "2020-01-01")
            #expect(timeline.days.map(\.count) == [2_000])
            #expect(Set(try await library.paths()).count == 2_000)
        }
    }

    @Test("an unreadable image has its error, and is read again when it changes")
    func unreadable() async throws {
        let folder = try TestLibrary()
        try folder.write("1.jpg", "error=damaged header")
        let library = try folder.library()
        try await library.whileRunning {
            try await library.settle(on: ["1.jpg"])
            let image = try await library.images(
                matching: "is:unreadable", inDays: 0...200_000, offset: 0, limit: 9)
            #expect(image.map(\.error) == ["damaged header"])
            try folder.write("1.jpg", "size=10x20")
            try await eventually {
                let image = try await library.images(
                    matching: "", inDays: 0...200_000, offset: 0, limit: 9)
                return image.first?.height == 20
            }
        }
    }

    @Test("a library that cannot be listed keeps what was read")
    func unmounted() async throws {
        let folder = try TestLibrary()
        for number in 0..<20 { try folder.write("a/\(number).jpg", "camera=Canon") }
        let first = try folder.library()
        try await first.whileRunning {
            await eventually { first.status.isComplete && first.status.foundCount == 20 }
        }
        folder.described.withLock { $0 = [] }
        let aside = folder.root + ".aside"
        try FileManager.default.moveItem(atPath: folder.root, toPath: aside)
        let second = try folder.library()
        try await second.whileRunning {
            await eventually { second.status.isComplete }
            #expect(second.status.foundCount == 20)
        }
        try FileManager.default.moveItem(atPath: aside, toPath: folder.root)
        let third = try folder.library()
        try await third.whileRunning {
            await eventually { third.status.isComplete && third.status.foundCount == 20 }
        }
        #expect(folder.described.withLock { $0 } == [])
    }
}
