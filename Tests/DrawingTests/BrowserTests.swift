// SPDX-License-Identifier: Apache-2.0

import Drawing
import ImageTesting
import Pixels
import Testing

@Suite(
    "Resizable images and tiles, compared with Chromium",
    .enabled(if: PeerTool.chromium != nil, "CALOTYPE_PYTHON is not set, or Chromium not installed"))
struct BrowserTests {
    private struct Box {
        let rect: PixelRect
        let mode: ResizableImage.Mode
        /// The value of `border-image-repeat`.
        let css: String
        /// The largest difference in levels.
        var limit = 1

        var region: SampleRegion {
            SampleRegion(
                x: Double(rect.x), y: Double(rect.y), width: Double(rect.width),
                height: Double(rect.height))
        }

        /// The coordinates of the rectangle in CSS.
        var style: String {
            "position: absolute; box-sizing: border-box; left: \(rect.x)px; top: \(rect.y)px; "
                + "width: \(rect.width)px; height: \(rect.height)px"
        }
    }

    private let window = PixelSize(width: 400, height: 300)
    private let insets = ResizableImage.Insets(top: 7, left: 10, bottom: 5, right: 12)
    /// The inner part has 18×20 pixels.
    private let image = TestImage.photograph(PixelSize(width: 40, height: 32), seed: 3)

    /// The inner part is repeated an odd number of times, since CSS centres one copy: 5×3 and 3×1.
    private let boxes = [
        Box(rect: PixelRect(x: 3, y: 2, width: 150, height: 97), mode: .stretch, css: "stretch"),
        Box(rect: PixelRect(x: 160, y: 5, width: 41, height: 200), mode: .stretch, css: "stretch"),
        // CSS defines no filter where the inner part is reduced; here to the half and to two thirds.
        Box(
            rect: PixelRect(x: 210, y: 4, width: 31, height: 25), mode: .stretch, css: "stretch",
            limit: 8),
        Box(
            rect: PixelRect(x: 5, y: 105, width: 18 * 5 + 22, height: 20 * 3 + 12), mode: .tile,
            css: "repeat"),
        Box(
            rect: PixelRect(x: 250, y: 10, width: 18 * 3 + 22, height: 32), mode: .tile,
            css: "repeat"),
        // `round` does not resize parts that fit a whole number of times, even or odd.
        Box(
            rect: PixelRect(x: 220, y: 60, width: 18 * 4 + 22, height: 20 * 6 + 12), mode: .tile,
            css: "round"),
    ]

    @Test("enlarges and repeats the parts of an image within 1/255 of CSS border-image")
    func borderImage() throws {
        let sides = "\(insets.top) \(insets.right) \(insets.bottom) \(insets.left)"
        let widths = sides.split(separator: " ").map { "\($0)px" }.joined(separator: " ")
        let page = boxes.map { box in
            "<div style=\"\(box.style); border: solid; border-width: \(widths); "
                + "border-image: url(image.png) \(sides) fill / \(widths) \(box.css)\"></div>"
        }
        let expected = try #require(
            try PeerTool.screenshot(page.joined(separator: "\n"), ["image": image], window))
        let result = try ImageRenderer(size: window).image { context throws(DrawingError) in
            context.fill(.color(.white))
            for box in boxes {
                let resizable = try ResizableImage(image, insets: insets, mode: box.mode)
                try context.draw(resizable, in: box.region)
            }
        }
        for box in boxes {
            let (ours, theirs) = (result.cut(box.rect), expected.cut(box.rect))
            let comparison = PixelComparison(ours, theirs)
            #expect(
                comparison.maximumDifference <= box.limit, "\(box.css) \(box.rect): \(comparison)")
            // Corners are copied.
            let corner = PixelRect(x: 0, y: 0, width: 10, height: 7)
            #expect(ours.cut(corner).packedBytes == image.cut(corner).packedBytes)
            #expect(theirs.cut(corner).packedBytes == image.cut(corner).packedBytes)
        }
    }

    @Test("repeats tiles exactly as CSS background-image")
    func tiles() throws {
        let origins = [(0, 0), (-13, 5), (7, -40)]
        let band = PixelSize(width: 400, height: 100)
        let page = origins.map { x, y in
            "<div style=\"height: \(band.height)px; "
                + "background: url(image.png) \(x)px \(y)px repeat\"></div>"
        }
        let expected = try #require(
            try PeerTool.screenshot(page.joined(), ["image": image], window))
        for (index, (x, y)) in origins.enumerated() {
            let result = try ImageRenderer(size: band).image {
                $0.tile(image, from: Point(Double(x), Double(y)))
            }
            let part = PixelRect(
                x: 0, y: index * band.height, width: band.width, height: band.height)
            #expect(PixelComparison(result, expected.cut(part)).maximumDifference == 0)
        }
    }
}
