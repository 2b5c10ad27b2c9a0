// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
internal import Pixels

/// Every codec that was built in, one line each; the order means nothing.
public let builtInCodecs = CodecSet(codecs, missing: missing, colorConverter: colorConverter)

/// The same for a process that can do nothing but decode: it also reads the formats that are refused
/// anywhere else, because what reads them is large, old, or can be kept busy for ever.
///
/// Their libraries are loaded with the first use of it, while the process still can.
public let sandboxCodecs = {
    loadLazyLibraries()
    return CodecSet(safe + sandboxOnly, missing: missing, colorConverter: colorConverter)
}()

/// Files whose decoding makes libraries read what they need of the system, while they still can: the
/// names of languages, the usual fonts, and what decodes the pictures in an SVG.
public let sandboxRehearsals = rehearsals

private var rehearsals: [[UInt8]] {
    #if SVG
        let styles = ["normal", "italic"].flatMap { style in
            ["normal", "bold"].map { "font-style='\(style)' font-weight='\($0)'" }
        }
        let texts = ["sans-serif", "serif", "monospace"].flatMap { family in
            styles.map { "<text y='8' font-family='\(family)' \($0)>Aä中</text>" }
        }
        let png =
            "image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB"
            + "2kUIOwAAAABJRU5ErkJggg=="
        let jpeg =
            "image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0o"
            + "OjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAIAAgBAREA/8QAFAABAAAAAAAA"
            + "AAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z"
        let nested =
            "image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHdpZHRo"
            + "PScxJyBoZWlnaHQ9JzEnLz4="
        let pictures = [png, jpeg, nested].map { "<image width='8' height='8' href='data:\($0)'/>" }
        let document =
            "<svg xmlns='http://www.w3.org/2000/svg' width='16' height='16'>"
            + "<switch><g systemLanguage='en'/></switch>\((texts + pictures).joined())</svg>"
        return [Array(document.utf8)]
    #else
        return []
    #endif
}

private var codecs: [any ImageCodec] { safe + sandboxOnly.map { $0.refusedOutsideOfSandbox } }

private var safe: [any ImageCodec] {
    var codecs: [any ImageCodec] = [
        BMPCodec(), GIFCodec(), ICOCodec(.icon), ICOCodec(.cursor), QOICodec(), XBMCodec(),
        PackedPixelsCodec(.raw, .rgb565), PackedPixelsCodec(.raw, .rgb555),
        PackedPixelsCodec(.bmp, .rgb565), PackedPixelsCodec(.bmp, .rgb555),
    ]
    #if JPEG
        codecs.append(JPEGCodec())
    #endif
    #if PNG
        codecs.append(PNGCodec())
    #endif
    #if WebP
        codecs.append(WebPCodec())
    #endif
    #if TIFF
        codecs.append(TIFFCodec())
    #endif
    #if AVIF
        codecs.append(AVIFCodec())
    #endif
    #if HEIF
        codecs.append(HEIFCodec())
    #endif
    #if JPEGXL
        codecs.append(JPEGXLCodec())
    #endif
    #if JPEG2000
        codecs.append(JPEG2000Codec())
    #endif
    #if JPEG && PNG
        codecs.append(JPNGCodec())
    #endif
    return codecs
}

private var sandboxOnly: [any ImageCodec] {
    var codecs: [any ImageCodec] = []
    #if RAW
        codecs.append(RAWCodec())
    #endif
    #if SVG
        codecs.append(SVGCodec())
    #endif
    return codecs
}

/// The formats that are known, but whose trait is off.
private var missing: [CodecSet.MissingFormat] {
    var missing: [CodecSet.MissingFormat] = []
    #if !JPEG
        missing.append(.init(.jpeg, trait: "JPEG"))
    #endif
    #if !PNG
        missing.append(.init(.png, trait: "PNG"))
    #endif
    #if !WebP
        missing.append(.init(.webP, trait: "WebP"))
    #endif
    #if !TIFF
        missing.append(.init(.tiff, trait: "TIFF"))
    #endif
    #if !AVIF
        missing.append(.init(.avif, trait: "AVIF"))
    #endif
    #if !HEIF
        missing.append(.init(.heif, trait: "HEIF"))
    #endif
    #if !JPEGXL
        missing.append(.init(.jpegXL, trait: "JPEGXL"))
    #endif
    #if !JPEG2000
        missing.append(.init(.jpeg2000, trait: "JPEG2000"))
    #endif
    #if !RAW
        missing.append(.init(.raw, trait: "RAW"))
    #endif
    #if !SVG
        missing.append(.init(.svg, trait: "SVG"))
    #endif
    return missing
}

private var colorConverter: (any ColorConverter)? {
    #if ICC
        ICCColorConverter()
    #else
        nil
    #endif
}
