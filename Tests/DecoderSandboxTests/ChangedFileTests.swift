// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite(
    "A file modified during a sandboxed decode", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct SandboxedChangedFileTests {
    private let folder: TemporaryFolder
    private let path: String
    private let image: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("picture.png")
        image = try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(TestImage.photograph(PixelSize(width: 400, height: 300)))
        try Data(image).write(to: URL(filePath: path))
    }

    @Test("fails with fileChanged and decodes once it is complete again")
    func truncated() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let source = try ImageSource(
            EncodedBytes(opening: path), codecs: Sandboxes.codecs(sandbox))
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 10_000)
        #expect(throws: CodecError.fileChanged) { _ = try source.image() }
        #expect(throws: CodecError.fileChanged) { _ = try source.metadata() }
        // The same bytes are not quarantined.
        try Data(image).write(to: URL(filePath: path))
        let again = try ImageSource(
            EncodedBytes(opening: path), codecs: Sandboxes.codecs(sandbox))
        #expect(try again.image().size == PixelSize(width: 400, height: 300))
    }

    @Test("does not terminate the worker")
    func worker() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let descriptor = unsafe open(path, O_RDONLY)
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 0)
        // The host does not check these bytes for changes, so the worker reports the error.
        let bytes = try EncodedBytes(
            descriptor: descriptor, byteCount: image.count, isMapped: false)
        #expect(throws: CodecError.fileChanged) {
            _ = try sandbox.header(of: RemoteImage(bytes, limits: DecodeLimits()))
        }
    }

    @Test("is never copied as a mix of two versions")
    func snapshot() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let bytes = try EncodedBytes(opening: path)
        let copy = try sandbox.snapshot(bytes)
        #expect(copy.withBytes { bytes in bytes.indices.map { bytes[$0] } } == image)
        try FileHandle(forWritingTo: URL(filePath: path)).write(contentsOf: Data([1]))
        #expect(throws: CodecError.fileChanged) { _ = try sandbox.snapshot(bytes) }
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 100)
        #expect(throws: CodecError.fileChanged) { _ = try sandbox.snapshot(bytes) }
    }
}
