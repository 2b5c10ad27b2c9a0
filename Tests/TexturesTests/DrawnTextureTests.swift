// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import Textures

/// Draws with the driver of this machine, such as llvmpipe, by way of `Tests/Peers/drawn_textures.py`.
@Suite("Textures drawn with OpenGL ES")
struct DrawnTextureTests {
    /// A format, its name in the script, and the difference in a sample that another rounding makes.
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var format: TextureFormat
        var tolerance = 0
        /// Whether OpenGL ES 3 requires it.
        var isRequired = false
    }

    static let cases = [
        Case(testDescription: "etc1", format: .etc1, isRequired: true),
        Case(testDescription: "etc2", format: .etc2, isRequired: true),
        Case(testDescription: "etc2a", format: .etc2Alpha, isRequired: true),
        Case(
            testDescription: "eac-r", format: .eacR(isSigned: false), tolerance: 1,
            isRequired: true),
        Case(
            testDescription: "eac-rg", format: .eacRG(isSigned: false), tolerance: 1,
            isRequired: true),
        Case(testDescription: "bc1", format: .bc1, tolerance: 1),
        Case(testDescription: "bc3", format: .bc3, tolerance: 1),
        Case(testDescription: "bc4", format: .bc4(isSigned: false), tolerance: 1),
        Case(testDescription: "bc5", format: .bc5(isSigned: false), tolerance: 1),
        Case(testDescription: "bc7", format: .bc7),
        // Drivers for desktops lack it: a program uploads the decoded pixels.
        Case(testDescription: "pvrtc", format: .pvrtc4),
    ]

    private static let size = PixelSize(width: 32, height: 32)

    private static let isAvailable =
        (try? draw([UInt8](repeating: 0, count: 4), "rgba", PixelSize(width: 1, height: 1))) != nil

    /// Returns the RGBA pixels that the driver draws; `nil` if it lacks the format, or without EGL.
    private static func draw(
        _ blocks: [UInt8], _ format: String, _ size: PixelSize
    ) throws -> [UInt8]? {
        let folder = try TemporaryFolder()
        let file = folder.path("blocks")
        try Data(blocks).write(to: URL(filePath: file))
        return try PeerTool.run(
            PeerTool.python ?? URL(filePath: "/usr/bin/python3"), script: "drawn_textures.py",
            [file, format, "\(size.width)", "\(size.height)"])
    }

    @Test(
        "show what the decoder shows",
        .enabled(if: isAvailable, "Python, or EGL with OpenGL ES 3 is missing"), arguments: cases)
    func drawn(_ example: Case) throws {
        let image = varied
        let blocks =
            example.format.isPVRTC
            ? try PVRTCEncoder.encode(image, .fast)
            : try BlockEncoder.encode(image, example.format, .fast)
        let decoded = try decoded(blocks, example.format)
        let drawn =
            example.format.isPVRTC
            ? nil : try Self.draw(blocks, example.testDescription, Self.size)
        #expect(!example.isRequired || drawn != nil)
        let shown = try #require(try drawn ?? Self.draw(decoded, "rgba", Self.size))
        #expect(shown.count == decoded.count)
        // The driver stores BC1 without alpha.
        let channelCount = example.format == .bc1 ? 3 : example.format.channelCount
        var (greatest, distinct) = (0, Set<UInt8>())
        for index in shown.indices where index % 4 < channelCount {
            greatest = max(greatest, abs(Int(shown[index]) - Int(decoded[index])))
            distinct.insert(shown[index])
        }
        #expect(greatest <= example.tolerance)
        #expect(distinct.count > 16)
    }

    /// A gradient with noise, whose alpha varies.
    private var varied: PixelBuffer {
        var random = SeededRandom(seed: 31)
        var image = MutablePixelBuffer(size: Self.size, format: .rgba8)
        for y in 0..<Self.size.height {
            image.withMutableRow(y) { row in
                for x in 0..<Self.size.width {
                    row[x * 4] = UInt8(x * 6) + .random(in: 0..<20, using: &random)
                    row[x * 4 + 1] = UInt8(y * 6) + .random(in: 0..<20, using: &random)
                    row[x * 4 + 2] = UInt8((x + y) * 3)
                    row[x * 4 + 3] = UInt8(255 - x * 2)
                }
            }
        }
        return image.finish()
    }

    /// Decodes blocks to RGBA; channels that the format lacks are 0, and alpha 255.
    private func decoded(_ blocks: [UInt8], _ format: TextureFormat) throws -> [UInt8] {
        var header = TextureHeader(.pvr3, format, Self.size, .premultiplied)
        header.placeLevels(from: 0, isLevelMajor: true)
        let rows = TextureRows(header, level: 0)
        let byteCount = rows.pixelFormat.bytesPerPixel
        var result: [UInt8] = []
        try rows.decode(blocks.span) { row in
            for x in 0..<Self.size.width {
                for channel in 0..<4 {
                    let missing: UInt8 = channel == 3 ? 255 : 0
                    result.append(
                        channel < byteCount ? row[x * byteCount + channel] : missing)
                }
            }
        }
        return result
    }
}
