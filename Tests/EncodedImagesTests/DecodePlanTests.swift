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

    @Test("leaves the resampler a factor of 2 at least")
    func shrinking() {
        let header = header(4032, 3024, .upright)
        let factors = [4032, 2017, 2016, 1009, 1008, 505, 504, 253, 252, 100, 1].map {
            DecodePlan(header, DecodeOptions(maximumSide: $0)).shrinkFactor(of: [2, 4, 8])
        }
        #expect(factors == [1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8])
    }

    @Test("means the box for the picture as it is looked at", arguments: Orientation.allCases)
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

    @Test("of a fill shrinks by the part that is kept")
    func fill() {
        let header = header(4000, 1000, .upright)
        let plan = DecodePlan(
            header, DecodeOptions(box: PixelSize(width: 250, height: 250), mode: .fill))
        #expect(plan.shrinkFactor(of: [2, 4, 8]) == 2)
        #expect(plan.geometry.region.width == 1000)
    }
}
