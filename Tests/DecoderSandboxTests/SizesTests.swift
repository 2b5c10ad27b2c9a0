// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import DecoderSandbox

/// The sizes of several files are those of each file, read alone.
@Suite struct SizesTests {
    @Test func `sizes and errors equal those of single files`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let codecs = Sandboxes.codecs(sandbox)
        let paths = SampleFiles.own().map(\.path)
        #expect(paths.count > 100)
        // Files of all formats, most of which one message holds, and an empty one, which has no descriptor.
        let files = try paths.map { try EncodedBytes(opening: $0) } + [EncodedBytes([])]
        let sizes = codecs.sizes(of: files, limits: DecodeLimits())
        #expect(sizes.count == files.count)
        var errorCount = 0
        for (path, (file, size)) in zip(paths + ["empty"], zip(files, sizes)) {
            let alone = Result { () throws(CodecError) in
                try ImageSource(file, codecs: codecs)
            }
            switch (alone, size) {
            case (.success(let source), .success(let size)):
                #expect(size.format.name == source.format.name, "\(path)")
                #expect(size.size == source.pixelSize, "\(path)")
            case (.failure(let expected), .failure(let error)):
                #expect(error == expected, "\(path)")
                errorCount += 1
            default: Issue.record("\(path): \(size) instead of \(alone)")
            }
        }
        #expect(errorCount > 10)
    }

    @Test func `a group of files takes one exchange`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let sides = 1...16
        let files = try sides.map { side in
            let image = TestImage.photograph(PixelSize(width: side, height: 3))
            let file = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
            return try sandbox.prepare(EncodedBytes(file))
        }
        let sizes = try sandbox.sizes(ofGroup: files, DecodeLimits())
        #expect(try sizes.map { try $0.get().size.width } == Array(sides))
        #expect(try sizes.allSatisfy { try $0.get().format == "png" })
        var limits = DecodeLimits()
        limits.maximumSide = 8
        let limited = try sandbox.sizes(ofGroup: files, limits)
        #expect(limited.map { (try? $0.get()) != nil } == sides.map { $0 <= 8 })
    }

    @Test func `a file that stops the worker costs the others nothing`() throws {
        let sandbox = try Sandboxes.make { $0.inspectionSeconds = 0.5 }
        defer { sandbox.close() }
        let words = ["behave 1", "headerloop", "behave 2"]
        let files = try words.map { try sandbox.prepare(Sandboxes.hostile($0)) }
        let codecs = Sandboxes.codecs(sandbox)
        let sizes = codecs.sizes(of: files, limits: DecodeLimits())
        #expect(try sizes[0].get().size == PixelSize(width: 8, height: 8))
        #expect(throws: CodecError.decoderStopped(.deadline(seconds: 0.5))) {
            try sizes[1].get()
        }
        #expect(try sizes[2].get().size == PixelSize(width: 8, height: 8))
        // It is in quarantine now, and delays no group.
        let again = codecs.sizes(of: files, limits: DecodeLimits())
        #expect(throws: CodecError.decoderStopped(.known)) { try again[1].get() }
        #expect(try again[2].get().format.name == "hostile")
    }
}
