// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Pixels that a decoder did not write have a defined value: no image exposes earlier contents of
/// memory.
@Suite("Pixels of damaged files") struct DefinedPixelsTests {
    @Test("do not depend on earlier contents of memory")
    func definedPixels() throws {
        let program = try #require(builtProgram("TestHelper"))
        try withTemporaryFolder { folder in
            let files = try Self.files(in: folder)
            #expect(files.count > 50)
            let digests = try [1, 200].map { try Self.digests(files, program, perturbation: $0) }
            #expect(digests[0].count == files.count)
            for (file, (first, second)) in zip(files, zip(digests[0], digests[1])) {
                #expect(first == second, "\(file)")
            }
            #if HEIF
            // Otherwise the file tests nothing.
            let place = try #require(files.firstIndex { $0.hasSuffix("missing-slices.heic") })
            #expect(UInt64(digests[0][place]) != nil, "\(digests[0][place])")
            #endif
        }
    }

    /// The damaged samples, and some of each format with changes at fixed positions.
    private static func files(in folder: URL) throws -> [String] {
        let corpus = SampleFiles.packageDirectory.appending(path: "Corpus")
        var files: [String] = []
        for format in try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted() {
            for kind in ["hostile", "invalid"] {
                files += SampleFiles.own(format, kind).map(\.path)
            }
            var random = SeededRandom(seed: 24)
            for (index, sample) in SampleFiles.own(format, "valid").prefix(4).enumerated() {
                let whole = try [UInt8](Data(contentsOf: sample))
                for change in 0..<6 {
                    var damaged = whole
                    if change == 0 {
                        damaged.removeLast(whole.count / 4)
                    } else {
                        for _ in 0..<change {
                            damaged[Int.random(in: whole.count / 2..<whole.count, using: &random)] =
                                UInt8.random(in: 0...255, using: &random)
                        }
                    }
                    let file = folder.appending(path: "\(index)-\(change).\(format)")
                    try Data(damaged).write(to: file)
                    files.append(file.path)
                }
            }
        }
        return files + SampleFiles.real("found", extensions: ["heic"]).map(\.path)
    }

    /// Decodes the files in a process whose allocator fills memory with a value.
    private static func digests(
        _ files: [String], _ program: URL, perturbation: Int
    ) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = ["digests"] + files
        var environment = ProcessInfo.processInfo.environment
        environment["MALLOC_PERTURB_"] = "\(perturbation)"
        // Small blocks come from a cache that is not filled.
        environment["GLIBC_TUNABLES"] =
            "glibc.malloc.tcache_count=0:glibc.malloc.perturb=\(perturbation)"
        process.environment = environment
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
