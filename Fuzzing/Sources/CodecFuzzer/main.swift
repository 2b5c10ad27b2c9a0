// SPDX-License-Identifier: Apache-2.0

// Mutates sample files of a format and decodes them for a given time.
//
// Arguments: seconds, a seed, the file to which each input is written before it is decoded, and
// sample files. A crash, or an input that takes ten seconds of CPU time, ends the process by a
// signal and leaves that file. An input that takes more than five seconds is copied, and the exit
// code is 1.

import EncodedImages
import Foundation
import Glibc
import ImageCodecs
import ImageTesting
import Pixels

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count > 3, let seconds = Double(arguments[0]), let seed = UInt64(arguments[1])
else {
    fatalError("usage: CodecFuzzer SECONDS SEED INPUT-FILE SAMPLE…")
}
let inputPath = arguments[2]
let samples = arguments.dropFirst(3).compactMap { path in
    FileManager.default.contents(atPath: path).map { Array($0) }
}.filter { !$0.isEmpty }
guard !samples.isEmpty else { fatalError("no sample file can be read") }

var fuzzer = CodecFuzzer(samples: samples, seed: seed)
let clock = ContinuousClock()
let end = clock.now + .seconds(seconds)
var slowCount = 0
while clock.now < end {
    let input = fuzzer.nextInput()
    try Data(input).write(to: URL(filePath: inputPath))
    limitProcessorTime(toSeconds: 10)
    let start = processorTime()
    fuzzer.decode(input)
    let elapsed = processorTime() - start
    limitProcessorTime(toSeconds: 0)
    if elapsed > .seconds(5) {
        slowCount += 1
        try Data(input).write(to: URL(filePath: "\(inputPath).slow\(slowCount)"))
    }
}
try? FileManager.default.removeItem(atPath: inputPath)
print("\(fuzzer), \(slowCount) slow")
exit(slowCount > 0 ? 1 : 0)

/// The CPU time of the process, which other load does not affect.
func processorTime() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// Ends the process by `SIGPROF` after the given CPU time; 0 removes the limit.
func limitProcessorTime(toSeconds seconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_sec = seconds
    let isSet = unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil) == 0
    precondition(isSet, "setitimer failed")
}

/// Creates mutated files and counts the results of decoding them.
struct CodecFuzzer: CustomStringConvertible {
    private let samples: [[UInt8]]
    private var random: SeededRandom
    private var decodedCount = 0
    private var damagedMapCount = 0
    private var errors: [String: Int] = [:]

    init(samples: [[UInt8]], seed: UInt64) {
        self.samples = samples
        random = SeededRandom(seed: seed)
    }

    var description: String {
        let total = decodedCount + errors.values.reduce(0, +)
        let reasons = errors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let maps = damagedMapCount > 0 ? ", \(damagedMapCount) with a damaged map besides" : ""
        return "\(total) inputs\(maps): \(decodedCount) decoded, "
            + reasons.joined(separator: ", ")
    }

    /// Returns a sample with bytes changed, or ranges removed, duplicated or copied from another
    /// sample.
    mutating func nextInput() -> [UInt8] {
        var input = samples[Int.random(in: 0..<samples.count, using: &random)]
        for _ in 0..<(1 << Int.random(in: 0...4, using: &random)) {
            // Mostly near the start, where headers and tables are.
            let reach =
                Bool.random(using: &random) ? input.count : min(input.count, 256)
            let place = Int.random(in: 0..<max(1, reach), using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2:
                if place < input.count { input[place] = UInt8.random(in: 0...255, using: &random) }
            case 3:
                if place < input.count {
                    input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            case 4:
                // Values at which sizes overflow.
                let values: [UInt32] = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, .max]
                var value = values[Int.random(in: 0..<values.count, using: &random)]
                if Bool.random(using: &random) { value = value.byteSwapped }
                for byte in 0..<4 where place + byte < input.count {
                    input[place + byte] = UInt8(truncatingIfNeeded: value >> UInt32(byte * 8))
                }
            case 5:
                let count = Int.random(in: 1...64, using: &random)
                input.removeSubrange(min(place, input.count)..<min(place + count, input.count))
            case 6:
                let count = Int.random(in: 1...64, using: &random)
                let piece = input[min(place, input.count)..<min(place + count, input.count)]
                input.insert(contentsOf: piece, at: min(place, input.count))
            default:
                let other = samples[Int.random(in: 0..<samples.count, using: &random)]
                let start = Int.random(in: 0..<other.count, using: &random)
                let count = min(Int.random(in: 1...256, using: &random), other.count - start)
                for byte in 0..<count where place + byte < input.count {
                    input[place + byte] = other[start + byte]
                }
            }
            if input.isEmpty { input = [0] }
        }
        return input
    }

    /// Damages the map of a file and checks that the image is the same.
    private mutating func decodeDamagedMap(
        _ map: GainMap, of input: [UInt8], _ options: DecodeOptions, _ limits: DecodeLimits,
        _ image: PixelBuffer
    ) {
        // A map in boxes was made from its parts, and a list can refer to a part of the image.
        guard let range = input.firstRange(of: map.file), !range.isEmpty else { return }
        let base = Array(input[..<range.lowerBound])
        guard base.suffix(2) == [0xFF, 0xD9],
            let alone = try? ImageSource(
                EncodedBytes(base), codecs: builtInCodecs, limits: limits),
            (try? alone.image(options))?.packedBytes == image.packedBytes
        else { return }
        damagedMapCount += 1
        var damaged = input
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            damaged[.random(in: range, using: &random)] = .random(in: 0...255, using: &random)
        }
        guard
            let source = try? ImageSource(
                EncodedBytes(damaged), codecs: builtInCodecs, limits: limits),
            let same = try? source.image(options)
        else { preconditionFailure("a damaged map cost the image") }
        precondition(same.packedBytes == image.packedBytes, "a damaged map changed the image")
        _ = try? source.gainMap(options)
        _ = try? source.imageInHDR(options)
    }

    /// Reads header, metadata, a page, frames, a gain map and a reduced image.
    mutating func decode(_ input: [UInt8]) {
        var limits = DecodeLimits()
        limits.maximumPixelCount = 4_000_000
        limits.maximumMemoryByteCount = 256 << 20
        do throws(CodecError) {
            let source = try ImageSource(
                EncodedBytes(input), codecs: builtInCodecs, limits: limits)
            _ = try? source.metadata()
            var options = DecodeOptions(maximumSide: Int.random(in: 1...300, using: &random))
            options.acceptsTruncated = Bool.random(using: &random)
            options.keepsDepth = Bool.random(using: &random)
            if source.header.pageCount > 1 {
                let page = Int.random(in: 0..<min(source.header.pageCount, 100), using: &random)
                _ = try? source.page(page).image(options)
            }
            if source.header.frameCount > 1 {
                var frames = try source.frames(options)
                for _ in 0..<4 { if try frames.next() == nil { break } }
            }
            if source.header.hasGainMap {
                _ = try? source.gainMap(options)
                _ = try? source.imageInHDR(options)
            }
            let image = try source.image(options)
            precondition(image.size == source.resultSize(options), "unexpected size")
            if source.header.hasGainMap, let map = try? source.gainMap() {
                decodeDamagedMap(map, of: input, options, limits, image)
            }
            decodedCount += 1
        } catch {
            let name = "\(error)".prefix { $0 != " " && $0 != ":" }
            errors[String(name), default: 0] += 1
        }
    }
}
