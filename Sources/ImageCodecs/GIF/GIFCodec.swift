// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

let gifFormat = ImageFormat(
    name: "gif", extensions: ["gif"], mediaType: "image/gif",
    signatures: [.init(Array("GIF87a".utf8)), .init(Array("GIF89a".utf8))])

/// GIF, versions 87a and 89a, animated or not, entirely in Swift.
///
/// A file is a logical screen descriptor, an optional global colour table of up to 256 colours, and
/// blocks. An image descriptor (`,`) has a position, an optional local colour table, and
/// LZW-compressed indices. An extension (`!`) is a graphic control (delay, disposal method,
/// transparent index), an application extension (loop count, profile, XMP) or a comment; `;` is the
/// trailer. Compressed data and extensions are stored in sub-blocks of up to 255 bytes, so frames
/// are counted without decoding.
///
/// Invalid files are shown as browsers show them: the canvas starts transparent whatever its
/// background colour, a first image larger than the logical screen enlarges the canvas, and missing
/// pixels are transparent.
/// - SeeAlso: CompuServe, “Graphics Interchange Format, Version 89a”, 1990.
struct GIFCodec: ImageCodec {
    let format = gifFormat
    let decoder: any ImageDecoder = GIFDecoder()
    let encoder: (any ImageEncoder)? = GIFEncoder()
}

let gifEntry = CodecEntry(GIFCodec())
