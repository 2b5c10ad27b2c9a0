// SPDX-License-Identifier: Apache-2.0

import Effects
import ImageTesting
import Pixels
import Testing

@Suite("A colour cube") struct ColorCubeTests {
    /// A file with the entries of a function, which is affine and hence interpolated exactly.
    private func file(
        _ side: Int, _ header: String = "", _ function: (Double, Double, Double) -> [Double]
    ) -> [UInt8] {
        var lines = ["TITLE \"test\"", "# a comment", header, "LUT_3D_SIZE \(side)"]
        let last = Double(side - 1)
        for blue in 0..<side {
            for green in 0..<side {
                for red in 0..<side {
                    let color = function(
                        Double(red) / last, Double(green) / last, Double(blue) / last)
                    lines.append(color.map { "\($0)" }.joined(separator: " "))
                }
            }
        }
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    @Test("interpolates between its entries", arguments: [2, 17])
    func interpolation(_ side: Int) throws {
        let cube = try ColorCube(
            file(side) { [$1, $2 * 0.5, 1 - $0] }.span, identity: "rotated")
        let image = TestImage.noise(PixelSize(width: 40, height: 30))
        let result = try #require(Effect.colorCube(cube).applied(to: image))
        let (before, after) = (image.packedBytes, result.packedBytes)
        for start in stride(from: 0, to: before.count, by: 3) {
            let expected = [
                Double(before[start + 1]), Double(before[start + 2]) / 2,
                255 - Double(before[start]),
            ]
            for channel in 0..<3 {
                #expect(abs(Double(after[start + channel]) - expected[channel]) <= 1)
            }
        }
    }

    @Test("clamps its input to the domain")
    func domain() throws {
        let cube = try ColorCube(
            file(2, "DOMAIN_MIN 0.2 0.2 0.2\nDOMAIN_MAX 0.8 0.8 0.8") { [$0, $1, $2] }.span,
            identity: "steep")
        let image = TestImage.flat(PixelSize(width: 1, height: 1), .rgb8, [0, 128, 255])
        let result = try #require(Effect.colorCube(cube).applied(to: image))
        #expect(result.packedBytes == [0, 128, 255])
    }

    @Test(
        "names the line of what is wrong",
        arguments: [
            ("LUT_3D_SIZE 1", 1), ("LUT_3D_SIZE 100000", 1), ("\nLUT_1D_SIZE 4", 2),
            ("0 0 0\nLUT_3D_SIZE 2", 1), ("LUT_3D_SIZE 2\n0 0", 2), ("LUT_3D_SIZE 2\n0 0 nan", 2),
            ("LUT_3D_SIZE 2\n0 0 0", 2), ("", 1), ("SOMETHING 1", 1),
            ("DOMAIN_MIN 1 1 1\nLUT_3D_SIZE 2\n0 0 0", 3),
        ])
    func errors(_ text: String, _ line: Int) {
        let error = #expect(throws: ColorCubeError.self) {
            try ColorCube(Array(text.utf8).span, identity: "")
        }
        #expect(error?.line == line)
    }
}
