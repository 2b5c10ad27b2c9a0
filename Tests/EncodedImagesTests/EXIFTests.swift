// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("EXIF") struct EXIFTests {
    /// Orientation 6, then a directory with a thumbnail of 4 bytes at the end.
    static let block: [UInt8] =
        Array("II*\0".utf8) + [8, 0, 0, 0]
        + [1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 26, 0, 0, 0]
        + [2, 0, 0x01, 0x02, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0]
        + [0x02, 0x02, 4, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0] + [0xFF, 0xD8, 0xFF, 0xD9]

    @Test("contains the orientation and the range of the thumbnail")
    func facts() {
        let exif = EXIF(Self.block.span)
        #expect(exif.orientation == .rotated90)
        #expect(exif.thumbnail == 56..<60)
    }

    @Test("omits fields of a damaged block")
    func damage() {
        for length in Self.block.indices {
            let exif = EXIF(Self.block.span.extracting(first: length))
            #expect(exif.thumbnail == nil, "cut at \(length) bytes")
        }
        var random = SeededRandom(seed: 1)
        for _ in 0..<10_000 {
            var block = Self.block
            let place = Int.random(in: 8..<block.count, using: &random)
            block[place] = UInt8.random(in: 0...255, using: &random)
            if let thumbnail = EXIF(block.span).thumbnail {
                #expect(thumbnail.upperBound <= block.count)
            }
        }
    }

    @Test("an overwritten short value leaves no bytes of the former one in its entry")
    func padding() throws {
        var metadata = MetadataBlocks()
        var block = Self.block
        block[20...21] = [0xAA, 0xBB]
        metadata.exif = block
        let changes = ImageChanges(size: PixelSize(width: 2, height: 2))
        let exif = try #require(metadata.forWriting(.copy, changes).exif)
        #expect(exif[18..<22] == [1, 0, 0, 0])
    }

    @Test("ignores a directory that precedes the one before it")
    func loop() {
        var block = Self.block
        block[22] = 8
        #expect(EXIF(block.span).thumbnail == nil)
    }
}
