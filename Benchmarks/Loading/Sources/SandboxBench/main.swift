// SPDX-License-Identifier: Apache-2.0

// Measures the overhead of the sandbox: the CPU time to reduce a photograph, and the latency of a
// tiny image. Both are compared with decoding in this process, in alternation. Then the CPU time of
// workers from their start to their end, by the libraries that they load.
//
// Arguments: the worker, a large photograph, a tiny image.

import DecoderSandbox
import EncodedImages
import Glibc
import ImageCodecs
import Pixels

let arguments = CommandLine.arguments
guard arguments.count == 4 else { fatalError("usage: sandbox-bench WORKER PHOTOGRAPH TINY-IMAGE") }
let rounds = 9

/// Decodes a file at 400 pixels, `count` times.
func decode(_ path: String, _ codecs: CodecSet, count: Int) throws {
    var options = DecodeOptions(maximumSide: 400)
    options.acceptsYCbCr = true
    for _ in 0..<count {
        _ = try ImageSource(EncodedBytes(mapping: path), codecs: codecs).image(options)
    }
}

/// Calls `body` with codecs that decode in this process or in a temporary sandbox.
func inSandbox(_ isSandboxed: Bool, _ body: (CodecSet) throws -> Void) throws {
    guard isSandboxed else { return try body(builtInCodecs) }
    let sandbox = DecoderSandbox(.init(workerPath: arguments[1], workerCount: 1))
    defer { sandbox.close() }
    try body(builtInCodecs.decoded(by: sandbox))
}

/// The CPU time of this process and its terminated workers, in seconds.
func processorSeconds() -> Double {
    [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(0) { sum, who in
        var usage = rusage()
        unsafe _ = getrusage(__rusage_who_t(who), &usage)
        return sum
            + [usage.ru_utime, usage.ru_stime].reduce(0) {
                $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6
            }
    }
}

/// The CPU time per image without start-up, in milliseconds.
func processorMilliseconds(_ isSandboxed: Bool) throws -> Double {
    let used = try [20, 120].map { count in
        let start = processorSeconds()
        try inSandbox(isSandboxed) { try decode(arguments[2], $0, count: count) }
        return processorSeconds() - start
    }
    return (used[1] - used[0]) * 1000 / 100
}

/// The latency of an image with a running worker, in microseconds.
func latencyMicroseconds(_ isSandboxed: Bool) throws -> Double {
    var result = 0.0
    try inSandbox(isSandboxed) { codecs in
        try decode(arguments[3], codecs, count: 100)
        let start = ContinuousClock.now
        try decode(arguments[3], codecs, count: 1000)
        result = start.duration(to: .now) / .microseconds(1) / 1000
    }
    return result
}

/// The CPU time to start a worker that loads the libraries of these formats, and to end it, in
/// milliseconds.
func startMilliseconds(_ formats: Set<String>?) throws -> Double {
    var configuration = DecoderSandbox.Configuration(workerPath: arguments[1], workerCount: 1)
    configuration.formats = { _ in formats }
    configuration.startsOnDemand = true
    let used = try (0..<rounds).map { _ in
        let start = processorSeconds()
        let sandbox = DecoderSandbox(configuration)
        defer { sandbox.close() }
        _ = try sandbox.layers()
        sandbox.close()
        return (processorSeconds() - start) * 1000
    }
    return used.sorted()[rounds / 2]
}

func medians(_ measure: (Bool) throws -> Double) rethrows -> (here: Double, sandboxed: Double) {
    var figures: [(Double, Double)] = []
    for _ in 0..<rounds { figures.append((try measure(false), try measure(true))) }
    return (figures.map(\.0).sorted()[rounds / 2], figures.map(\.1).sorted()[rounds / 2])
}

func text(_ number: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let rounded = (number * scale).rounded() / scale
    return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
}

let time = try medians(processorMilliseconds)
print("sandbox              here    sandboxed")
print(
    "CPU time             \(text(time.here, 2)) ms   \(text(time.sandboxed, 2)) ms   "
        + "ratio \(text(time.sandboxed / time.here, 3))")
let latency = try medians(latencyMicroseconds)
print(
    "a tiny image         \(text(latency.here, 0)) us     \(text(latency.sandboxed, 0)) us   "
        + "\(text(latency.sandboxed - latency.here, 0)) us later")

let kinds: [(String, Set<String>?)] = [
    ("no library", []), ("shared", sharedSandboxFormats), ("jxl", ["jxl"]), ("card", ["card"]),
    ("all", nil),
]
for (name, formats) in kinds {
    print("start of a worker    \(name): \(text(try startMilliseconds(formats), 1)) ms")
}
