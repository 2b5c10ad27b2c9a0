// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Every sample gives the same in a worker as in this process.
@Suite struct SandboxedDecodeTests {
    private static let samples = SampleFiles.own()

    @Test func `a sandboxed picture is the one that this process decodes`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(Self.samples.count > 100)
        for file in Self.samples {
            let bytes = try EncodedBytes(mapping: file.path)
            for options in [DecodeOptions(box: PixelSize(width: 20, height: 20)), DecodeOptions()] {
                let expected = decode(bytes, builtInCodecs, options)
                let sandboxed = decode(bytes, Sandboxes.codecs(sandbox), options)
                #expect(sandboxed == expected, "\(file.lastPathComponent)")
            }
        }
    }

    private struct Outcome: Hashable {
        var error: CodecError?
        var header: ImageHeader?
        var format: PixelFormat?
        var profile: ColorProfile?
        var bytes: [UInt8] = []
        var report: DecodeReport?
    }

    private func decode(
        _ bytes: EncodedBytes, _ codecs: CodecSet, _ options: DecodeOptions
    ) -> Outcome {
        var outcome = Outcome()
        do throws(CodecError) {
            let source = try ImageSource(bytes, codecs: codecs)
            outcome.header = source.header
            let decoded = try source.decodedImage(options)
            outcome.format = decoded.image.format
            outcome.profile = decoded.image.colorProfile
            outcome.bytes = decoded.image.packedBytes
            outcome.report = decoded.report
        } catch {
            outcome.error = error
        }
        return outcome
    }
}
