// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// ICO and CUR, the icons and cursors of Windows: one picture in several sizes and depths.
///
/// A file is a head of 6 bytes (0, the type, the number of entries), 16 bytes for each entry, and
/// the entries: PNG files, or bitmaps without a file header. Such a bitmap states twice its height,
/// because a mask of one bit a pixel follows the colours; set bits are transparent. With 32 bits the
/// fourth byte is alpha, unless it is 0 everywhere, and the mask is not looked at.
///
/// Sizes and depths are those of the entries themselves, as what the directory says is often wrong.
/// The picture of a file is its largest entry, the deepest of several; when it is wanted smaller, the
/// smallest entry of the same proportions and no fewer colours that is large enough is decoded. Every
/// entry is a page, the largest first. A cursor's hot spot is reported as a fact. Icons of one entry
/// of up to 256 pixels are written, as PNG if a side has 256.
/// - SeeAlso: Raymond Chen, “The evolution of the ICO file format”, *The Old New Thing*, 2010.
struct ICOCodec: ImageCodec {
    enum Kind: UInt8 {
        case icon = 1
        case cursor = 2
    }

    let format: ImageFormat
    let decoder: any ImageDecoder
    let encoder: (any ImageEncoder)?
    private let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
        let isIcon = kind == .icon
        format = ImageFormat(
            name: isIcon ? "ico" : "cur", extensions: [isIcon ? "ico" : "cur"],
            mediaType: isIcon ? "image/vnd.microsoft.icon" : "image/x-win-bitmap",
            signatures: [.init([0, 0, kind.rawValue, 0])])
        decoder = ICODecoder(kind: kind, page: nil)
        encoder = isIcon ? ICOEncoder() : nil
    }

    /// Four bytes, three of them 0, are little, so the first entry must make sense too.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        guard format.signatures.contains(where: { $0.matches(file) }),
            let count = file.littleEndian16(at: 4), count > 0,
            let byteCount = file.littleEndian32(at: 14), byteCount > 0,
            let offset = file.littleEndian32(at: 18), offset >= 6 + 16 * count
        else { return 0 }
        return 6
    }
}

extension CodecEntry {
    static var ico: CodecEntry { CodecEntry(ICOCodec(.icon), ICOCodec(.cursor)) }
}
