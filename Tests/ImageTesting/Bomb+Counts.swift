// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension Bomb {
    /// PNG files of more chunks than are counted.
    static let chunks: [Bomb] = [
        chunkBomb("before", at: .open) { count in
            pngStart(1, 1) + .repeated(PNGFile.chunk("abCd", []), count: count) + pixels
        },
        chunkBomb("of data", at: .image) { count in
            pngStart(1, 1) + .repeated(PNGFile.chunk("IDAT", []), count: count) + pixels
        },
        chunkBomb("behind", at: .image) { count in
            pngStart(1, 1) + pixels.dropLast(12)
                + .repeated(PNGFile.chunk("abCd", []), count: count) + pixels.suffix(12)
        },
    ]

    private static let pixels =
        PNGFile.chunk("IDAT", zlib(zeroCount: 2)) + PNGFile.chunk("IEND", [])

    private static func chunkBomb(
        _ place: String, at step: Step, _ make: @escaping @Sendable (Int) -> [UInt8]
    ) -> Bomb {
        Bomb("png of 30,000 chunks \(place)", .limit(.chunkCount, at: step)) {
            make(30_000)
        }.with { $0.limits.maximumChunkCount = 20_000 }
    }

    /// Animations with more frames, or more pixels in all frames, than the limits allow.
    static let animations: [Bomb] = [
        Bomb("gif of 50,000 frames", .limit(.frameCount, at: .open)) {
            gif(1, frameCount: 50_000)
        },
        Bomb("gif of 9,000 frames of 8000 x 8000", .limit(.animationPixelCount, at: .open)) {
            gif(8000, frameCount: 9_000)
        },
        Bomb("apng of 50,000 frames", .limit(.frameCount, at: .open)) { apng(1, 50_000) }
            .with { $0.hasHarmlessFirstFrame = true },
        Bomb("apng of 9,000 frames of 8000 x 8000", .limit(.animationPixelCount, at: .open)) {
            apng(8000, 9_000)
        }.with { $0.hasHarmlessFirstFrame = true },
    ]

    /// Frames of one pixel on a canvas.
    static func gif(_ side: Int, frameCount: Int) -> [UInt8] {
        let frame: [UInt8] = [
            0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
        ]
        return Array("GIF89a".utf8) + .little(side, 2) + .little(side, 2)
            + [0x80, 0, 0, 0, 0, 0, 255, 255, 255] + .repeated(frame, count: frameCount) + [0x3B]
    }

    private static func apng(_ side: Int, _ frameCount: Int) -> [UInt8] {
        let geometry: [UInt8] = [0, 1, 1, 0, 0].flatMap { [UInt8].big($0) }
        let control = PNGFile.chunk("fcTL", geometry + [0, 1, 0, 10, 0, 0])
        var file = pngStart(side, side)
        file += PNGFile.chunk("acTL", .big(frameCount) + .big(0))
        file += PNGFile.chunk("IDAT", zlib(zeroCount: 1000))
        file += .repeated(control, count: frameCount)
        return file + PNGFile.chunk("IEND", [])
    }

    /// A progressive file that repeats its last scan.
    ///
    /// - Parameters:
    ///   - file: a progressive JPEG file.
    ///   - count: how many scans are added.
    /// - Returns: the longer file.
    public static func jpeg(_ file: [UInt8], moreScans count: Int) -> [UInt8] {
        let marker = { (index: Int) in file[index] == 0xFF && file[index + 1] == 0xDA }
        guard let last = file.indices.dropLast().last(where: marker) else { return file }
        let scan = Array(file[last..<file.count - 2])
        return file.dropLast(2) + .repeated(scan, count: count) + [0xFF, 0xD9]
    }
}
