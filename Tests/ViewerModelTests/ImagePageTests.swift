// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import Pixels
import Testing
import ViewerModel

@Suite("Pages in the viewer") struct ImagePageTests {
    /// Returns a texture of grey levels in a DDS file.
    private func texture(width: UInt8, height: UInt8, levelCount: UInt8) throws -> ImageSource {
        var file = [UInt8](repeating: 0, count: 128)
        for (offset, bytes) in [
            (0, Array("DDS ".utf8)), (4, [124]), (8, [7, 16, 2]), (12, [height]), (16, [width]),
            (28, [levelCount]), (76, [32]), (80, [0, 0, 2]), (88, [8]), (92, [255]),
        ] {
            file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        let pixels = [UInt8](repeating: 7, count: 2 * Int(width) * Int(height))
        return try ImageSource(EncodedBytes(file + pixels), codecs: builtInCodecs)
    }

    @Test("follow each other in a circle", arguments: [(0, 0), (3, 3), (4, 0), (-1, 3), (-9, 3)])
    func circle(number: Int, page: Int) throws {
        let first = try texture(width: 8, height: 8, levelCount: 4)
        let opened = try ImagePage(number, of: first)
        #expect(opened.number == page && opened.count == 4)
        #expect(opened.label == .page(number: page + 1, count: 4))
    }

    @Test(
        "that are smaller versions take the place of the first",
        arguments: [(8, 8), (12, 5), (9, 1)])
    func levels(width: UInt8, height: UInt8) throws {
        let first = try texture(width: width, height: height, levelCount: 4)
        for number in 0..<4 {
            let page = try ImagePage(number, of: first)
            #expect(page.source.pixelSize.width == max(1, Int(width) >> number))
            #expect(page.placedSize == PixelSize(width: Int(width), height: Int(height)))
        }
    }

    @Test("of another shape have their own size")
    func otherShapes() throws {
        let sizes = [(32, 32), (16, 16), (16, 4)].map { PixelSize(width: $0, height: $1) }
        let icon = try ImageSource(EncodedBytes(Self.icon(sizes)), codecs: builtInCodecs)
        let placed = try (0..<3).map { try ImagePage($0, of: icon).placedSize }
        #expect(placed == [sizes[0], sizes[0], sizes[2]])
    }

    /// Returns an icon with entries in PNG.
    private static func icon(_ sizes: [PixelSize]) throws -> [UInt8] {
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        let entries = try sizes.map {
            try destination.encode(MutablePixelBuffer(size: $0, format: .rgba8).finish())
        }
        func bytes(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8), 0, 0] }
        var file: [UInt8] = [0, 0, 1, 0, UInt8(sizes.count), 0]
        var offset = file.count + 16 * sizes.count
        for (size, entry) in zip(sizes, entries) {
            file += [UInt8(size.width), UInt8(size.height), 0, 0, 1, 0, 32, 0]
            file += bytes(entry.count) + bytes(offset)
            offset += entry.count
        }
        return file + entries.joined()
    }

    @Test("state the format, the size and the mip level")
    func facts() throws {
        let page = try ImagePage(2, of: texture(width: 8, height: 4, levelCount: 3))
        let facts = Dictionary(page.facts, uniquingKeysWith: { $1 })
        #expect(facts["format"] == "dds" && facts["size"] == "2x1")
        #expect(facts["Mip level"] == "2, of 3" && facts["Texture format"] != nil)
        #expect(page.metadata.isEmpty)
    }
}
