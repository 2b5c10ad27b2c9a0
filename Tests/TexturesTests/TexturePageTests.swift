// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import Pixels
import Testing

@testable import Textures

@Suite("Pages of textures")
struct TexturePageTests {
    /// The mip levels of the files, of 8×8 and 4×4 texels.
    private static let sides = [8, 4]

    /// A container, and whether all faces of a level precede the next level.
    struct Container: CustomTestStringConvertible, Sendable {
        let name: String
        let isLevelMajor: Bool
        let header: [UInt8]
        /// The bytes before each level.
        let levelSizes: [UInt8]?
        let surfaceCount: Int
        var testDescription: String { name }

        /// Returns a file of grey levels, each with a value of its own.
        var file: [UInt8] {
            func image(_ surface: Int, _ level: Int) -> [UInt8] {
                let side = TexturePageTests.sides[level]
                return Array(repeating: UInt8(16 * surface + level + 1), count: side * side)
            }
            let surfaces = 0..<surfaceCount
            let data: [UInt8] =
                isLevelMajor
                ? (0..<2).flatMap { level in
                    (levelSizes.map { [$0[level], 0, 0, 0] } ?? [])
                        + surfaces.flatMap { image($0, level) }
                } : surfaces.flatMap { image($0, 0) + image($0, 1) }
            return header + data
        }
    }

    static let containers: [Container] = {
        var dds = Array("DDS ".utf8)
        dds.appendLittleEndian32(124, 0x2_1007, 8, 8, 0, 0, 2)
        dds.appendLittleEndian32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        dds.appendLittleEndian32(32, 0x2_0000, 0, 8, 0xFF, 0, 0, 0, 0x40_1008, 0xFE00, 0, 0, 0)
        // Two layers of a cube map.
        var pvr3 = PVRReader.magic3
        pvr3.appendLittleEndian32(0, 0x6C, 8, 0, 0, 8, 8, 1, 2, 6, 2, 0)
        var pvr2: [UInt8] = []
        pvr2.appendLittleEndian32(52, 8, 8, 1, 0x1016, 64, 8, 0xFF, 0, 0, 0, 0x2152_5650, 6)
        // The size is that of a face of a cube map, and that of all layers of an array.
        var cube = KTXReader.magic
        cube.appendLittleEndian32(
            0x0403_0201, 0x1401, 1, 0x1909, 0x1909, 0x1909, 8, 8, 0, 0, 6, 2, 0)
        var array = KTXReader.magic
        array.appendLittleEndian32(
            0x0403_0201, 0x1401, 1, 0x1909, 0x1909, 0x1909, 8, 8, 0, 3, 1, 2, 0)
        return [
            Container(
                name: "DDS", isLevelMajor: false, header: dds, levelSizes: nil, surfaceCount: 6),
            Container(
                name: "PVR 3", isLevelMajor: true, header: pvr3, levelSizes: nil, surfaceCount: 12),
            Container(
                name: "PVR 2", isLevelMajor: false, header: pvr2, levelSizes: nil, surfaceCount: 6),
            Container(
                name: "KTX 1 cube", isLevelMajor: true, header: cube, levelSizes: [64, 16],
                surfaceCount: 6),
            Container(
                name: "KTX 1 array", isLevelMajor: true, header: array, levelSizes: [192, 48],
                surfaceCount: 3),
        ]
    }()

    @Test("are the mip levels of each face and layer", arguments: containers)
    func levels(container: Container) throws {
        let source = try ImageSource(EncodedBytes(container.file), codecs: builtInCodecs)
        #expect(source.header.pageCount == 2 * container.surfaceCount)
        for index in 0..<source.header.pageCount {
            let (surface, level) = (index / 2, index % 2)
            let page = try source.page(index)
            let side = Self.sides[level]
            #expect(page.pixelSize == PixelSize(width: side, height: side))
            #expect(page.header.facts.contains(.init("Mip level", "\(level), of 2")))
            let image = try page.image()
            let row = image.row(side - 1)
            #expect(image.format == .gray8)
            #expect(row.indices.allSatisfy { row[$0] == UInt8(16 * surface + level + 1) })
        }
    }

    @Test("state the face and the layer")
    func facts() throws {
        let source = try ImageSource(EncodedBytes(Self.containers[1].file), codecs: builtInCodecs)
        let facts = try source.page(2 * 8 + 1).header.facts
        #expect(facts.contains(.init("Face", "2, of 6")))
        #expect(facts.contains(.init("Layer", "1, of 2")))
    }

    @Test("are decoded from the level that suffices")
    func reduced() throws {
        let source = try ImageSource(EncodedBytes(Self.containers[0].file), codecs: builtInCodecs)
        let image = try source.page(4).image(DecodeOptions(maximumSide: 4))
        #expect(image.row(0)[0] == 16 * 2 + 1 + 1)
    }

    @Test("beyond the end of the file are typed errors")
    func missing() throws {
        let file = Self.containers[0].file.dropLast(17)
        let source = try ImageSource(EncodedBytes(Array(file)), codecs: builtInCodecs)
        var options = DecodeOptions()
        options.acceptsTruncated = false
        #expect(throws: CodecError.truncated(byteCount: file.count)) {
            try source.page(10).image(options)
        }
        #expect(throws: CodecError.unsupported(feature: "page 13 of 12")) { try source.page(12) }
    }
}
