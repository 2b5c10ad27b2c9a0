// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Pixels
import Testing

@Suite("Decode plan") struct DecodePlanTests {
    private func header(_ width: Int, _ height: Int, _ orientation: Orientation) -> ImageHeader {
        var header = ImageHeader(
            storedSize: PixelSize(width: width, height: height), colorModel: .rgb,
            bitsPerComponent: 8)
        header.orientation = orientation
        return header
    }

    @Test("leaves a factor of at least 2 to the resampler")
    func shrinking() {
        let header = header(4032, 3024, .upright)
        let factors = [4032, 2017, 2016, 1009, 1008, 505, 504, 253, 252, 100, 1].map {
            DecodePlan(header, DecodeOptions(maximumSide: $0)).shrinkFactor(of: [2, 4, 8])
        }
        #expect(factors == [1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8])
    }

    @Test("applies the box to the upright image", arguments: Orientation.allCases)
    func orientation(orientation: Orientation) {
        let header = header(400, 300, orientation)
        let plan = DecodePlan(
            header, DecodeOptions(box: PixelSize(width: 100, height: .max)))
        #expect(plan.resultSize.width == 100)
        var options = DecodeOptions(box: PixelSize(width: 100, height: .max))
        options.appliesOrientation = false
        #expect(
            DecodePlan(header, options).resultSize == PixelSize(width: 100, height: 75))
    }

    @Test("applies the region to the upright image", arguments: Orientation.allCases)
    func region(orientation: Orientation) {
        let header = header(5, 3, orientation)
        var options = DecodeOptions()
        options.region = PixelRect(x: 1, y: 1, width: 2, height: 1)
        let region = DecodePlan(header, options).geometry.region
        var shown: Set<[Int]> = []
        for y in Int(region.y)..<Int(region.y + region.height) {
            for x in Int(region.x)..<Int(region.x + region.width) {
                let place = orientation.position(ofX: x, y: y, in: header.storedSize)
                shown.insert([place.x, place.y])
            }
        }
        #expect(shown == [[1, 1], [2, 1]])
    }

    @Test(
        "clamps a region to the image, to one pixel at least",
        arguments: [
            (
                PixelRect(x: 5, y: 3, width: 2, height: 2),
                PixelRect(x: 4, y: 2, width: 1, height: 1)
            ),
            (
                PixelRect(x: -3, y: 1, width: 4, height: 9),
                PixelRect(x: 0, y: 1, width: 1, height: 2)
            ),
            (
                PixelRect(x: 3, y: 0, width: .max, height: 1),
                PixelRect(x: 3, y: 0, width: 2, height: 1)
            ),
        ])
    func clampedRegion(region: PixelRect, expected: PixelRect) {
        var options = DecodeOptions()
        options.region = region
        #expect(options.part(of: PixelSize(width: 5, height: 3)) == expected)
    }

    @Test("keeps the edge of the anchor of a fill") func anchor() {
        var options = DecodeOptions(box: PixelSize(width: 100, height: 100), mode: .fill)
        for (x, expected) in [(0.0, 0.0), (0.5, 1500), (1, 3000), (7, 3000), (-1, 0), (.nan, 0)] {
            options.anchor = CropAnchor(x: x, y: 0)
            #expect(DecodePlan(header(4000, 1000, .upright), options).geometry.region.x == expected)
        }
    }

    @Test("shrinks a fill by the part that is kept")
    func fill() {
        let header = header(4000, 1000, .upright)
        let plan = DecodePlan(
            header, DecodeOptions(box: PixelSize(width: 250, height: 250), mode: .fill))
        #expect(plan.shrinkFactor(of: [2, 4, 8]) == 2)
        #expect(plan.geometry.region.width == 1000)
    }
}
