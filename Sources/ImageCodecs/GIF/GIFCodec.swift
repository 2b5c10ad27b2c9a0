// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension ImageFormat {
    static let gif = ImageFormat(
        name: "gif", extensions: ["gif"], mediaType: "image/gif",
        signatures: [.init(Array("GIF87a".utf8)), .init(Array("GIF89a".utf8))])
}

/// GIF, versions 87a and 89a, animated or not; all of it in Swift.
///
/// A file is a size of the canvas, a palette of up to 256 colours, and blocks: a picture (`,`) has a
/// place on the canvas, perhaps a palette of its own, and indices into it that are compressed by
/// LZW; an extension (`!`) says how long the next picture is shown and what becomes of it, how often
/// all are shown, or a comment; `;` ends the file. What is compressed, and what an extension says,
/// lies in pieces of up to 255 bytes, so that nothing has to be decoded to count pictures.
///
/// Files that break the rules are shown as browsers show them: the canvas is transparent at first
/// whatever its background is called, a first picture that is larger than the canvas enlarges it,
/// and pixels that are missing are transparent.
/// - SeeAlso: CompuServe, “Graphics Interchange Format, Version 89a”, 1990.
struct GIFCodec: ImageCodec {
    let format = ImageFormat.gif
    let decoder: any ImageDecoder = GIFDecoder()
    let encoder: (any ImageEncoder)? = GIFEncoder()
}

extension CodecEntry {
    static var gif: CodecEntry { CodecEntry(GIFCodec()) }
}
