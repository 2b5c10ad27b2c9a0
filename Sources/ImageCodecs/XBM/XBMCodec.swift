// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// XBM, the bitmap of the X Window System: C source code that a program includes.
///
///     #define arrow_width 16
///     #define arrow_height 2
///     static unsigned char arrow_bits[] = { 0x01, 0x80, 0xff, 0xff };
///
/// Each row starts with a new number, whose lowest bit is the leftmost pixel; X10 files have
/// `short` numbers of 16 bits. Set bits are the foreground, shown black on white. A hot spot
/// (`_x_hot`, `_y_hot`) marks a cursor and is reported as a fact. The encoder uses Floyd–Steinberg
/// dithering; transparent pixels are composited over white.
/// - SeeAlso: James Gettys and Robert W. Scheifler, *Xlib*, `XReadBitmapFile`.
struct XBMCodec: ImageCodec {
    let format = ImageFormat(
        name: "xbm", extensions: ["xbm"], mediaType: "image/x-xbitmap",
        signatures: [.init(Array("#define ".utf8))])
    let decoder: any ImageDecoder = XBMDecoder()
    let encoder: (any ImageEncoder)? = XBMEncoder()

    /// The signature is ordinary text, so the first definition must be one of XBM's.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        var text = XBMText(file)
        guard let first = text.nextDefinition(file, within: 4_096),
            XBMText.Definition.suffixes.contains(where: { first.name.hasSuffix($0) })
        else { return 0 }
        return "#define _width".utf8.count
    }
}

let xbmEntry = CodecEntry(XBMCodec())
