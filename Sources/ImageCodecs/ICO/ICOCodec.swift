// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// ICO and CUR, the icons and cursors of Windows: one image in several sizes and depths.
///
/// A file is a header of 6 bytes (0, the type, the number of entries), a directory with 16 bytes
/// per entry, and the entries: PNG files, or bitmaps without a file header. The height of such a
/// bitmap is doubled, because a 1-bit AND mask follows the colours; set bits are transparent. With
/// 32 bits the fourth byte is alpha, unless it is 0 everywhere, and the mask is ignored.
///
/// Sizes and depths are read from the entries, because those in the directory are often wrong. The
/// main image is the largest entry, the deepest of several. For a smaller result, the smallest
/// sufficient entry of equal proportions and no fewer colours is decoded. Every entry is a page,
/// the largest first. The hot spot of a cursor is reported as a fact. The encoder writes one entry
/// of up to 256 pixels, as PNG if a side has 256.
/// - SeeAlso: Raymond Chen, “The evolution of the ICO file format”, *The Old New Thing*, 2010.
struct ICOCodec: ImageCodec {
    enum Kind: UInt8 {
        case icon = 1
        case cursor = 2
    }

    let format: ImageFormat
    let decoder: any ImageDecoder
    let encoder: (any ImageEncoder)?

    init(_ kind: Kind) {
        let isIcon = kind == .icon
        format = ImageFormat(
            name: isIcon ? "ico" : "cur", extensions: [isIcon ? "ico" : "cur"],
            mediaType: isIcon ? "image/vnd.microsoft.icon" : "image/x-win-bitmap",
            signatures: [.init([0, 0, kind.rawValue, 0])])
        decoder = ICODecoder(kind: kind, page: nil)
        encoder = isIcon ? ICOEncoder() : nil
    }

    /// The four-byte signature is ambiguous, so the first directory entry must be valid too.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        guard format.signatures.contains(where: { $0.matches(file) }),
            let count = file.littleEndian16(at: 4), count > 0,
            let byteCount = file.littleEndian32(at: 14), byteCount > 0,
            let offset = file.littleEndian32(at: 18), offset >= 6 + 16 * count
        else { return 0 }
        return 6
    }
}

let icoEntry = CodecEntry(ICOCodec(.icon), ICOCodec(.cursor))
