// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("SVG") struct SVGTests {
    private static let document = """
        <?xml version="1.0"?><!-- > --><!DOCTYPE svg [ <!ENTITY a "b"> ]>
        <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">
        <rect width="10" height="10" fill="#ff0000"/>
        <rect x="10" width="10" height="10" fill="#0000ff" fill-opacity="0.5"/></svg>
        """

    @Test("is rejected outside of a sandbox")
    func refused() {
        let file = EncodedBytes(Array("<svg width='1' height='1'/>".utf8))
        #if SVG
        let expected = CodecError.unsupported(feature: "svg outside of a sandbox")
        #else
        let expected = CodecError.notBuiltIn(format: "svg", trait: "SVG")
        #endif
        #expect(throws: expected) { _ = try ImageSource(file, codecs: builtInCodecs) }
    }

    #if SVG
    private let codecs = sandboxCodecs()

    private func source(_ text: String) throws -> ImageSource {
        try ImageSource(EncodedBytes(Array(text.utf8)), codecs: codecs)
    }

    @Test("is rendered sharp at any size")
    func anySize() throws {
        let opened = try source(Self.document)
        #expect(opened.pixelSize == PixelSize(width: 20, height: 10))
        for width in [2, 20, 400] {
            let image = try opened.image(DecodeOptions(maximumSide: width))
            #expect(image.size == PixelSize(width: width, height: width / 2))
            let row = image.row(width / 4)
            for x in 0..<width {
                let pixel = (0..<4).map { row[x * 4 + $0] }
                #expect(pixel == (x < width / 2 ? [255, 0, 0, 255] : [0, 0, 128, 128]))
            }
        }
    }

    @Test("is cropped like any image")
    func filled() throws {
        let options = DecodeOptions(box: PixelSize(width: 30, height: 30), mode: .fill)
        let image = try source(Self.document).image(options)
        #expect(image.size == PixelSize(width: 30, height: 30))
        #expect(image.row(15)[0] == 255)
    }

    @Test("cannot access anything outside of its file")
    func external() throws {
        let path = SampleFiles.packageDirectory.appending(path: "Corpus/png/valid/rgb-8.png")
        let image = try source(
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">
            <image href="\(path.absoluteString)" width="9" height="9"/></svg>
            """
        ).image()
        #expect(image.packedBytes.allSatisfy { $0 == 0 })
    }

    @Test("that is damaged or exceeds a limit is an error")
    func damaged() throws {
        #expect(throws: CodecError.self) { _ = try source("<svg><rect>").image() }
        #expect(throws: CodecError.self) {
            _ = try source("<svg width='1e9' height='1e9'/>").image()
        }
    }

    @Test(
        "real documents are rendered or rejected",
        arguments: SampleFiles.real(extensions: ["svg"]))
    func realFiles(path: URL) throws {
        guard let opened = try? ImageSource(EncodedBytes(mapping: path.path), codecs: codecs)
        else { return }
        let image = try? opened.image(DecodeOptions(maximumSide: 100))
        #expect(image.map { $0.size.largestSide == 100 } ?? true)
    }
    #endif
}
