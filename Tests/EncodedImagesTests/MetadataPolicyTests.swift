// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("Metadata of an image that was made from another one") struct MetadataPolicyTests {
    private func written(
        _ block: [UInt8], strips: Bool = false,
        _ change: (inout ImageChanges) -> Void = { _ in }
    ) -> [UInt8]? {
        var blocks = MetadataBlocks()
        blocks.exif = block
        var changes = ImageChanges(size: PixelSize(width: 3000, height: 4000))
        change(&changes)
        return blocks.forWriting(MetadataPolicy(.all, stripsLocation: strips), changes).exif
    }

    @Test("is updated to match the image, and otherwise unchanged", arguments: [true, false])
    func upToDate(isLittleEndian: Bool) throws {
        let block = EXIFBlock.photograph(isLittleEndian: isLittleEndian)
        let result = try #require(written(block) { $0.isConvertedToSRGB = true })
        var expected = EXIFFields(block.span)
        expected.orientation = .upright
        expected.pixelSize = PixelSize(width: 3000, height: 4000)
        expected.colorSpace = .sRGB
        #expect(EXIFFields(result.span) == expected)
        // The thumbnail would lie on its side; it stood at the end, which is gone.
        #expect(EXIF(result.span).thumbnail == nil)
        #expect(result.count < block.count)
        #expect(place(of: "notes of the maker", in: result) != nil)
        #expect(
            place(of: "notes of the maker", in: result)
                == place(of: "notes of the maker", in: block))
    }

    @Test("keeps a thumbnail that still matches", arguments: [true, false])
    func thumbnail(isLittleEndian: Bool) throws {
        let block = EXIFBlock.photograph(isLittleEndian: isLittleEndian, orientation: 1)
        let same = try #require(written(block))
        #expect(EXIF(same.span).thumbnail == EXIF(block.span).thumbnail)
        let range = try #require(EXIF(same.span).thumbnail)
        #expect(same[range] == block[range])
        let small = try #require(written(block) { $0.isResized = true })
        #expect(EXIF(small.span).thumbnail == nil)
        #expect(small.count < range.upperBound)
    }

    @Test("contains no position after it was stripped", arguments: [true, false])
    func location(isLittleEndian: Bool) throws {
        for orientation in [1, 6] {
            let block = EXIFBlock.photograph(
                isLittleEndian: isLittleEndian, orientation: orientation)
            let result = try #require(written(block, strips: true))
            var expected = EXIFFields(block.span)
            expected.location = nil
            expected.orientation = .upright
            expected.pixelSize = PixelSize(width: 3000, height: 4000)
            #expect(EXIFFields(result.span) == expected)
            #expect((EXIF(result.span).thumbnail != nil) == (orientation == 1))
            // The date and the seconds of the position are not even left as bytes.
            #expect(place(of: "2024:03:01\0", in: block) != nil)
            #expect(place(of: "2024:03:01\0", in: result) == nil)
            #expect(
                result.count == block.count || orientation == 6, "nothing that stays is moved")
        }
    }

    @Test("omits a block from which positions cannot be stripped")
    func hostile() {
        // The directory of positions is the first directory itself.
        let loop = EXIFBlock.make([(0x0112, .shorts([1])), (0x8825, .longs([8]))])
        #expect(written(loop, strips: true) == nil)
        // Only the directory of positions: nothing would be left.
        let only = EXIFBlock.make([(0x8825, .directory([(1, .ascii("N"))]))])
        #expect(written(only, strips: true) == nil)
        #expect(written(only) == only)
        #expect(written([]) == nil)
        #expect(written(Array("II*\0".utf8) + [8, 0, 0, 0, 9, 0]) == nil)
    }

    @Test("accepts a thumbnail of negative length")
    func negativeThumbnailLength() throws {
        var block = EXIFBlock.photograph(isLittleEndian: true, orientation: 1)
        // JPEGInterchangeFormatLength: a LONG, which becomes an SLONG of -16.
        let entry = try #require(
            block.indices.dropLast(12).first {
                block[$0..<$0 + 4].elementsEqual([0x02, 0x02, 0x04, 0x00])
            })
        block[entry + 2] = 9
        block.replaceSubrange(entry + 8..<entry + 12, with: [0xF0, 0xFF, 0xFF, 0xFF])
        let result = try #require(written(block) { $0.isResized = true })
        #expect(EXIF(result.span).thumbnail == nil)
    }

    @Test("contains no position after damage anywhere")
    func damage() {
        let block = EXIFBlock.photograph(isLittleEndian: true)
        var random = SeededRandom(seed: 9)
        var kept = 0
        for _ in 0..<5_000 {
            var damaged = block
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: damaged.indices, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            let count = Int.random(in: damaged.count / 2...damaged.count, using: &random)
            guard let result = written(Array(damaged[..<count]), strips: true) else { continue }
            kept += 1
            #expect(EXIFFields(result.span).location == nil)
        }
        #expect(kept > 500)
    }

    @Test("omits positions and outdated properties from XMP")
    func xmp() throws {
        var blocks = MetadataBlocks()
        blocks.xmp = Array(XMPTests.packet.utf8)
        blocks.iptc = IPTCTests.records
        let changes = ImageChanges(size: PixelSize(width: 1, height: 1))
        let kept = blocks.forWriting(MetadataPolicy(.all, stripsLocation: false), changes)
        #expect(kept == blocks)
        let stripped = blocks.forWriting(MetadataPolicy(.all, stripsLocation: true), changes)
        #expect(String(decoding: try #require(stripped.xmp), as: UTF8.self).contains("Hafen"))
        #expect(!String(decoding: try #require(stripped.xmp), as: UTF8.self).contains("GPS"))
        #expect(stripped.iptc == blocks.iptc)
        blocks.xmp = Array("<a><exif:GPSLatitude>".utf8)
        #expect(blocks.forWriting(.copy, changes).xmp == nil)
        #expect(blocks.forWriting(.rendition, changes) == MetadataBlocks())
        #expect(
            blocks.forWriting(MetadataPolicy(.none, stripsLocation: false), changes)
                == MetadataBlocks())
    }
}

/// Where a text stands in a block.
private func place(of text: String, in block: [UInt8]) -> Int? {
    let text = Array(text.utf8)
    guard block.count >= text.count else { return nil }
    return (0...block.count - text.count).first {
        block[$0..<$0 + text.count].elementsEqual(text)
    }
}
