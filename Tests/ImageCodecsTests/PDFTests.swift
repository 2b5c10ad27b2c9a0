// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("PDF") struct PDFTests {
    /// The left half red, the right half half transparent blue.
    private static let content = "1 0 0 rg 0 0 10 10 re f /G gs 0 0 1 rg 10 0 10 10 re f"
    private static let sample = {
        var sample = PDFSample(content)
        sample.resources = "/ExtGState <</G <</ca 0.5>>>>"
        return sample
    }()

    @Test("is rejected outside of a sandbox")
    func refused() {
        #if PDF
        let expected = CodecError.unsupported(feature: "pdf outside of a sandbox")
        #else
        let expected = CodecError.notBuiltIn(format: "pdf", trait: "PDF")
        #endif
        #expect(throws: expected) {
            _ = try ImageSource(EncodedBytes(Self.sample.bytes), codecs: builtInCodecs)
        }
    }

    #if PDF
    private let codecs = sandboxCodecs()

    private func source(_ sample: PDFSample) throws -> ImageSource {
        try ImageSource(EncodedBytes(sample.bytes), codecs: codecs)
    }

    @Test("is drawn sharp at any size, over nothing")
    func anySize() throws {
        let opened = try source(Self.sample)
        #expect(opened.pixelSize == PixelSize(width: 20, height: 10))
        for width in [2, 20, 400] {
            var options = DecodeOptions(maximumSide: width)
            options.allowsEnlarging = true
            let image = try opened.image(options)
            #expect(image.size == PixelSize(width: width, height: width / 2))
            let row = image.row(width / 4)
            for x in 0..<width {
                let pixel = (0..<4).map { Int(row[x * 4 + $0]) }
                let expected = x < width / 2 ? [255, 0, 0, 255] : [0, 0, 128, 128]
                #expect(zip(pixel, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(pixel)")
            }
        }
        var empty = Self.sample
        empty.content = ""
        #expect(try source(empty).image().packedBytes.allSatisfy { $0 == 0 })
    }

    @Test("shows the crop box of the first page, rotated")
    func cropBox() throws {
        var sample = Self.sample
        sample.page = "/MediaBox [0 0 20 10] /CropBox [5 1 14.995 9] /Rotate 90"
        sample.hasSecondPage = true
        let image = try source(sample).image()
        #expect(image.size == PixelSize(width: 8, height: 10))
        #expect(image.row(0)[0] == 255)
        #expect(image.row(9)[2] == 128)
    }

    @Test("with a font that the file does not contain is rejected with the name of the font")
    func fonts() throws {
        var sample = PDFSample("BT /F 9 Tf (text) Tj ET")
        sample.resources = "/Font <</F 5 0 R>>"
        sample.objects = ["<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"]
        let error = #expect(throws: CodecError.self) { _ = try source(sample).image() }
        let feature = "a PDF page with the font Helvetica, which the file does not contain"
        #expect(error == .unsupported(feature: feature))
    }

    @Test("with a password is rejected")
    func password() throws {
        var file = String(decoding: Self.sample.bytes, as: UTF8.self)
        let key = String(repeating: "41", count: 32)
        let encryption = "<</Filter /Standard /V 1 /R 2 /O <\(key)> /U <\(key)> /P -4>>"
        file.replace("/Root 1 0 R", with: "/Root 1 0 R /ID [<00> <00>] /Encrypt \(encryption)")
        let error = #expect(throws: CodecError.self) {
            _ = try ImageSource(EncodedBytes(Array(file.utf8)), codecs: codecs).image()
        }
        #expect(error == .unsupported(feature: "a PDF file that requires a password"))
    }

    @Test("that is damaged or exceeds a limit is an error")
    func damaged() throws {
        for text in ["%PDF-", "%PDF-1.7\n%%EOF\n", "%PDF-1.4 trailer <</Root 1 0 R>>"] {
            #expect(throws: CodecError.self, "\(text)") {
                _ = try ImageSource(EncodedBytes(Array(text.utf8)), codecs: codecs).image()
            }
        }
        for box in ["0 0 1000000000 10", "0 0 0 0"] {
            var sample = Self.sample
            sample.page = "/MediaBox [\(box)]"
            if box.hasPrefix("0 0 1") {
                #expect(throws: CodecError.self) { _ = try source(sample).image() }
            } else {
                // Poppler uses the size of a letter for an empty page.
                #expect((try? source(sample).pixelSize.width) ?? 612 == 612)
            }
        }
    }

    @Test("every changed file is drawn or rejected")
    func mutations() throws {
        let original = Self.sample.bytes
        var random = SeededRandom(seed: 3)
        var errorCount = 0
        for _ in 0..<300 {
            var changed = original
            for _ in 0...random.next() % 6 {
                changed[Int(random.next() % UInt64(changed.count))] =
                    UInt8(truncatingIfNeeded: random.next())
            }
            let image = try? ImageSource(EncodedBytes(changed), codecs: codecs)
                .image(DecodeOptions(maximumSide: 20))
            if image == nil { errorCount += 1 }
        }
        #expect((1..<300).contains(errorCount))
    }
    #endif
}
