// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Reduction of JPEG components") struct ShrinkChoiceTests {
    struct Case: CustomTestStringConvertible {
        var side: Int
        var sampling: [UInt8] = [0x22, 0x11, 0x11]
        var acceptsYCbCr = false
        var profile = ColorProfile.sRGB
        var quality = DecodeOptions.Quality.exact
        /// By component: the side of a decoded block; `nil` if the image is decoded at full size.
        var blockSides: [Int]?

        var testDescription: String {
            "\(side) px, \(sampling), \(acceptsYCbCr), \(quality), sRGB: \(profile.isSRGB)"
        }
    }

    static let displayP3 = ColorProfile.coded(CICP(primaries: 12, transfer: 13))

    /// Images of 4000x3000 pixels, so that a side of 400 is a factor of 10.
    static let cases = [
        Case(side: 1000, acceptsYCbCr: true, profile: displayP3, blockSides: [4, 4, 4]),
        Case(side: 1000, profile: displayP3, blockSides: [4, 8, 8]),
        Case(side: 1100, acceptsYCbCr: true, profile: displayP3, blockSides: [4, 8, 8]),
        Case(side: 400, acceptsYCbCr: true, profile: displayP3, blockSides: [2, 2, 2]),
        Case(side: 2000, blockSides: nil),
        Case(side: 1333, blockSides: [4, 8, 8]),
        Case(side: 1333, acceptsYCbCr: true, blockSides: [4, 4, 4]),
        Case(side: 667, blockSides: [4, 8, 8]),
        Case(side: 666, blockSides: [2, 4, 4]),
        Case(side: 400, blockSides: [2, 4, 4]),
        Case(side: 400, acceptsYCbCr: true, blockSides: [2, 1, 1]),
        Case(side: 401, acceptsYCbCr: true, blockSides: [2, 2, 2]),
        Case(side: 400, sampling: [0x11, 0x11, 0x11], blockSides: [2, 2, 2]),
        Case(side: 400, sampling: [0x21, 0x11, 0x11], acceptsYCbCr: true, blockSides: [2, 1, 1]),
        Case(side: 400, sampling: [0x11], blockSides: [2]),
        Case(side: 252, blockSides: [2, 2, 2]),
        Case(side: 248, blockSides: [1, 2, 2]),
        Case(side: 248, acceptsYCbCr: true, blockSides: [1, 1, 1]),
        Case(side: 500, quality: .fast, blockSides: [1, 1, 1]),
        Case(side: 501, quality: .fast, blockSides: [2, 2, 2]),
    ]

    @Test("block sides depend on size, sampling and quality", arguments: cases)
    func choice(expected: Case) throws {
        let frame = try #require(makeFrame(4000, 3000, expected.sampling))
        let isGray = expected.sampling.count == 1
        var options = DecodeOptions(maximumSide: expected.side)
        options.acceptsYCbCr = expected.acceptsYCbCr
        options.quality = expected.quality
        var header = ImageHeader(
            storedSize: frame.size, colorModel: isGray ? .gray : .rgb, bitsPerComponent: 8)
        header.colorProfile = expected.profile
        let choice = ShrinkChoice(DecodePlan(header, options))
        #expect(choice.blockSides(frame, isGray ? .gray : .yCbCr) == expected.blockSides)
    }

    /// Creates a frame header.
    private func makeFrame(_ width: Int, _ height: Int, _ sampling: [UInt8]) -> JPEGFrame? {
        var body: [UInt8] = [8]
        for side in [height, width] { body += [UInt8(side >> 8), UInt8(side & 255)] }
        body.append(UInt8(sampling.count))
        for (index, factors) in sampling.enumerated() { body += [UInt8(index + 1), factors, 0] }
        return JPEGFrame(marker: 0xC0, body.span)
    }

    @Test("CMYK components share one reduction, and have none if sampling differs")
    func inks() throws {
        let header = ImageHeader(
            storedSize: PixelSize(width: 800, height: 600), colorModel: .cmyk, bitsPerComponent: 8)
        let choice = ShrinkChoice(DecodePlan(header, DecodeOptions(maximumSide: 100)))
        for (sampling, sides) in [(0x11 as UInt8, [2, 2, 2, 2]), (0x22, nil)] as [(UInt8, [Int]?)] {
            let frame = try #require(makeFrame(800, 600, [sampling, 0x11, 0x11, sampling]))
            #expect(choice.blockSides(frame, .ycck) == sides)
        }
    }
}
