// SPDX-License-Identifier: Apache-2.0

#if SVG
import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// SVG decodes need no files that were not opened before lockdown.
@Suite struct SandboxedSVGTests {
    @Test func `all kinds of text are drawn with fonts opened before lockdown`() throws {
        let families = [
            "sans-serif", "serif", "monospace", "cursive", "fantasy", "system-ui",
            "Noto Sans", "Times New Roman", "DejaVu Sans Mono", "nonexistent font",
        ]
        let styles = ["font-style='italic'", "font-weight='900'", "font-weight='100'", ""]
        let texts = families.flatMap { family in
            styles.map { "<text y='20' font-family='\(family)' \($0)>Aä中ب</text>" }
        }
        // Each separately, and excessive sizes, for which the libraries print warnings.
        for text in texts + ["<text y='9' font-size='90000'>A</text>", texts.joined()] {
            try expectSame("<g font-size='\(text.utf8.count % 30 + 5)'>\(text)</g>")
        }
    }

    @Test(arguments: ["png", "jpeg"])
    func `embedded images are drawn`(format: String) throws {
        guard builtInCodecs.codec(named: format) != nil else { return }
        let original = TestImage.photograph(PixelSize(width: 30, height: 20))
        let file = try ImageDestination(format: format, codecs: builtInCodecs).encode(original)
        let image = try expectSame(
            "<image width='30' height='20' href='\(reference(format, file))'/>")
        #expect(image.row(10).indices.contains { image.row(10)[$0] != 0 })
    }

    @Test func `an embedded image of another format stops only its own worker`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let original = TestImage.photograph(PixelSize(width: 30, height: 20))
        let file = try ImageDestination(format: "gif", codecs: builtInCodecs).encode(original)
        let image = "<image width='30' height='20' href='\(reference("gif", file))'/>"
        #expect(throws: CodecError.decoderStopped(.forbidden)) {
            _ = try source(image, Sandboxes.codecs(sandbox)).image()
        }
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    private func reference(_ format: String, _ file: [UInt8]) -> String {
        "data:image/\(format);base64,\(Data(file).base64EncodedString())"
    }

    private func source(_ content: String, _ codecs: CodecSet) throws -> ImageSource {
        let document =
            "<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'>\(content)</svg>"
        return try ImageSource(EncodedBytes(Array(document.utf8)), codecs: codecs)
    }

    @discardableResult
    private func expectSame(_ content: String) throws -> PixelBuffer {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        let expected = try source(content, sandboxCodecs()).image()
        let image = try source(content, Sandboxes.codecs(sandbox)).image()
        #expect(image.packedBytes == expected.packedBytes, "\(content)")
        return image
    }
}
#endif
