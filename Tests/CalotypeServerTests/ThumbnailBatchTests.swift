// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(.enabled(if: builtInCodecs.codec(named: "png") != nil))
struct ThumbnailBatchTests: ~Copyable {
    private let folder: String
    private let batch = ThumbnailBatch(
        codecs: builtInCodecs, decodeOptions: DecodeOptions(maximumSide: 10),
        encodeOptions: EncodeOptions())

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try makeFolder(folder)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Writes an image of 40x20 pixels.
    private func picture(_ name: String) throws -> String {
        let image = TestImage.photograph(PixelSize(width: 40, height: 20))
        let path = "\(folder)/\(name)"
        try ImageDestination(format: "png", codecs: builtInCodecs).write(image, to: path)
        return path
    }

    private func plan(_ inputs: [String], _ output: (Int) -> String) -> [PlannedThumbnail] {
        inputs.enumerated().map {
            PlannedThumbnail(input: $1, output: "\(folder)/\(output($0))", format: "png")
        }
    }

    @Test("A failure is reported at the index of its input and does not stop the others")
    func continuesPastBadFile() throws {
        let bad = "\(folder)/bad.png"
        try Data("junk".utf8).write(to: URL(filePath: bad))
        let empty = "\(folder)/empty.png"
        try Data().write(to: URL(filePath: empty))
        let plan = plan([try image("a.png"), bad, try image("b.png"), empty]) {
            "new/\($0).png"
        }
        let results = batch.run(plan.map { .success($0) }, jobCount: 2)
        let size = PixelSize(width: 10, height: 5)
        let made = WrittenThumbnail(size: size, problem: nil)
        #expect(
            results == [
                .success(made), .failure(FileFailure(bad, CodecError.unknownFormat)),
                .success(made), .failure(FileFailure(empty, CodecError.empty)),
            ])
        let written = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/new")
        #expect(written.sorted() == ["0.png", "2.png"])
        let thumbnail = try ImageSource(
            EncodedBytes(mapping: "\(folder)/new/2.png"), codecs: builtInCodecs)
        #expect(thumbnail.pixelSize == size)
    }

    @Test("After an interruption no thumbnail is started and no incomplete file is left")
    func stopsWhenInterrupted() throws {
        let inputs = try (0..<5).map { try image("\($0).png") }
        let counter = Counter()
        let results = batch.run(
            plan(inputs) { "out/\($0).png" }.map { .success($0) }, jobCount: 1,
            isInterrupted: { counter.value >= 2 }, didFinish: { _ in counter.increment() })
        #expect(results.count == 5)
        #expect(results.compactMap { $0 }.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/out").count == 2)
    }

    @Test("An interruption cancels a decode, which does not count as a failure")
    func givesUpWhenInterrupted() throws {
        let counter = Counter()
        let results = batch.run(
            plan([try image("a.png")]) { "out/\($0).png" }.map { .success($0) }, jobCount: 1,
            isInterrupted: {
                counter.increment()
                // Called once before the thumbnail, then while it is decoded.
                return counter.value > 1
            })
        #expect(results == [nil] && counter.value > 1)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/out"))
    }

    @Test("Two inputs with the same output are rejected, for any spelling of the path")
    func refusesSameOutput() throws {
        let inputs = [try image("a.png"), try image("b.png")]
        #expect(throws: PlanError.self) {
            try check(plan(inputs) { _ in "x.png" }, inputs: inputs)
        }
        #expect(throws: PlanError.self) {
            try check(plan(inputs) { $0 == 0 ? "x.png" : "./x.png" }, inputs: inputs)
        }
        #expect(throws: PlanError.self) {
            try check(plan(inputs) { $0 == 0 ? "new/x.png" : "./new//x.png" }, inputs: inputs)
        }
        try check(plan(inputs) { "\($0).png" }, inputs: inputs)
    }

    @Test("An output that is an input is rejected, even through a symbolic link")
    func refusesOverwriting() throws {
        let inputs = [try image("a.png"), try image("b.png")]
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/link.png", withDestinationPath: inputs[1])
        #expect(throws: PlanError.overwritesInput("\(folder)/link.png")) {
            try check(plan([inputs[0]]) { _ in "link.png" }, inputs: inputs)
        }
    }
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func increment() { count.wrappingAdd(1, ordering: .relaxed) }
}
