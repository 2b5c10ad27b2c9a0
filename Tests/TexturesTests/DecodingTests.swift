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

    static let cases =
        [
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
            // The peer clips to 8 bits by another rounding.
            Case(name: "bc6h", format: .bc6h(isSigned: false), tolerance: 1),
        ]
        + TextureFormat.astcBlockSizes.map { size in
            // The peer extends alpha to 16 bits in another way.
            Case(name: "astc\(size)", format: .astc(size), tolerance: 1)
        }

    @Test(
        "of random blocks agrees with independent decoders",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: cases)
    func random(_ example: Case) throws {
        let python = try #require(PeerTool.python)
        var sizes = [(64, 64, 40), (16, 8, 200), (128, 32, 40), (32, 128, 40), (256, 256, 2)]
        if case .astc = example.format { sizes = [(64, 64, 4), (50, 30, 10), (128, 256, 1)] }
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

    /// A block of each mode of signed BC6H, and its texels 0, 6, 9 and 15 as the decoder bcdec 0.98 gives
    /// them, three half-precision floats each.
    static let signedBlocks = [
        (
            "884ae5f1a94106a0956a26afbccdafe5",
            "e8268dad3c2fea7191133c6de8268dad3c2fea7190973c2f"
        ),
        (
            "61f90a945f5693c642276ad5ab2da739",
            "e1a937d3e282e1a937d3e282d8564dddd77de4a830bde60d"
        ),
        (
            "4251370e99b2d74c3427fa48d732a1df",
            "4e54eed7ebf34da3ef00ec524d6bef0cec704d6bef0cec70"
        ),
        (
            "66aca1e926115901dd06f27f8f063cd2",
            "2b0c652c6b1b2b1d654f6b242ace66246a232ac1657a6ac0"
        ),
        (
            "4a19a621f9bd0ccc21397c1ec795ca77",
            "e3a666851116e3996643117fe39d6659115ce39066131134"
        ),
        (
            "4edc03d17a88934d85527357a2e64647",
            "6db603a2c9de6eae82aaccc66f850189c8da6fc10316ca8c"
        ),
        (
            "f23e2fb81f223f4192c58efd5185f071",
            "87fa58afa28a886259a3a2d089345b8ca35c87fa58afa28a"
        ),
        (
            "16f7677a1f132a818d882195a100b28d",
            "c63caff4c164cc2eb26fcb6dc06ca73cc544c624acafc843"
        ),
        (
            "7a236b82481bd9fe630dc3ce3be4ebca",
            "1aa4a92c3f742222a2833cf41faea4b13dc52222a2833cf4"
        ),
        (
            "be2f45b35223479f6e794d57037e2cfd",
            "ac9f0b43350a8d9028b062d0d7309d1089b0acfc194ff1b5"
        ),
        (
            "e3e15a7789781e3721a557d8e5a70329",
            "ba7dd0492d69ba3b864d9e80ba083244d88cba6bbcb31950"
        ),
        (
            "67cb81db3f65cf9c1bdc5d1d8fc83f0b",
            "4fb799ce8a445a7591e5971153d296c88f2949149eb2825c"
        ),
        (
            "0bb4db71be572209851d3d24f4c0cf83",
            "5724c24b70135712c228703656acc15c710256eec1df707f"
        ),
        (
            "ef4363f82f4759778955f6ced681cbea",
            "6e8f331d743b6e92331a743a6e91331a743a6e92331a743a"
        ),
    ]

    @Test("of signed BC6H agrees with bcdec in every mode", arguments: signedBlocks)
    func signedFloats(_ block: String, _ expected: String) {
        func integers(_ text: String, digitCount: Int) -> [UInt64] {
            stride(from: 0, to: text.count, by: digitCount).compactMap { start in
                UInt64(text.dropFirst(start).prefix(digitCount), radix: 16)
            }
        }
        let words = integers(block, digitCount: 16).map(\.byteSwapped)
        let texels = BC6HBlock.decode(words[0], words[1], isSigned: true)
        let decoded = [0, 6, 9, 15].flatMap { place in
            (0..<3).map { UInt64(texels[place][$0]) }
        }
        #expect(decoded == integers(expected, digitCount: 4))
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
        if case .astc(let size) = format { return validBlocks(bytes, size) }
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

    /// Returns blocks of ASTC of which most are valid; few random ones are.
    private static func validBlocks(_ bytes: [UInt8], _ size: PixelSize) -> [UInt8] {
        var bytes = bytes
        for block in stride(from: 0, to: bytes.count, by: 16) where block % 64 != 0 {
            for _ in 0..<30 {
                let (low, high) = (bytes.span.word(at: block), bytes.span.word(at: block + 8))
                let texels = ASTCBlock.decode(low, high, size)
                if texels[0] != Texel(255, 0, 255, 255) { break }
                for index in block..<block + 16 { bytes[index] = .random(in: 0...255) }
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
        guard format.isFloat else { return result }
        return stride(from: 0, to: result.count, by: 2).map { index in
            let sample = Int(result[index]) | Int(result[index + 1]) << 8
            return UInt8((sample * 255 + 32767) / 65535)
        }
    }
}
