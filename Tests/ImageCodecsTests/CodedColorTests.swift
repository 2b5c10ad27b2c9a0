// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Colours specified by the code points of ITU-T H.273.
@Suite("Coded colours") struct CodedColorTests {
    private func converted(_ value: [UInt8], _ points: CICP) throws -> [UInt8] {
        let converter = try #require(builtInCodecs.colorConverter)
        var image = MutablePixelBuffer(
            TestImage.flat(PixelSize(width: 2, height: 1), .rgb8, value))
        image.colorProfile = .coded(points)
        let result = try converter.convertedToSRGB(image.finish())
        #expect(result.colorProfile == .sRGB)
        return Array(result.packedBytes.prefix(3))
    }

    @Test("are those of sRGB for sRGB, BT.709 and unspecified code points")
    func sRGB() throws {
        for (primaries, transfer) in [(1, 13), (1, 1), (1, 6), (2, 2), (2, 13), (0, 0), (1, 14)] {
            let points = CICP(primaries: primaries, transfer: transfer)
            #expect(points.isSRGB)
            #expect(try converted([10, 130, 250], points) == [10, 130, 250])
        }
        for (primaries, transfer) in [(12, 13), (9, 1), (1, 8), (1, 16), (1, 18), (6, 6)] {
            #expect(!CICP(primaries: primaries, transfer: transfer).isSRGB)
        }
    }

    @Test("keep greys under other primaries, and convert colours as CSS Color 4 does")
    func displayP3() throws {
        let points = CICP(primaries: 12, transfer: 13)
        for grey in [0, 1, 50, 128, 254, 255] as [UInt8] {
            let result = try converted([grey, grey, grey], points)
            #expect(result.allSatisfy { abs(Int($0) - Int(grey)) <= 1 }, "\(grey): \(result)")
        }
        // By the matrices of CSS Color 4: 216.6, 123.4, 64.9.
        let result = try converted([204, 128, 77], points)
        for (value, expected) in zip(result, [217, 123, 65]) {
            #expect(abs(Int(value) - expected) <= 1, "\(result)")
        }
    }

    @Test("of linear light are encoded with sRGB's curve")
    func linear() throws {
        let result = try converted([128, 55, 255], CICP(primaries: 1, transfer: 8))
        for (value, expected) in zip(result, [188, 128, 255]) {
            #expect(abs(Int(value) - expected) <= 1, "\(result)")
        }
    }

    @Test(
        "of high dynamic range keep dark tones and map 1,000 cd/m² to white",
        arguments: [16, 18])
    func highDynamicRange(transfer: Int) throws {
        let points = CICP(primaries: 1, transfer: transfer)
        var last = -1
        for value in 0...255 {
            let grey = UInt8(value)
            let result = try converted([grey, grey, grey], points)
            #expect(Int(result[0]) >= last)
            last = Int(result[0])
        }
        #expect(last == 255)
        // 20 cd/m² are the signals 91.0 and 86.5; sRGB shows 20 of 203 as 88.4.
        let dark: UInt8 = transfer == 16 ? 91 : 87
        let result = try converted([dark, dark, dark], points)
        #expect(abs(Int(result[0]) - 88) <= 1, "\(result)")
    }

    @Test("have well-known names")
    func names() {
        #expect(CICP(primaries: 12, transfer: 13).name == "Display P3")
        #expect(CICP(primaries: 9, transfer: 16).name == "BT.2020 PQ")
        #expect(CICP(primaries: 9, transfer: 18).name == "BT.2020 HLG")
        #expect(CICP(primaries: 1, transfer: 13).name == "sRGB")
    }
}
