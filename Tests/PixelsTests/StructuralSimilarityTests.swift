// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels
import Testing

@Suite("Structural similarity") struct StructuralSimilarityTests {
    private static let sizes = [(203, 147), (64, 48), (8, 8), (9, 16), (5, 3), (1, 1)]
        .map { PixelSize(width: $0, height: $1) }

    /// Encodes an image as binary PNM.
    private func file(_ image: PixelBuffer) -> Data {
        let kind = image.format == .gray8 ? "P5" : "P6"
        return Data("\(kind) \(image.size.width) \(image.size.height) 255\n".utf8)
            + Data(image.packedBytes)
    }

    @Test(
        "matches the definition",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: sizes,
        [PixelFormat.gray8, .rgb8])
    func definition(size: PixelSize, format: PixelFormat) throws {
        let image = TestImage.photograph(size, format)
        var random = SeededRandom(seed: 5)
        var changed = MutablePixelBuffer(image)
        for y in 0..<size.height {
            changed.withMutableRow(y) { row in
                for index in row.indices {
                    row[index] = UInt8(clamping: Int(row[index]) / 2 + Int(random.next() % 60))
                }
            }
        }
        let other = changed.finish()
        let ours = image.structuralSimilarity(to: other)
        try withTemporaryFolder { folder in
            let paths = ["a.pnm", "b.pnm"].map { folder.appending(path: $0) }
            for (path, image) in zip(paths, [image, other]) {
                try file(image).write(to: path)
            }
            let theirs = try PeerTool.similarity(paths[0], paths[1])
            #expect(abs(ours - theirs.blocks) < 1e-9)
            if size.width >= 64 { #expect(abs(ours - theirs.gaussian) < 0.1) }
        }
    }

    @Test("is 1 for equal images in any format, and symmetric")
    func extremes() {
        let size = PixelSize(width: 50, height: 30)
        let image = TestImage.photograph(size, .gray8)
        #expect(image.structuralSimilarity(to: image) == 1)
        #expect(image.structuralSimilarity(to: image.converted(to: .rgba16)) == 1)
        let noise = TestImage.noise(size, .gray8)
        let similarity = image.structuralSimilarity(to: noise)
        #expect(similarity < 0.3)
        #expect(noise.structuralSimilarity(to: image) == similarity)
    }

    @Test("uses the luma plane unchanged") func planes() {
        let size = PixelSize(width: 33, height: 21)
        let planes = TestImage.photograph(size, .yCbCr420)
        let luma = TestImage.make(size, .gray8) { x, y, _ in planes.row(y)[x] }
        #expect(planes.structuralSimilarity(to: luma) == 1)
    }

    @Test("composites transparent images over white") func transparent() {
        let size = PixelSize(width: 16, height: 16)
        let clear = TestImage.flat(size, .rgba8, [90, 20, 200, 0])
        #expect(clear.structuralSimilarity(to: TestImage.flat(size, .gray8, [255])) == 1)
        let half = TestImage.flat(size, .rgba8, [0, 0, 0, 127])
        #expect(half.structuralSimilarity(to: TestImage.flat(size, .gray8, [128])) == 1)
    }
}
