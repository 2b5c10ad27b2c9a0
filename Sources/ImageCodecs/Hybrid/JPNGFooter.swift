// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
internal import EncodedImages

/// The footer of a JPNG file, which specifies the location of its two parts.
struct JPNGFooter {
    static let byteCount = 16

    let color: Range<Int>
    let mask: Range<Int>
    let majorVersion: UInt8
    let minorVersion: UInt8
    /// Whether the colours are composited over white.
    let isOverWhite: Bool

    /// Parses the footer; `nil` if the file is not JPNG: the name differs, or the lengths do
    /// not add up.
    init?(_ file: Span<UInt8>) {
        let start = file.count - Self.byteCount
        guard start > 0 else { return nil }
        let name = (12..<16).map { file[start + $0] }
        let isSwapped: Bool
        switch String(decoding: name, as: UTF8.self) {
        case "GNPJ": (isSwapped, isOverWhite) = (false, false)
        case "GEPJ": (isSwapped, isOverWhite) = (false, true)
        case "JPNG": (isSwapped, isOverWhite) = (true, false)
        case "JPEG": (isSwapped, isOverWhite) = (true, true)
        default: return nil
        }
        func number(_ offset: Int, _ byteCount: Int) -> Int {
            isSwapped
                ? file.bigEndian(at: start + offset, byteCount: byteCount)
                : file.littleEndian(at: start + offset, byteCount: byteCount)
        }
        let (colorCount, maskCount) = (number(0, 4), number(4, 4))
        guard colorCount > 3, maskCount > 8, number(8, 2) >= Self.byteCount,
            colorCount + maskCount + number(8, 2) == file.count,
            file[0] == 0xFF, file[1] == 0xD8, file[2] == 0xFF,
            PNGCodec.signature.indices.allSatisfy({
                file[colorCount + $0] == PNGCodec.signature[$0]
            })
        else { return nil }
        color = 0..<colorCount
        mask = colorCount..<colorCount + maskCount
        majorVersion = file[start + 10]
        minorVersion = file[start + 11]
    }

    /// Returns a JPNG file of two parts.
    static func joined(
        color: [UInt8], mask: [UInt8], isOverWhite: Bool = false
    ) -> [UInt8] {
        var file = color + mask
        file.appendLittleEndian32(color.count, mask.count)
        file.appendLittleEndian16(byteCount)
        file += [1, 0]
        return file + Array((isOverWhite ? "GEPJ" : "GNPJ").utf8)
    }
}
#endif
