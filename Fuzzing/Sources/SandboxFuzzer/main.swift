// SPDX-License-Identifier: Apache-2.0

// Decodes files in a sandbox: unchanged, truncated at each sixteenth of their length, and with 64
// seeded changes of a byte; see scripts/test-sandbox.
//
// Arguments: the worker, a seed, and folders. The exit code is 1 if an image exceeded its deadline,
// the memory of this process has grown, or a worker still exists at the end.

import DecoderSandbox
import EncodedImages
import Foundation
import Glibc
import ImageCodecs

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count > 2, let seed = UInt64(arguments[1]) else {
    fatalError("usage: SandboxFuzzer WORKER SEED FOLDER…")
}
let files = arguments.dropFirst(2).flatMap { folder in
    let names = try? FileManager.default.subpathsOfDirectory(atPath: folder)
    return (names ?? []).map { "\(folder)/\($0)" }
}.sorted()

let workerCount = 2
var configuration = DecoderSandbox.Configuration(
    workerPath: arguments[0], workerCount: workerCount)
// Every input is decoded, even after it stopped a worker.
configuration.quarantineSeconds = 0
configuration.deadlineSeconds = 20
let sandbox = DecoderSandbox(configuration)
let run = SandboxRun(codecs: builtInCodecs.decoded(by: sandbox), seed: seed)

// Memory that a first round allocates permanently, such as threads and tables, is not a leak.
let some = stride(from: 0, to: files.count, by: 10).map { files[$0] }
run.decode(some[...], threadCount: workerCount)
let startMemory = residentByteCount()
let start = ContinuousClock.now
run.decode(files[...], threadCount: workerCount)
let duration = start.duration(to: .now)
let endMemory = residentByteCount()
sandbox.close()
var status: Int32 = 0
let leftBehind = unsafe waitpid(-1, &status, WNOHANG)

print("\(files.count) files in \(duration.components.seconds) s")
print(run.tally.description)
print("memory of the host: \(startMemory >> 10) KiB before, \(endMemory >> 10) KiB after")
let hasGrown = endMemory > startMemory + startMemory / 20
if hasGrown { print("the memory of the host has grown") }
// -1: no child process exists.
if leftBehind != -1 { print("a worker was left behind") }
exit(hasGrown || leftBehind != -1 || run.tally.deadlineCount > 0 ? 1 : 0)

/// The resident memory of this process that it does not share, in bytes.
func residentByteCount() -> Int {
    let text = FileManager.default.contents(atPath: "/proc/self/smaps_rollup") ?? Data()
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let count = lines.filter { $0.hasPrefix("Private_") }.compactMap {
        $0.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }.reduce(0, +)
    return count << 10
}
