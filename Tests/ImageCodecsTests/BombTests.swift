// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Small files that demand large resources.
@Suite("Bombs") struct BombTests {
    static let bombs = Bomb.all.filter { builtInCodecs.codec(named: $0.format) != nil }

    @Test("are rejected by the limit that they exceed, or are harmless", arguments: bombs)
    func answer(bomb: Bomb) {
        let answers = bomb.answers(EncodedBytes(bomb.bytes()), builtInCodecs)
        switch bomb.answer {
        case .image:
            #expect(answers.isEmpty)
        case .malformed:
            guard case .malformed = answers[.open], case .malformed = answers[.incremental] else {
                Issue.record("\(answers)")
                return
            }
        case .unsupported:
            guard case .unsupported = answers[.open] else {
                Issue.record("\(answers)")
                return
            }
        case .limit(let name, let step):
            #expect(isLimit(answers[step], name), "\(answers)")
            // Incremental decoding does not read metadata.
            if step != .metadata && !bomb.hasHarmlessFirstFrame {
                #expect(isLimit(answers[.incremental], name), "\(answers)")
            }
        }
    }

    @Test("pass if the limit is raised", arguments: bombs)
    func raised(bomb: Bomb) {
        let names: [DecodeLimits.Name] = [
            .frameCount, .animationPixelCount, .chunkCount, .directoryCount, .itemCount,
            .nestingDepth,
        ]
        guard case .limit(let name, .open) = bomb.answer, names.contains(name) else { return }
        var limits = bomb.limits
        limits[name] = .max
        do throws(CodecError) {
            _ = try ImageSource(
                EncodedBytes(bomb.bytes()), codecs: builtInCodecs, limits: limits)
        } catch { #expect(!isLimit(error, name)) }
    }

    private func isLimit(_ error: CodecError?, _ name: DecodeLimits.Name) -> Bool {
        guard case .limitExceeded(name, _, _) = error else { return false }
        return true
    }

    /// Freed memory must count as free; AddressSanitizer would keep it in quarantine.
    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        if Sanitizer.watchesAddresses {
            environment["ASAN_OPTIONS", default: ""] +=
                ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
        }
        return environment
    }

    @Test("allocate no memory for the size that they state", arguments: bombs)
    func memory(bomb: Bomb) throws {
        let program = try #require(builtProgram("TestHelper"))
        let bytes = bomb.bytes()
        let (status, text) = try withTemporaryFolder { folder in
            let file = folder.appending(path: "bomb")
            try Data(bytes).write(to: file)
            let process = Process()
            let output = Pipe()
            process.executableURL = program
            process.arguments = ["open-bomb", bomb.name, file.path]
            process.environment = environment
            process.standardOutput = output
            try process.run()
            let written = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: written, as: UTF8.self))
        }
        #expect(status == 0)
        let growth = try #require(text.split(separator: "\n").last.flatMap { Int($0) })
        // A file is mapped, arrives again in pieces, and moves when it has grown.
        #expect(growth < 80 << 20 + 5 * bytes.count, "\(text)")
    }

    #if PNG
    @Test("a profile that is too long is ignored")
    func profile() throws {
        let bomb = try #require(Bomb.all.first { $0.name == "png profile of 2 GiB" })
        let source = try ImageSource(EncodedBytes(bomb.bytes()), codecs: builtInCodecs)
        #expect(source.header.colorProfile == .sRGB)
        #expect(try source.image().size == PixelSize(width: 1, height: 1))
    }
    #endif

    #if TIFF
    @Test("directories of a TIFF beyond the limit are ignored")
    func pages() throws {
        let bomb = try #require(Bomb.all.first { $0.name == "tiff of 20,000 directories" })
        let source = try ImageSource(EncodedBytes(bomb.bytes()), codecs: builtInCodecs)
        #expect(source.header.pageCount == DecodeLimits().maximumDirectoryCount)
        #expect(try source.image().size == PixelSize(width: 1, height: 1))
    }
    #endif

    #if JPEG
    @Test("a JPEG of 1,000 scans is rejected before decoding")
    func scans() throws {
        let encoder = try #require(builtInCodecs.codec(named: "jpeg")?.encoder)
        var options = EncodeOptions()
        options.isProgressive = true
        let picture = TestImage.photograph(PixelSize(width: 64, height: 48))
        let file = Bomb.jpeg(try encoder.encode(picture, options), moreScans: 1_000)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(throws: CodecError.limitExceeded(.scanCount, needed: 101, allowed: 100)) {
            _ = try source.image(DecodeOptions(maximumSide: 100))
        }
        #expect(throws: CodecError.limitExceeded(.scanCount, needed: 101, allowed: 100)) {
            var image = IncrementalImage(codecs: builtInCodecs)
            for start in stride(from: 0, to: file.count, by: 1_000) {
                try image.append(Array(file[start..<min(start + 1_000, file.count)]))
                _ = try image.preview()
            }
            _ = try image.finish()
        }
    }
    #endif

    #if SVG
    @Test("an SVG with nested entities is rejected")
    func entities() {
        let text =
            Bomb.entities + "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>&i;</text></svg>"
        #expect(throws: CodecError.self) {
            let source = try ImageSource(EncodedBytes(Array(text.utf8)), codecs: builtInCodecs)
            _ = try source.image(DecodeOptions(maximumSide: 100))
        }
    }
    #endif
}
