// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import EncodedImages

@Suite("A file that changes while it is read", .timeLimit(.minutes(10)))
struct ChangedFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String = "file", byteCount: Int = 100_000) throws -> String {
        let path = folder.path(name)
        try Data(repeating: 7, count: byteCount).write(to: URL(filePath: path))
        return path
    }

    private func sum(_ bytes: EncodedBytes) -> Int {
        bytes.withBytes { bytes in bytes.indices.reduce(0) { $0 + Int(bytes[$1]) } }
    }

    @Test("reads as zeros after truncation, and is reported")
    func truncated() throws {
        let path = try file()
        let bytes = try EncodedBytes(mapping: path)
        #expect(sum(bytes) == 700_000)
        try bytes.checkUnchanged()
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 5_000)
        #expect(bytes.count == 100_000)
        #expect(sum(bytes) == 35_000)
        #expect(throws: CodecError.fileChanged) { try bytes.checkUnchanged() }
        // Memory that was given back does not come again from the file.
        bytes.release(0..<100_000)
        #expect(bytes.withBytes { $0[99_999] } == 0)
    }

    @Test("is reported even if it has its old length again")
    func extendedAgain() throws {
        let path = try file()
        let bytes = try EncodedBytes(mapping: path)
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        #expect(bytes.withBytes { $0[50_000] } == 0)
        try handle.truncate(atOffset: 100_000)
        #expect(throws: CodecError.fileChanged) { try bytes.checkUnchanged() }
    }

    @Test(
        "is reported if it was truncated within a page, extended or written to",
        arguments: ["truncate", "extend", "rewrite", "rewrite and set its date back"])
    func changed(how: String) throws {
        // The system's clock of files is coarse, so the file is made to be older.
        let date = Date(timeIntervalSinceNow: -1000)
        for isMapped in [true, false] {
            let path = try file()
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            let bytes =
                isMapped ? try EncodedBytes(mapping: path) : try EncodedBytes(opening: path)
            try bytes.checkUnchanged()
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            switch how {
            case "truncate": try handle.truncate(atOffset: UInt64(bytes.count) - 10)
            case "extend": try handle.truncate(atOffset: UInt64(bytes.count) + 10)
            default: try handle.write(contentsOf: Data([1]))
            }
            if how.hasSuffix("back") {
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
            #expect(throws: CodecError.fileChanged) { try bytes.checkUnchanged() }
        }
    }

    @Test("remains readable if it is replaced or removed")
    func replaced() throws {
        let path = try file()
        let bytes = try EncodedBytes(mapping: path)
        let other = try file("other", byteCount: 10)
        #expect(unsafe rename(other, path) == 0)
        #expect(sum(bytes) == 700_000)
        try bytes.checkUnchanged()
        let second = try EncodedBytes(mapping: path)
        try FileManager.default.removeItem(atPath: path)
        #expect(sum(second) == 70)
        try second.checkUnchanged()
    }

    @Test("is distinguished from many other mapped files")
    func many() throws {
        let mapped = try (0..<200).map { index in
            let path = try file("\(index)", byteCount: 9_000)
            return (path: path, bytes: try EncodedBytes(mapping: path))
        }
        for (index, file) in mapped.enumerated() where index % 3 == 0 {
            try FileHandle(forWritingTo: URL(filePath: file.path)).truncate(atOffset: 0)
        }
        for (index, file) in mapped.enumerated() {
            #expect(sum(file.bytes) == (index % 3 == 0 ? 0 : 63_000))
            #expect(((try? file.bytes.checkUnchanged()) == nil) == (index % 3 == 0))
        }
    }

    @Test("crashes no thread while others map and unmap files")
    func threads() async throws {
        let paths = try (0..<4).map { try file("\($0)", byteCount: 300_000) }
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<4 {
                group.addTask {
                    for round in 0..<200 {
                        guard let bytes = try? EncodedBytes(mapping: paths[(reader + round) % 4])
                        else { continue }
                        #expect(
                            [0, 7].contains(bytes.withBytes { $0.isEmpty ? 0 : $0[$0.count / 2] }))
                        #expect(
                            [0, 7].contains(bytes.withBytes { $0.isEmpty ? 0 : $0[$0.count - 1] }))
                    }
                }
            }
            group.addTask {
                for round in 0..<400 {
                    guard let handle = FileHandle(forWritingAtPath: paths[round % 4]) else {
                        continue
                    }
                    try? handle.truncate(atOffset: 100)
                    try? handle.seek(toOffset: 0)
                    try? handle.write(contentsOf: Data(repeating: 7, count: 300_000))
                }
            }
        }
    }

    @Test(
        "returns no image, whichever step it changes in",
        arguments: ["header", "decode", "thumbnail rows", "metadata"])
    func source(step: String) throws {
        let path = folder.path("picture.fake")
        let image = FakeCodec.file(PixelSize(width: 100, height: 100), grey: 9)
        try Data(image).write(to: URL(filePath: path))
        let codec = MeddlingCodec()
        let change: @Sendable () -> Void = {
            guard let handle = FileHandle(forWritingAtPath: path) else { return }
            try? handle.truncate(atOffset: 100)
        }
        if step == "header" { codec.meddle.withLock { $0 = change } }
        #expect(throws: CodecError.fileChanged) {
            let source = try ImageSource(
                EncodedBytes(mapping: path), codecs: CodecSet([codec]))
            codec.meddle.withLock { $0 = change }
            switch step {
            case "decode": _ = try source.image()
            case "thumbnail rows": try source.decodeRows(into: RowCounting())
            default: _ = try source.metadata()
            }
        }
    }

    @Test("is read completely or not at all")
    func reading() throws {
        let path = try file(byteCount: 1_000)
        #expect(try EncodedBytes(reading: path, first: 100).count == 100)
        let bytes = try EncodedBytes(opening: path)
        #expect(bytes.descriptor != nil)
        #expect(sum(bytes) == 7_000)
        #expect(bytes.copy(of: 990..<1_000) == [UInt8](repeating: 7, count: 10))
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 995)
        #expect(bytes.copy(of: 990..<1_000) == [7, 7, 7, 7, 7, 0, 0, 0, 0, 0])
        #expect(throws: CodecError.fileChanged) { try bytes.checkUnchanged() }
    }

    @Test("has the same pieces, mapped or not")
    func pieces() throws {
        let path = try file(byteCount: 2_500_000)
        for bytes in [
            try EncodedBytes(mapping: path), try EncodedBytes(opening: path),
            try EncodedBytes(reading: path),
        ] {
            var counts: [Int] = []
            bytes.forEachPiece { counts.append($0.count) }
            #expect(counts == [1 << 20, 1 << 20, 2_500_000 - (2 << 20)])
        }
    }
}

