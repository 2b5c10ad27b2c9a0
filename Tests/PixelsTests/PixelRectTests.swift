// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing

@Suite("Pixel rectangles") struct PixelRectTests {
    private let rect = PixelRect(x: 2, y: 3, width: 10, height: 20)

    @Test("intersect in the pixels of both")
    func intersection() {
        let other = PixelRect(x: 8, y: 0, width: 10, height: 10)
        #expect(rect.intersection(other) == PixelRect(x: 8, y: 3, width: 4, height: 7))
        #expect(other.intersection(rect) == rect.intersection(other))
        #expect(rect.intersection(PixelRect(x: 12, y: 3, width: 1, height: 1)).isEmpty)
    }

    @Test("contain rectangles within their bounds")
    func containing() {
        #expect(rect.contains(rect))
        #expect(rect.contains(PixelRect(x: 3, y: 4, width: 9, height: 19)))
        #expect(!rect.contains(PixelRect(x: 1, y: 4, width: 5, height: 5)))
        #expect(!rect.contains(PixelRect(x: 3, y: 4, width: 10, height: 1)))
    }
}
