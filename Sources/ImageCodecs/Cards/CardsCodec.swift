// SPDX-License-Identifier: Apache-2.0

#if Drawing
internal import Drawing
internal import EncodedImages
internal import Pixels

/// Cards: a `CardDocument` is drawn where images are decoded.
///
/// The document is made by the program itself; its texts come from clients, and a large library lays them
/// out. It has no file name extension, since no file is meant to contain it.
struct CardsCodec: ImageCodec {
    let format = ImageFormat(
        name: "card", extensions: [], mediaType: "application/x-calotype-card",
        signatures: [.init(CardDocument.magic)])
    let decoder: any ImageDecoder = CardsDecoder()
    let encoder: (any ImageEncoder)? = nil

    /// A process without access to files opens its fonts beforehand.
    fileprivate static let fonts = Result { () throws(DrawingError) in try FontCollection.usual()
    }

    private static let fontNames = [
        "Sans", "Sans Bold", "Sans Italic", "Sans Bold Italic", "Serif", "Serif Bold",
        "Serif Italic", "Monospace",
    ]

    /// A card with a text in each font, which opens the fonts, and the dictionary of Thai words.
    fileprivate static var rehearsal: [UInt8] {
        let layers = fontNames.map {
            #"{"type": "text", "box": [0, 0, 64, 32], "font": "\#($0)", "size": 8, "text": "Aä中ไทยहिب😀"}"#
        }
        let template = #"{"size": [64, 32], "layers": [\#(layers.joined(separator: ","))]}"#
        return CardDocument(template: template, values: [:], scale: 1, images: []).bytes
    }
}

private struct CardsDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        do throws(DrawingError) {
            var header = ImageHeader(
                storedSize: try CardDocument(bytes).pixelSize(), colorModel: .rgb,
                bitsPerComponent: 8)
            header.hasAlpha = true
            return header
        } catch {
            throw CodecError(error)
        }
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let size = try header(of: bytes, limits: rows.limits).storedSize
        try rows.limits.check(size)
        // The drawing; its own images are no larger than the document.
        try rows.workLimits.check(.memoryByteCount, size.area * 4 + bytes.count)
        let image: PixelBuffer
        do throws(DrawingError) {
            image = try CardDocument(bytes).image(fonts: try CardsCodec.fonts.get())
        } catch {
            throw CodecError(error)
        }
        rows.report.decoder = "cairo and Pango"
        try rows.begin(image.size, image.format, .sRGB)
        for y in 0..<image.size.height { try rows.append(image.row(y)) }
    }
}

extension CodecError {
    fileprivate init(_ error: DrawingError) {
        self =
            switch error {
            case .invalid(let reason): .malformed(reason: reason, offset: 0)
            case .limitExceeded, .unavailable, .library: .library(message: "\(error)")
            }
    }
}
#endif

var cardEntry: CodecEntry {
    #if Drawing
    var entry = CodecEntry(CardsCodec())
    entry.isSandboxOnly = true
    entry.needsOwnProcess = true
    entry.rehearsals = { [CardsCodec.rehearsal] }
    return entry
    #else
    CodecEntry()
    #endif
}