@Suite("A memory fault outside of guarded mappings", .timeLimit(.minutes(10)))
struct UnguardedFaultTests {
    /// - Returns: how the process ended, and what it wrote.
    private func run(_ what: String) throws -> (Process.TerminationReason, Int32, String) {
        let folder = try TemporaryFolder()
        let process = Process()
        let program = try #require(builtProgram("TestHelper"))
        process.executableURL = program
        process.arguments = ["mapping-fault", what, folder.path]
        // It has a handler of its own, which returns from signals that were sent.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationReason, process.terminationStatus,
            String(decoding: written, as: UTF8.self)
        )
    }

    @Test("terminates the program as without the guard", arguments: ["outside", "sent"])
    func ends(what: String) throws {
        let (reason, status, output) = try run(what)
        #expect(reason == .uncaughtSignal)
        #expect(status == SIGBUS)
        #expect(output == "")
    }

    @Test("is passed to the handler that was installed before the guard")
    func chained() throws {
        let (reason, status, output) = try run("chained")
        #expect(reason == .exit)
        #expect(status == 42)
        #expect(output == "")
    }

    @Test("is passed once to a handler that was installed later")
    func replaced() throws {
        let (reason, status, output) = try run("replaced")
        #expect(reason == .uncaughtSignal)
        #expect(status == SIGBUS)
        #expect(output == "replaced\n")
    }
}

/// Does something to the file in the middle of each step.
private final class MeddlingCodec: ImageCodec, ImageDecoder {
    let meddle = Mutex<@Sendable () -> Void>({})
    private let fake = FakeCodec()

    var format: ImageFormat { fake.format }
    var encoder: (any ImageEncoder)? { nil }
    var decoder: any ImageDecoder { self }

    private func change() { meddle.withLock { $0 }() }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let header = try fake.header(of: bytes, limits: limits)
        change()
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        change()
        try fake.decode(bytes, into: &rows)
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        change()
        throw .malformed(reason: "what is not there", offset: bytes.count)
    }
}

private final class RowCounting: RowConsumer {
    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError) {}

    func append(_ row: Span<UInt8>) throws(CodecError) {}
}
