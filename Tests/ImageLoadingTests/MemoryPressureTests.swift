// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EncodedImages
import Foundation
import ImageTesting
import LoadingTesting
import Synchronization
import Testing

@testable import ImageLoading

@Suite("Memory pressure", .timeLimit(.minutes(5))) struct MemoryPressureTests {
    private static let calm = """
        some avg10=0.00 avg60=0.00 avg300=0.09 total=33869512
        full avg10=0.00 avg60=0.00 avg300=0.06 total=22772136

        """
    /// As Linux 6.18 writes them within a group that is full of what a process wrote.
    private static let events = """
        low 0
        high 0
        max 17
        oom 1
        oom_kill 1
        oom_group_kill 0

        """

    private func files(
        some: Double = 0, full: Double = 0, _ change: (inout MemoryStatusFiles) -> Void = { _ in }
    ) -> MemoryStatusFiles {
        var files = MemoryStatusFiles()
        files.pressure = """
            some avg10=\(some) avg60=0.00 avg300=0.09 total=33869512
            full avg10=\(full) avg60=0.00 avg300=0.06 total=22772136

            """
        change(&files)
        return files
    }

    @Test("is read from the files of the kernel") func parsing() {
        var files = MemoryStatusFiles()
        files.pressure = """
            some avg10=12.34 avg60=0.50 avg300=0.09 total=33869512
            full avg10=1.50 avg60=0.20 avg300=0.06 total=22772136

            """
        files.events = Self.events
        files.current = "104857600\n"
        files.high = "max\n"
        files.max = "209715200\n"
        files.statistics = "anon 4096\ninactive_anon 8192\ninactive_file 4857600\nfile 1\n"
        let status = MemoryStatus(files)
        #expect(status.stall == MemoryStatus.Stall(some: 12.34, full: 1.5))
        #expect(status.events == MemoryStatus.Events(high: 0, max: 17, outOfMemory: 1))
        #expect(status.byteCount == 100_000_000)
        #expect(status.highByteCount == nil)
        #expect(status.maximumByteCount == 209_715_200)
    }

    @Test("is none where the files are missing or malformed")
    func unreadable() {
        #expect(MemoryStatus(MemoryStatusFiles()).level(after: nil) == .normal)
        var files = MemoryStatusFiles()
        for text in ["", "\n", "some", "some avg10=x", "max", "-1", "high\nmax 1 2\n= = ="] {
            files.pressure = text
            files.events = text
            files.current = text
            files.high = text
            files.max = text
            files.statistics = text
            let status = MemoryStatus(files)
            #expect(status.stall == nil)
            #expect(status.level(after: status) != .warning)
        }
    }

    @Test("grows with the time in which tasks stall on memory") func stalls() {
        let expected: [(Double, Double, MemoryPressureLevel)] = [
            (0, 0, .normal), (9.9, 0, .normal), (10, 0, .warning), (39, 4.9, .warning),
            (40, 0, .critical), (10, 5, .critical),
        ]
        for (some, full, level) in expected {
            let status = MemoryStatus(files(some: some, full: full))
            #expect(status.level(after: nil) == level, "\(some) \(full)")
        }
    }

    @Test("grows with the memory of the control group, without inactive files")
    func groupUse() {
        let expected: [(Int, Int, String, String, MemoryPressureLevel)] = [
            (800, 0, "max", "1000", .normal), (850, 0, "max", "1000", .warning),
            (950, 0, "max", "1000", .critical), (990, 300, "max", "1000", .normal),
            (500, 0, "500", "1000", .warning), (500, 0, "501", "max", .normal),
        ]
        for (current, inactive, high, max, level) in expected {
            let status = MemoryStatus(
                files {
                    $0.current = "\(current)\n"
                    $0.statistics = "inactive_file \(inactive)\n"
                    $0.high = "\(high)\n"
                    $0.max = "\(max)\n"
                })
            #expect(status.level(after: nil) == level, "\(current)")
        }
    }

    @Test("grows when the control group meets a limit, not because it once did")
    func groupEvents() {
        func status(high: Int, max: Int, oom: Int) -> MemoryStatus {
            MemoryStatus(files { $0.events = "low 0\nhigh \(high)\nmax \(max)\noom \(oom)\n" })
        }
        let before = status(high: 3, max: 17, oom: 1)
        #expect(before.level(after: nil) == .normal)
        #expect(before.level(after: before) == .normal)
        #expect(status(high: 4, max: 17, oom: 1).level(after: before) == .warning)
        #expect(status(high: 3, max: 18, oom: 1).level(after: before) == .warning)
        #expect(status(high: 3, max: 17, oom: 2).level(after: before) == .critical)
    }

    @Test("is reported when it changes, and only then") func watching() async {
        let source = FakeMemoryFiles()
        let (levels, sink) = AsyncStream.makeStream(of: MemoryPressureLevel.self)
        let pressure = MemoryPressure(source: source) { sink.yield($0) }
        for some in [0.0, 0, 15, 20, 50, 50, 3, 0, 12] { source.send(files(some: some)) }
        var told: [MemoryPressureLevel] = []
        for await level in levels {
            told.append(level)
            if told.count == 4 { break }
        }
        #expect(told == [.warning, .critical, .normal, .warning])
        pressure.stop()
    }

    @Test("is observed until the last reference is gone") func ending() async {
        let source = FakeMemoryFiles()
        var pressure: MemoryPressure? = MemoryPressure(source: source) { _ in }
        #expect(!source.isStopped)
        pressure = nil
        #expect(source.isStopped)
        withExtendedLifetime(pressure) {}
    }

    @Test("evicts a share of the cache, and images on screen are still found")
    func trimming() {
        let cache = MemoryCache(byteLimit: 100 * 64)
        let shown = LoadedImage.units(1, .named("shown"))
        let reactions: [(Int, (MemoryCache) -> Void)] = [
            (20, { $0.respond(to: .normal) }), (10, { $0.respond(to: .warning) }),
            (5, { $0.enterBackground() }), (0, { $0.respond(to: .critical) }),
        ]
        for (remaining, react) in reactions {
            cache.removeAll()
            cache.insert(shown)
            for number in 1..<20 { cache.put("\(number)") }
            #expect(cache.statistics.imageCount == 20)
            react(cache)
            #expect(cache.statistics.imageCount == remaining)
            #expect(cache.byteCount == remaining * 64)
            #expect(cache.image(for: shown.key) === shown)
            let before = cache.statistics
            cache.respond(to: .normal)
            #expect(cache.statistics == before)
        }
    }

    @Test("is found in the group that the process is in")
    func groupFiles() throws {
        let folder = try TestFolder()
        func write(_ path: String, _ text: String) throws {
            let url = folder.url.appending(path: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        try write("proc/self/cgroup", "4:memory:/old\n0::/app/worker\n")
        try write("proc/pressure/memory", Self.calm)
        try write("groups/app/worker/memory.events", Self.events)
        try write("groups/app/worker/memory.max", "1000\n")
        try write("groups/app/worker/memory.current", "900\n")
        let files = LinuxMemoryFiles(
            systemFolder: folder.url.appending(path: "proc").path,
            groupsFolder: folder.url.appending(path: "groups").path
        ).read()
        #expect(files.events == Self.events)
        #expect(files.high == nil)
        #expect(MemoryStatus(files).level(after: nil) == .warning)
    }

    @Test("is read from this machine, and the observation can be stopped")
    func thisMachine() {
        let machine = LinuxMemoryFiles()
        let status = MemoryStatus(machine.read())
        #expect(status.stall.map { (0...100).contains($0.some) } ?? true)
        machine.stop()
        #expect(machine.next() == nil)
        let empty = LinuxMemoryFiles(systemFolder: "/nowhere", groupsFolder: "/nowhere")
        #expect(empty.read() == MemoryStatusFiles())
    }

    @Test(
        "returns freed memory to the system, also from below memory in use",
        .disabled(if: Sanitizer.replacesAllocator, "sanitizers replace the allocator"))
    func returned() throws {
        func held() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(pages.split(separator: " ")[1])) * 4_096
        }
        var large: [[UInt8]] = []
        var small: [[UInt8]] = []
        for _ in 0..<2_560 {
            large.append(Array(repeating: 1, count: 100_000))
            small.append(Array(repeating: 1, count: 1_000))
        }
        large.removeAll()
        let before = try held()
        returnFreedMemory()
        // Other tests run beside this one.
        #expect(try held() < before - 128 << 20)
        withExtendedLifetime(small) {}
    }
}

/// Says what a test tells it to.
private final class FakeMemoryFiles: MemoryStatusSource {
    private let waiting = Mutex<[MemoryStatusFiles?]>([])
    private let stopped = Mutex(false)
    private let signal = DispatchSemaphore(value: 0)

    var isStopped: Bool { stopped.withLock { $0 } }

    func send(_ files: MemoryStatusFiles) {
        waiting.withLock { $0.append(files) }
        signal.signal()
    }

    func next() -> MemoryStatusFiles? {
        signal.wait()
        return waiting.withLock { $0.removeFirst() }
    }

    func stop() {
        stopped.withLock { $0 = true }
        waiting.withLock { $0.append(nil) }
        signal.signal()
    }
}
