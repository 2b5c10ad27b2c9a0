// SPDX-License-Identifier: Apache-2.0

#if PDF
import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// PDF decodes need no files that were not opened before lockdown.
@Suite struct SandboxedPDFTests {
    private func image(
        _ sample: PDFSample, _ codecs: CodecSet, _ options: DecodeOptions = .init()
    ) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(sample.bytes), codecs: codecs).image(options)
    }

    /// A page with transparent groups, shadings, patterns, images and a glyph of a font of type 3.
    private static let page = {
        var sample = PDFSample(
            """
            /G gs /X Do /S sh /Pattern cs /P scn 10 0 10 10 re f
            q 5 0 0 5 5 5 cm /I Do Q BT /F 9 Tf (a) Tj ET
            /L cs 50 20 20 sc 0 0 3 3 re f 0.1 0.2 0.3 0.4 k 3 0 3 3 re f
            """)
        let white = "[0.95 1 1.09]"
        sample.resources = """
            /ExtGState <</G <</ca 0.5 /BM /Multiply>>>> /XObject <</X 5 0 R /I 6 0 R>>
            /Shading <</S 7 0 R>> /Pattern <</P 8 0 R>> /Font <</F 9 0 R>>
            /ColorSpace <</L [/Lab <</WhitePoint \(white)>>]>>
            """
        sample.objects = [
            """
            <</Type /XObject /Subtype /Form /BBox [0 0 9 9] /Group <</S /Transparency /I true>>
            /Length 21>> stream
            0 1 0 rg 0 0 8 8 re f
            endstream
            """,
            """
            <</Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceRGB
            /BitsPerComponent 8 /Filter /ASCIIHexDecode /Length 25>> stream
            FF000000FF000000FF808080>
            endstream
            """,
            """
            <</ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 20 0] /Function
            <</FunctionType 2 /Domain [0 1] /C0 [1 0 0] /C1 [0 0 1] /N 1>>>>
            """,
            """
            <</PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 2 2] /XStep 2 /YStep 2
            /Resources <<>> /Length 21>> stream
            1 1 0 rg 0 0 1 1 re f
            endstream
            """,
            """
            <</Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0]
            /CharProcs <</a 10 0 R>> /Encoding <</Differences [97 /a]>> /FirstChar 97 /LastChar 97
            /Widths [1]>>
            """,
            """
            <</Length 20>> stream
            1 0 d0 0 0 1 1 re f 
            endstream
            """,
        ]
        return sample
    }()

    @Test func `a page is drawn in the sandbox as without it`() throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        let expected = try image(Self.page, sandboxCodecs())
        let result = try image(Self.page, Sandboxes.codecs(sandbox))
        #expect(result.packedBytes == expected.packedBytes)
        // Each part of the page leaves its colours.
        let colors = Set((0..<200).map { Array(expected.packedBytes[$0 * 4..<$0 * 4 + 4]) })
        #expect(colors.count > 20)
    }

    @Test func `a page of the corpus is drawn in the sandbox as without it`() throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        for file in SampleFiles.real("catalogs", extensions: ["pdf"]) {
            let bytes = try EncodedBytes(mapping: file.path)
            let expected = try ImageSource(bytes, codecs: sandboxCodecs()).image()
            let result = try ImageSource(bytes, codecs: Sandboxes.codecs(sandbox)).image()
            #expect(result.packedBytes == expected.packedBytes, "\(file.path)")
        }
    }

    @Test func `a page that is drawn without end stops at the deadline`() throws {
        let sandbox = try Sandboxes.make { $0.deadlineSeconds = 1 }
        defer { sandbox.close() }
        // Each form draws the next one ten times.
        let depth = 30
        var sample = PDFSample("/X Do")
        sample.resources = "/XObject <</X 5 0 R>>"
        let calls = [String](repeating: "/X Do", count: 10).joined(separator: " ")
        for level in 0..<depth {
            let next = level + 1 < depth ? "/X \(level + 6) 0 R" : ""
            sample.objects.append(
                """
                <</Type /XObject /Subtype /Form /BBox [0 0 20 10] /Resources <</XObject <<\(next)>>>>
                /Length \(calls.utf8.count)>> stream
                \(calls)
                endstream
                """)
        }
        #expect(throws: CodecError.decoderStopped(.deadline(seconds: 1))) {
            _ = try image(sample, Sandboxes.codecs(sandbox))
        }
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    @Test func `an image without end of memory stops at most its own worker`() throws {
        let sandbox = try Sandboxes.make { $0.memoryByteCount = 128 << 20 }
        defer { sandbox.close() }
        var sample = PDFSample("q 20 0 0 10 0 0 cm /I Do Q")
        sample.resources = "/XObject <</I 5 0 R>>"
        sample.objects = [
            """
            <</Type /XObject /Subtype /Image /Width 30000 /Height 30000 /ColorSpace /DeviceRGB
            /BitsPerComponent 8 /Filter /ASCIIHexDecode /Length 7>> stream
            FF0000>
            endstream
            """
        ]
        let result = Result { try image(sample, Sandboxes.codecs(sandbox)) }
        // Poppler leaves out an image for which it has no memory.
        if case .success(let image) = result {
            #expect(image.packedBytes.allSatisfy { $0 == 0 })
        } else {
            #expect(throws: CodecError.self) { try result.get() }
        }
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    @Test func `no other file is read, and no program is started`() throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        let codecs = Sandboxes.codecs(sandbox)
        func external(_ path: String) throws -> [UInt8] {
            var sample = PDFSample("q 20 0 0 10 0 0 cm /I Do Q")
            sample.resources = "/XObject <</I 5 0 R>>"
            sample.objects = [
                """
                <</Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray
                /BitsPerComponent 8 /F (\(path)) /Length 0>> stream
                endstream
                """
            ]
            return try image(sample, codecs).packedBytes
        }
        #expect(try external("/etc/passwd") == external("/nonexistent"))
        var launched = PDFSample("")
        launched.page += " /AA <</O <</S /Launch /F (/bin/sh)>>>>"
        var scripted = launched
        scripted.page = "/MediaBox [0 0 20 10] /AA <</O <</S /JavaScript /JS (while(1);)>>>>"
        for sample in [launched, scripted] {
            #expect(try image(sample, codecs).packedBytes.allSatisfy { $0 == 0 })
        }
    }
}
#endif
