// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import AssetCatalogs

/// Draws an image of 10x6 points at any size; each sample contains the width of the image.
private struct VectorCodec: ImageCodec, ImageDecoder {
    let format = ImageFormat(
        name: "vectors", extensions: ["vectors"], mediaType: "image/x-vectors",
        signatures: [.init(Array("VECTORS".utf8))])
    var decoder: any ImageDecoder { self }
    var encoder: (any ImageEncoder)? { nil }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        var header = ImageHeader(
            storedSize: PixelSize(width: 10, height: 6), colorModel: .rgb, bitsPerComponent: 8)
        header.isScalable = true
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let size = try rows.choose { $0 }.geometry.size
        try rows.begin(size, .rgb8, .sRGB)
        let row = [UInt8](repeating: UInt8(size.width), count: size.width * 3)
        for _ in 0..<size.height { try rows.append(row.span) }
    }
}

@Suite("Vectors in compiled catalogs")
struct VectorTests {
    private let codecs = builtInCodecs.adding([VectorCodec()])

    private func compiled(
        slots: [String], properties: String = "{}", scale: Int? = nil
    ) throws -> CompiledCatalog {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder)
            try generated.write("A.imageset/a.svg", "VECTORS")
            let png = try ImageDestination(format: "png", codecs: builtInCodecs)
            let image = TestImage.flat(PixelSize(width: 20, height: 12), .rgb8, [1, 2, 3])
            try generated.write("A.imageset/a.png", try png.encode(image))
            try generated.write(
                "A.imageset/Contents.json",
                #"{"images": [\#(slots.map { "{\($0)}" }.joined(separator: ","))], "properties": "#
                    + properties + "}")
            var options = CatalogCompiler.Options()
            if let scale {
                var device = AssetTraits()
                device.scale = scale
                options.devices = [device]
            }
            let compiler = CatalogCompiler(
                try generated.opened(), options: options, codecs: codecs)
            let file = try compiler.file(compiler.sources.map { try compiler.encode($0) })
            return try CompiledCatalog(EncodedBytes(file.bytes), path: "a.assets")
        }
    }

    private func width(_ catalog: CompiledCatalog, scale: Int) throws -> Int? {
        var traits = AssetTraits()
        traits.scale = scale
        let slot = try catalog.slot(.image, "A", for: catalog.query(traits))
        return try slot.map { try catalog.image(of: $0, codecs: codecs).size.width }
    }

    @Test("are drawn for each scale, and the nearest one is displayed")
    func scales() throws {
        let catalog = try compiled(slots: [#""filename": "a.svg""#])
        #expect(try (1...4).map { try width(catalog, scale: $0) } == [10, 20, 30, 30])
        let slot = try catalog.slots(of: Asset.Key(.image, "A"))[0]
        #expect(try catalog.rasterScales(of: slot) == [1, 2, 3])
        #expect(try catalog.data(of: slot) == nil)
        let image = try catalog.image(of: slot.scaled(to: 2), codecs: codecs)
        #expect(image.row(0)[0] == 20)
    }

    @Test("are not drawn for a scale that has a slot of its own, and are kept if the set says so")
    func overrides() throws {
        let catalog = try compiled(
            slots: [#""filename": "a.svg""#, #""filename": "a.png", "scale": "2x""#],
            properties: #"{"preserves-vector-representation": true}"#)
        let slot = try catalog.slots(of: Asset.Key(.image, "A"))[0]
        #expect(try catalog.rasterScales(of: slot) == [1, 3])
        #expect(try catalog.data(of: slot) == Array("VECTORS".utf8))
    }

    @Test("are drawn for the scale of the device only")
    func thinning() throws {
        let catalog = try compiled(slots: [#""filename": "a.svg""#], scale: 2)
        let slot = try catalog.slots(of: Asset.Key(.image, "A"))[0]
        #expect(try catalog.rasterScales(of: slot) == [2])
        #expect(try width(catalog, scale: 2) == 20)
    }

    @Test(
        "are kept without a codec",
        arguments: ["%PDF-1.4", "<?xml version='1.0'?><svg/>"])
    func unknown(text: String) throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder)
            try generated.write("A.imageset/a", text)
            try generated.write(
                "A.imageset/Contents.json", #"{"images": [{"filename": "a"}]}"#)
            let others = builtInCodecs.codecs.filter { !["svg", "pdf"].contains($0.format.name) }
            let compiler = CatalogCompiler(try generated.opened(), codecs: CodecSet(others))
            let file = try compiler.file(compiler.sources.map { try compiler.encode($0) })
            #expect(file.entries.map(\.compression) == ["file"])
            #expect(file.entries[0].reason.hasPrefix("vectors that this program cannot draw"))
        }
    }

    @Test("are no other texts")
    func otherText() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder)
            try generated.write("A.imageset/a.svg", "<!doctype html><p>not found</p>")
            try generated.write(
                "A.imageset/Contents.json", #"{"images": [{"filename": "a.svg"}]}"#)
            let compiler = CatalogCompiler(try generated.opened(), codecs: builtInCodecs)
            #expect(throws: AssetCatalogError.self) { try compiler.encode(compiler.sources[0]) }
        }
    }
}
