// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Testing

@Suite("Orientation") struct OrientationTests {
    /// The image "ab/cd/ef" after each of EXIF's eight orientations.
    static let upright: [Orientation: [String]] = [
        .upright: ["ab", "cd", "ef"], .mirroredHorizontally: ["ba", "dc", "fe"],
        .rotated180: ["fe", "dc", "ba"], .mirroredVertically: ["ef", "cd", "ab"],
        .transposed: ["ace", "bdf"], .rotated90: ["eca", "fdb"],
        .transversed: ["fdb", "eca"], .rotated270: ["bdf", "ace"],
    ]

    @Test("orients rows as they are appended", arguments: Orientation.allCases)
    func rows(orientation: Orientation) throws {
        let size = PixelSize(width: 2, height: 3)
        for format in [PixelFormat.gray8, .rgb8, .rgba8] {
            var resampler = RowResampler(from: size, format, to: size, orientation: orientation)
            for letters in ["ab", "cd", "ef"] {
                let row = letters.utf8.flatMap {
                    Array(repeating: $0, count: format.channelCount)
                }
                resampler.append(row.span)
            }
            let image = resampler.finish()
            let shown = (0..<image.size.height).map { y in
                let row = image.row(y)
                return String(
                    decoding: (0..<image.size.width).map { row[$0 * format.channelCount] },
                    as: UTF8.self)
            }
            let expected = try #require(Self.upright[orientation])
            #expect(shown == expected, "\(format)")
        }
    }

    @Test("orients and resizes an image in one pass", arguments: Orientation.allCases)
    func resizing(orientation: Orientation) {
        let source = TestImage.photograph(PixelSize(width: 60, height: 41))
        let small = PixelSize(width: 20, height: 14)
        let plain = source.resampled(to: small)
        let turned = source.resampled(to: small, orientation: orientation)
        #expect(turned.size == orientation.oriented(small))
        for y in 0..<small.height {
            for x in 0..<small.width {
                let (shownX, shownY) = orientation.position(ofX: x, y: y, in: small)
                #expect(turned.row(shownY)[shownX * 3] == plain.row(y)[x * 3])
            }
        }
    }
}
