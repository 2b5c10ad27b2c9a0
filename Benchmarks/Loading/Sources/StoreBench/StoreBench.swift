// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageLoading
import Logging
import Pixels

/// Measures the time to open and to read a store of many renditions.
@main struct StoreBench {
    static let usage = """
        usage: store-bench fill DIRECTORY COUNT BYTES
               store-bench read DIRECTORY COUNT HITS
        """
    static let clock = ContinuousClock()

    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        let numbers = words.dropFirst(2).compactMap { Int($0) }
        guard words.count == 4, numbers.count == 2, let verb = words.first,
            let directory = words.dropFirst().first
        else { return fail() }
        switch verb {
        case "fill": try fill(directory, count: numbers[0], byteCount: numbers[1])
        case "read": try read(directory, count: numbers[0], hitCount: numbers[1])
        default: fail()
        }
    }

    private static func fail() {
        FileHandle.standardError.write(Data((usage + "\n").utf8))
        exit(2)
    }

    private static func open(_ directory: String) throws -> RenditionStore {
        try RenditionStore(
            directory: directory, byteLimit: 1 << 40,
            logger: Logger(label: "store-bench") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A key with the form and length of those of the server.
    private static func key(_ number: Int) -> RenditionKey {
        RenditionKey(
            OriginalVersion(
                "/srv/photographs/2019/IMG_\(number / 3).jpg", version: "0abcdefghijkl"),
            request: """
                box=\(240 << (number % 3))x\(240 << (number % 3)) mode=fit enlarge=false \
                orient=true thumbnail=ignore kernel=lanczos3 srgb=true format=auto quality=80 \
                progressive=false chroma=half level=6
                """)
    }

    private static func fill(_ directory: String, count: Int, byteCount: Int) throws {
        let store = try open(directory)
        let start = clock.now
        var durations: [Duration] = []
        for number in 0..<count {
            let key = key(number)
            let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
            let rendition = Rendition(
                bytes: bytes, mediaType: "image/jpeg",
                pixelSize: PixelSize(width: 240, height: 160), original: key.original)
            durations.append(clock.measure { store.insert(rendition, for: key, freshUntil: 0) })
        }
        report("insert", durations)
        store.close()
        print("filled with \(count) of \(byteCount) bytes in \(start.duration(to: clock.now))")
    }

    private static func read(_ directory: String, count: Int, hitCount: Int) throws {
        let start = clock.now
        let store = try open(directory)
        let opened = start.duration(to: clock.now)
        var generator = SystemRandomNumberGenerator()
        var hits: [Duration] = []
        var misses: [Duration] = []
        let first = key(.random(in: 0..<count, using: &generator))
        let firstHit = clock.measure { precondition(store.rendition(for: first) != nil) }
        for _ in 0..<hitCount {
            let key = key(.random(in: 0..<count, using: &generator))
            hits.append(clock.measure { precondition(store.rendition(for: key) != nil) })
        }
        for number in 0..<hitCount {
            let key = key(count + number)
            misses.append(clock.measure { precondition(store.rendition(for: key) == nil) })
        }
        print("open \(milliseconds(opened)) ms, first hit \(milliseconds(firstHit)) ms")
        report("hit", hits)
        report("miss", misses)
        let closed = clock.measure { store.close() }
        print("close \(milliseconds(closed)) ms")
    }

    private static func report(_ name: String, _ durations: [Duration]) {
        let sorted = durations.sorted()
        let parts = [("median", 0.5), ("p99", 0.99), ("maximum", 1)].map { name, part in
            let index = min(sorted.count - 1, Int(Double(sorted.count) * part))
            return "\(name) \(milliseconds(sorted[index])) ms"
        }
        print("\(name): " + parts.joined(separator: ", "))
    }

    private static func milliseconds(_ duration: Duration) -> String {
        String(format: "%.3f", duration / .milliseconds(1))
    }
}
