// SPDX-License-Identifier: Apache-2.0

// What a sandbox costs: time of the processor for a photograph made small, and how much later a tiny
// picture comes. Both are compared with this process, in turns.
//
// Arguments: the worker, a large photograph, a tiny picture.

import DecoderSandbox
import EncodedImages
import Glibc
import ImageCodecs
import Pixels

let arguments = CommandLine.arguments
guard arguments.count == 4 else { fatalError("a worker, a photograph and a tiny picture") }
let rounds = 9

/// Decodes a file at 400 pixels, as often as it is told.
func decode(_ path: String, _ codecs: CodecSet, count: Int) throws {
    var options = DecodeOptions(maximumSide: 400)
    options.acceptsYCbCr = true
    for _ in 0..<count {
        _ = try ImageSource(EncodedBytes(mapping: path), codecs: codecs).image(options)
    }
}

/// Runs `body` in this process, or in a sandbox of its own that is gone afterwards.
func inSandbox(_ isSandboxed: Bool, _ body: (CodecSet) throws -> Void) throws {
    guard isSandboxed else { return try body(builtInCodecs) }
    let sandbox = DecoderSandbox(.init(workerPath: arguments[1], workerCount: 1))
    defer { sandbox.close() }
    try body(builtInCodecs.decoded(by: sandbox))
}

/// Seconds of the processor that this process and its ended workers have used.
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

/// Milliseconds of the processor for one more picture: what starting costs falls out.
func processorMilliseconds(_ isSandboxed: Bool) throws -> Double {
    let used = try [20, 120].map { count in
        let start = processorSeconds()
        try inSandbox(isSandboxed) { try decode(arguments[2], $0, count: count) }
        return processorSeconds() - start
    }
    return (used[1] - used[0]) * 1000 / 100
}

/// Microseconds until a picture is there, with a warm worker.
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
    "processor time       \(text(time.here, 2)) ms   \(text(time.sandboxed, 2)) ms   "
        + "ratio \(text(time.sandboxed / time.here, 3))")
let latency = try medians(latencyMicroseconds)
print(
    "a tiny picture       \(text(latency.here, 0)) us     \(text(latency.sandboxed, 0)) us   "
        + "\(text(latency.sandboxed - latency.here, 0)) us later")
