// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import Pixels

/// Makes files of a camera whose sensor has the primaries of sRGB, one colour per pixel.
public enum DNGFile {
    /// Patches of linear light from left to right and top to bottom, four a row; the first is white.
    public static let patches: [[Double]] = [
        [1, 1, 1], [0.5, 0.1, 0.1], [0.1, 0.5, 0.1], [0.1, 0.1, 0.5],
        [0.18, 0.18, 0.18], [0.5, 0.5, 0.05], [0.02, 0.02, 0.02], [0.05, 0.4, 0.4],
    ]

    /// The patch that a pixel shows.
    public static func patch(_ x: Int, _ y: Int, in size: PixelSize) -> Int {
        x * 4 / size.width + y * 2 / size.height * 4
    }

    /// A patch as sRGB of 8 bits.
    public static func color(ofPatch patch: Int) -> [Double] {
        patches[patch].map { light in
            255 * (light <= 0.003_130_8 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)
        }
    }

    /// An uncompressed DNG file.
    ///
    /// - Parameters:
    ///   - size: both sides even.
    ///   - preview: a JPEG file.
    ///   - orientation: as EXIF counts.
    ///   - isLittleEndian: the order of all bytes.
    /// - Returns: the bytes of the file.
    public static func make(
        _ size: PixelSize, preview: [UInt8]? = nil, orientation: Int = 1,
        isLittleEndian: Bool = true
    ) -> [UInt8] {
        var samples: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width {
                let light = patches[patch(x, y, in: size)][[0, 1, 1, 2][y % 2 * 2 + x % 2]]
                let value = Int(light * 65_535)
                let bytes = [UInt8(value & 255), UInt8(value >> 8)]
                samples += isLittleEndian ? bytes : bytes.reversed()
            }
        }
        return file(
            size, samples: samples, preview: preview, orientation: orientation,
            isLittleEndian: isLittleEndian)
    }

    /// A DNG file of uniform grey with 12 bits, compressed as lossless JPEG.
    ///
    /// - Parameters:
    ///   - size: both sides even.
    ///   - isDamaged: whether a sample in the middle has more than 12 bits.
    /// - Returns: the bytes of the file.
    public static func compressedGray(_ size: PixelSize, isDamaged: Bool) -> [UInt8] {
        var codes = [UInt8](repeating: 0, count: size.area / 8)
        let middle = codes.count / 2
        // The difference of 4,095, then ten of 0 instead of eight.
        if isDamaged { codes.replaceSubrange(middle...middle, with: [0xBF, 0xFC, 0]) }
        let stream = JPEGSegment.file(of: [
            // SOF3, lossless: 12 bits and one component.
            JPEGSegment(
                marker: 0xC3,
                payload: [12] + twoBytes(size.height) + twoBytes(size.width) + [1, 0, 0x11, 0]),
            // The code 0 is a difference of 0, the code 10 one of 12 bits.
            JPEGSegment(
                marker: JPEGSegment.huffmanTables,
                payload: [0, 1, 1] + Array(repeating: 0, count: 14) + [0, 12]),
            // Predictor 1: the sample to the left.
            JPEGSegment(
                marker: JPEGSegment.startOfScan, payload: [1, 1, 0, 1, 0, 0], codedData: codes),
        ])
        return file(size, samples: stream, compression: 7, bitCount: 12)
    }

    private static func file(
        _ size: PixelSize, samples: [UInt8], compression: Int = 1, bitCount: Int = 16,
        preview: [UInt8]? = nil, orientation: Int = 1, isLittleEndian: Bool = true
    ) -> [UInt8] {
        var entries: [(Int, EXIFBlock.Value)] = [
            (254, .longs([0])), (256, .longs([size.width])), (257, .longs([size.height])),
            (258, .shorts([bitCount])), (259, .shorts([compression])), (262, .shorts([32_803])),
            (271, .ascii("Maker")), (272, .ascii("Model 5")), (273, .offset(of: samples)),
            (274, .shorts([orientation])), (277, .shorts([1])), (278, .longs([size.height])),
            (279, .longs([samples.count])), (284, .shorts([1])),
        ]
        if let preview {
            entries.append(
                (
                    330,
                    .directory([
                        (254, .longs([1])), (259, .shorts([6])),
                        (513, .offset(of: preview)), (514, .longs([preview.count])),
                    ])
                ))
        }
        entries += [
            (33_421, .shorts([2, 2])), (33_422, .bytes([0, 1, 1, 2])),
            (
                0x8769,
                .directory([
                    (0x829A, .rationals([(1, 250)])), (0x8827, .shorts([400])),
                    (0x9003, .ascii("2024:02:29 23:59:59")),
                    (0x927C, .bytes(Array("notes of the maker".utf8))),
                ])
            ),
            (0xC612, .bytes([1, 4, 0, 0])), (0xC614, .ascii("Maker Model 5")),
            (0xC61A, .shorts([0])), (0xC61D, .longs([1 << bitCount - 1])),
            (
                0xC621,
                .signedRationals(
                    // From XYZ to the linear light of sRGB.
                    [32_405, -15_371, -4_985, -9_693, 18_760, 416, 556, -2_040, 10_572].map {
                        ($0, 10_000)
                    })
            ),
            (0xC628, .rationals([(1, 1), (1, 1), (1, 1)])), (0xC65A, .shorts([21])),
        ]
        return EXIFBlock.make(entries, isLittleEndian: isLittleEndian)
    }
}
