// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing

@Suite("Resize geometry") struct ResizeGeometryTests {
    private func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
    }

    @Test(
        "fits an image into a box and rounds the free side to the nearest pixel",
        arguments: [
            ((4032, 3024), (400, 400), (400, 300)),
            ((3024, 4032), (400, 400), (300, 400)),
            ((1000, 333), (100, 100), (100, 33)),
            ((1000, 335), (100, 100), (100, 34)),
            ((10_000, 1), (100, 100), (100, 1)),
            ((300, 200), (400, 400), (300, 200)),
            ((4032, 3024), (Int.max, 300), (400, 300)),
            ((4032, 3024), (400, Int.max), (400, 300)),
            ((4032, 3024), (Int.max, Int.max), (4032, 3024)),
        ] as [((Int, Int), (Int, Int), (Int, Int))])
    func fit(image: (Int, Int), box: (Int, Int), expected: (Int, Int)) {
        let geometry = ResizeGeometry(
            of: size(image.0, image.1), into: size(box.0, box.1), mode: .fit)
        #expect(geometry.size == size(expected.0, expected.1))
        #expect(geometry.region == SampleRegion(size(image.0, image.1)))
    }

    @Test("enlarges only with enlarging: true")
    func enlarging() {
        let image = size(30, 20)
        for mode in ResizeMode.allCases {
            let kept = ResizeGeometry(of: image, into: size(300, 300), mode: mode)
            #expect(kept.size.width <= 30 && kept.size.height <= 20, "\(mode)")
        }
        let grown = { (mode: ResizeMode) in
            ResizeGeometry(of: image, into: size(300, 300), mode: mode, enlarging: true).size
        }
        #expect(grown(.fit) == size(300, 200))
        #expect(grown(.fill) == size(300, 300))
        #expect(grown(.stretch) == size(300, 300))
    }

    @Test("fills a box with the centred region of its proportions")
    func fill() {
        let geometry = ResizeGeometry(of: size(4000, 3000), into: size(300, 300), mode: .fill)
        #expect(geometry.size == size(300, 300))
        #expect(geometry.region == SampleRegion(x: 500, y: 0, width: 3000, height: 3000))
    }

    @Test("keeps the proportions of the box if a fill may not enlarge")
    func fillWithoutEnlarging() {
        let geometry = ResizeGeometry(of: size(200, 100), into: size(400, 400), mode: .fill)
        #expect(geometry.size == size(100, 100))
        #expect(geometry.region == SampleRegion(x: 50, y: 0, width: 100, height: 100))
    }
}
