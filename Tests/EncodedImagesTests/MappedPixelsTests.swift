// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels
import Testing

@testable import EncodedImages

@Suite("Pixels in a file")
struct MappedPixelsTests {
    private static let size = PixelSize(width: 5, height: 3)

    /// Calls `body` with the same bytes in memory and mapped: 64 others, then an image of RGBA.
    private func withBytes(_ body: (EncodedBytes, PixelBuffer) throws -> Void) throws {
        let image = TestImage.noise(Self.size, .rgba8)
        let bytes = [UInt8](repeating: 9, count: 64) + image.bytes.indices.map { image.bytes[$0] }
        try body(EncodedBytes(bytes), image)
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "pixels").path
            try ImageDestination.write(bytes, to: path)
            try body(EncodedBytes(mapping: path), image)
        }
    }

    @Test("are those at the offset, and a mutable copy of them is independent")
    func pixels() throws {
        try withBytes { bytes, image in
            let pixels = try #require(bytes.pixels(at: 64, size: Self.size, format: .rgba8))
            #expect(pixels.byteCount == image.byteCount)
            #expect(PixelComparison(pixels, image).maximumDifference == 0)
            var copy = MutablePixelBuffer(pixels)
            copy.withMutableRow(0) { $0[0] = $0[0] &+ 1 }
            #expect(pixels.row(0)[0] == image.row(0)[0])
            let changed = copy.finish()
            #expect(changed.row(0)[0] == image.row(0)[0] &+ 1)
            #expect(changed.row(2)[19] == image.row(2)[19])
        }
    }

    @Test("must lie in the file")
    func bounds() throws {
        try withBytes { bytes, _ in
            for offset in [-64, 128, .max - 63] {
                #expect(bytes.pixels(at: offset, size: Self.size, format: .rgba8) == nil)
            }
            let larger = PixelSize(width: 5, height: 4)
            #expect(bytes.pixels(at: 64, size: larger, format: .rgba8) == nil)
            let empty = PixelSize(width: 0, height: 3)
            #expect(bytes.pixels(at: 64, size: empty, format: .rgba8) == nil)
            let huge = PixelSize(width: Int.max / 2, height: 2)
            #expect(bytes.pixels(at: 64, size: huge, format: .rgba8) == nil)
        }
    }
}
