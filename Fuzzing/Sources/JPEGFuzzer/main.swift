// SPDX-License-Identifier: Apache-2.0

// Mutates JPEG files and decodes them for a given time, to find crashes.
//
// Arguments: seconds, a seed, and sample files. Before each input, its number is written to the
// file of CALOTYPE_FUZZ_STATE, so that the input can be reproduced after a crash: with =NUMBER
// instead of seconds, such as =1234, only that input is decoded, after it was written to the file
// of CALOTYPE_FUZZ_INPUT if that is set.

import EncodedImages
import Foundation
import ImageTesting
import Pixels

#if CALOTYPE_TESTABLE
@testable import ImageCodecs
#else
import ImageCodecs
#endif

let arguments = Array(CommandLine.arguments.dropFirst())
let environment = ProcessInfo.processInfo.environment
guard arguments.count > 2, let seed = UInt64(arguments[1]) else {
    fatalError("usage: JPEGFuzzer SECONDS|=NUMBER SEED SAMPLE…")
}
let files = arguments.dropFirst(2).compactMap { path in
    FileManager.default.contents(atPath: path).map { Array($0) }
}
var fuzzer = JPEGFuzzer(files: files, seed: seed)

if arguments[0].hasPrefix("="), let number = UInt64(arguments[0].dropFirst()) {
    fuzzer.run(number, input: environment["CALOTYPE_FUZZ_INPUT"])
    print(fuzzer.description)
} else if let seconds = Double(arguments[0]) {
    let state = environment["CALOTYPE_FUZZ_STATE"].flatMap { path in
        FileManager.default.createFile(atPath: path, contents: nil)
            ? FileHandle(forWritingAtPath: path) : nil
    }
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    var report = clock.now + .seconds(10)
    var number: UInt64 = 0
    while clock.now < end {
        if let state {
            try state.seek(toOffset: 0)
            try state.write(contentsOf: Data("seed \(seed) number \(number)          ".utf8))
        }
        fuzzer.run(number, input: nil)
        number += 1
        if clock.now > report || clock.now >= end {
            report = clock.now + .seconds(10)
            FileHandle.standardOutput.write(
                Data("seed \(seed) number \(number): \(fuzzer)\n".utf8))
        }
    }
} else {
    fatalError("invalid argument: \(arguments[0]); use seconds or =NUMBER")
}

/// Creates inputs from their numbers, decodes them, and counts the results.
struct JPEGFuzzer: CustomStringConvertible {
    private let files: [[UInt8]]
    private let seed: UInt64
    private var tally = (inputs: 0, images: 0, errors: 0, planes: 0, notHandled: 0)
    private let limits: DecodeLimits

    init(files: [[UInt8]], seed: UInt64) {
        precondition(!files.isEmpty, "no sample file can be read")
        self.files = files
        self.seed = seed
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1 << 22
        limits.maximumMemoryByteCount = 1 << 26
        self.limits = limits
    }

    var description: String {
        "\(tally.inputs) inputs, \(tally.images) images, \(tally.errors) errors; shrunk "
            + "\(tally.planes), not handled \(tally.notHandled)"
    }

    /// Creates the input of a number and decodes it.
    mutating func run(_ number: UInt64, input path: String?) {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9 &+ number)
        let (file, other) = (anyFile(&random), anyFile(&random))
        var mutation = JPEGMutation(seed: random.next())
        let isStructured = Int.random(in: 0..<3, using: &random) > 0
        // The first inputs are the unchanged files.
        let input =
            number < files.count
            ? files[Int(number)]
            : isStructured ? mutation.structure(of: file, with: other) : mutation.bytes(of: file)
        if let path { try? Data(input).write(to: URL(filePath: path)) }
        tally.inputs += 1
        decodePlanes(input, &random)
        decodeImage(input, &random)
    }

    private func anyFile(_ random: inout SeededRandom) -> [UInt8] {
        files[Int.random(in: 0..<files.count, using: &random)]
    }

    private mutating func decodeImage(_ input: [UInt8], _ random: inout SeededRandom) {
        var options = DecodeOptions(
            box: PixelSize(
                width: Int.random(in: 1...40, using: &random),
                height: Int.random(in: 1...40, using: &random)))
        options.mode = ResizeMode.allCases.randomElement(using: &random) ?? .fit
        options.quality = Bool.random(using: &random) ? .exact : .fast
        options.acceptsYCbCr = Bool.random(using: &random)
        do {
            let source = try ImageSource(
                EncodedBytes(input), codecs: builtInCodecs, limits: limits)
            _ = try source.image(options)
            tally.images += 1
        } catch {
            tally.errors += 1
        }
    }

    #if CALOTYPE_TESTABLE
    private mutating func decodePlanes(_ input: [UInt8], _ random: inout SeededRandom) {
        let sides = (0..<4).map { _ in 1 << Int.random(in: 0...3, using: &random) }
        let limits = limits
        var decoder = ShrinkingDecoder(
            limits: limits, cancellation: nil, isDraft: Bool.random(using: &random))
        decoder.windowByteCount =
            [1 << 10, 5000, EntropyCodedData.windowByteCount].randomElement(using: &random)
            ?? 1 << 10
        decoder.minimumBlocksForTable =
            Bool.random(using: &random) ? 0 : BandTable.minimumBlockCount
        var sink = CountingSink(sides, limits)
        do {
            try decoder.decode(input.span, into: &sink)
            precondition(sink.isWhole, "rows are missing")
            tally.planes += 1
        } catch {
            tally.notHandled += 1
        }
    }
    #else
    private mutating func decodePlanes(_ input: [UInt8], _ random: inout SeededRandom) {}
    #endif
}

#if CALOTYPE_TESTABLE
/// Counts the rows of each component.
struct CountingSink: ComponentSink {
    private var image: ShrunkImage?
    private var counts: [Int] = []
    private let sides: [Int]
    private let limits: DecodeLimits

    init(_ sides: [Int], _ limits: DecodeLimits) {
        self.sides = sides
        self.limits = limits
    }

    func blockSides(_ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace) -> [Int]? {
        frame.size.area > limits.maximumPixelCount
            ? nil : frame.components.indices.map { sides[$0] }
    }

    mutating func begin(_ image: ShrunkImage) throws(CodecError) {
        self.image = image
        counts = Array(repeating: 0, count: image.frame.components.count)
    }

    mutating func append(_ row: Span<UInt8>, component: Int) throws(CodecError) {
        precondition(row.count == image?.size(of: component).width, "a row is too short")
        counts[component] += 1
    }

    var isWhole: Bool {
        counts.indices.allSatisfy { counts[$0] == image?.size(of: $0).height }
    }
}
#endif
