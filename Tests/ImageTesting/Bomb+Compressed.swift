// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension Bomb {
    /// PNG files with zlib streams of two megabytes that become two gigabytes.
    static let compressed: [Bomb] = [
        Bomb("png profile of 2 GiB", .image) {
            image(before: [("iCCP", Array("p\0\0".utf8) + gigabytes)])
        },
        Bomb("png EXIF text of 2 GiB", .limit(.metadataByteCount, at: .metadata)) {
            image(before: [("zTXt", Array("Raw profile type exif\0\0".utf8) + gigabytes)])
        },
        Bomb("png XMP text of 2 GiB", .limit(.metadataByteCount, at: .metadata)) {
            image(before: [
                ("iTXt", Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8) + gigabytes)
            ])
        },
        // Many that are each allowed.
        Bomb("png texts of 10 MB each", .limit(.metadataByteCount, at: .metadata)) {
            let text = Array("Raw profile type exif\0\0".utf8) + zlib(zeroCount: 10_000_000)
            return image(before: Array(repeating: ("zTXt", text), count: 1_000))
        },
        Bomb("png comment of 2 GiB", .image) {
            image(before: [("zTXt", Array("Comment\0\0".utf8) + gigabytes)])
        },
        Bomb("png rows of 2 GiB for one pixel", .image) {
            // The file is damaged at its end.
            let stream = Array(gigabytes.dropLast()) + [7]
            return pngStart(1, 1) + PNGFile.chunk("IDAT", stream) + PNGFile.chunk("IEND", [])
        },
    ]

    private static var gigabytes: [UInt8] { zlib(zeroCount: 2 << 30) }

    private static func image(before chunks: [(String, [UInt8])]) -> [UInt8] {
        var file = pngStart(1, 1)
        var last: (type: String, body: [UInt8], chunk: [UInt8])?
        for (type, body) in chunks {
            // Checksums take longer than all else here.
            if last?.body != body || last?.type != type {
                last = (type, body, PNGFile.chunk(type, body))
            }
            file += last?.chunk ?? []
        }
        return file + PNGFile.chunk("IDAT", zlib(zeroCount: 2)) + PNGFile.chunk("IEND", [])
    }

    /// A zlib stream of zeros at Deflate's best: two bits for 258 of them (RFC 1951, 3.2.7).
    static func zlib(zeroCount: Int) -> [UInt8] {
        var bits = BitString()
        // The last block, with codes of its own: 286 for literals and lengths, 1 for distances.
        bits.append(1, 1)
        bits.append(2, 2)
        bits.append(29, 5)
        bits.append(0, 5)
        // Lengths of the codes that state lengths: one bit for 18, two for 1 and 2.
        bits.append(14, 4)
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            bits.append([18: 1, 1: 2, 2: 2][symbol] ?? 0, 3)
        }
        func zeros(_ count: Int) {
            bits.append(0, 1)
            bits.append(count - 11, 7)
        }
        // 0 and 256, which ends the block, have codes of two bits; 285, 258 bytes, has one of one.
        let (one, two) = (0b01, 0b11)
        bits.append(two, 2)
        zeros(138)
        zeros(117)
        bits.append(two, 2)
        zeros(28)
        bits.append(one, 2)
        bits.append(one, 2)
        let runCount = max(0, zeroCount - 1) / 258
        for _ in 0..<zeroCount - runCount * 258 { bits.append(0b01, 2) }
        bits.appendZeros(runCount * 2)
        bits.append(0b11, 2)
        var (a, b) = (1, 0)
        // Adler-32 of zeros.
        b = zeroCount % 65_521
        a = 1
        return [0x78, 0xDA] + bits.bytes + .big(b << 16 | a)
    }
}

/// Bits as Deflate packs them, the first into the lowest.
private struct BitString {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    mutating func append(_ value: Int, _ count: Int) {
        for bit in 0..<count {
            if bitCount % 8 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(bitCount % 8)
            bitCount += 1
        }
    }

    mutating func appendZeros(_ count: Int) {
        let rest = min(count, (8 - bitCount % 8) % 8)
        append(0, rest)
        bytes += [UInt8](repeating: 0, count: (count - rest) / 8)
        bitCount += (count - rest) / 8 * 8
        append(0, (count - rest) % 8)
    }
}
