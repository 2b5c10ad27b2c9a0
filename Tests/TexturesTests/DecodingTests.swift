// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import Textures

@Suite("Decoding of textures")
struct TextureDecodingTests {
    /// A format, and the difference in a sample that another rounding makes.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var format: TextureFormat
        var tolerance = 0
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "pvrtc2", format: .pvrtc2), Case(name: "pvrtc4", format: .pvrtc4),
        Case(name: "etc1", format: .etc1), Case(name: "etc2", format: .etc2),
        Case(name: "etc2PunchThrough", format: .etc2PunchThrough),
        Case(name: "etc2Alpha", format: .etc2Alpha),
        // The peer discards the lowest three of 11 bits.
        Case(name: "eacR", format: .eacR(isSigned: false), tolerance: 1),
        Case(name: "eacRG", format: .eacRG(isSigned: false), tolerance: 1),
        Case(name: "eacRSigned", format: .eacR(isSigned: true), tolerance: 1),
        Case(name: "bc1", format: .bc1), Case(name: "bc2", format: .bc2),
        Case(name: "bc3", format: .bc3),
        Case(name: "bc4", format: .bc4(isSigned: false)),
        Case(name: "bc5", format: .bc5(isSigned: false)), Case(name: "bc7", format: .bc7),
    ]

    @Test(
        "of random blocks agrees with texture2ddecoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: cases)
    func random(_ example: Case) throws {
        let python = try #require(PeerTool.python)
        let sizes = [(64, 64, 40), (16, 8, 200), (128, 32, 40), (32, 128, 40), (256, 256, 2)]
        var generator = SystemRandomNumberGenerator()
        var blocks: [UInt8] = []
        var decoded: [UInt8] = []
        for (width, height, count) in sizes {
            let size = PixelSize(width: width, height: height)
            let byteCount = example.format.byteCount(size)
            for _ in 0..<count {
                let bytes = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator)
                }
                let texture = Self.valid(bytes, example.format)
                blocks += texture
                try decoded += pixels(texture, example.format, size)
            }
        }
        let folder = try TemporaryFolder()
        let file = folder.path("blocks")
        try Data(blocks).write(to: URL(filePath: file))
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/textures.py")
        let arguments =
            [script.path, example.name, file] + sizes.map { "\($0.0)x\($0.1)x\($0.2)" }
        let expected = try #require(try PeerTool.run(python, arguments))
        #expect(
            Self.greatestDifference(decoded, expected, example.format) <= example.tolerance)
    }

    /// Returns the greatest difference of a sample from pixels of RGBA.
    private static func greatestDifference(
        _ decoded: [UInt8], _ expected: [UInt8], _ format: TextureFormat
    ) -> Int {
        let pixelCount = expected.count / 4
        let channelCount = decoded.count / pixelCount
        guard pixelCount > 0, decoded.count == pixelCount * channelCount else { return .max }
        var worst = 0
        for pixel in 0..<pixelCount {
            // The peer gives transparent pixels a colour.
            let isTransparent =
                channelCount == 4 && decoded[pixel * 4 + 3] == 0 && expected[pixel * 4 + 3] == 0
            for channel in 0..<min(channelCount, format.channelCount) where !isTransparent {
                let difference =
                    Int(decoded[pixel * channelCount + channel])
                    - Int(expected[pixel * 4 + channel])
                worst = max(worst, abs(difference))
            }
        }
        return worst
    }

    /// Returns random blocks without what the format does not define and decoders treat differently.
    private static func valid(_ bytes: [UInt8], _ format: TextureFormat) -> [UInt8] {
        var bytes = bytes
        for block in stride(from: 0, to: bytes.count, by: 8) {
            switch format {
            case .etc1:
                for channel in 0..<3 {
                    let byte = bytes[block + channel]
                    let difference = Int(byte & 7) - (byte & 4 == 0 ? 0 : 8)
                    if !(0...31).contains(Int(byte >> 3) + difference) {
                        bytes[block + channel] = byte & ~7
                    }
                }
            case .eacR(isSigned: true) where bytes[block] == 0x80:
                bytes[block] = 0x81
            default: break
            }
        }
        return bytes
    }

    private func pixels(
        _ blocks: [UInt8], _ format: TextureFormat, _ size: PixelSize
    ) throws -> [UInt8] {
        // Premultiplied, so that the samples are those of the blocks.
        var header = TextureHeader(.pvr3, format, size, .premultiplied)
        header.placeLevels(from: 0, isLevelMajor: true)
        var result: [UInt8] = []
        try TextureRows(header, level: 0).decode(blocks.span) { row in
            for index in row.indices { result.append(row[index]) }
        }
        return result
    }
}
