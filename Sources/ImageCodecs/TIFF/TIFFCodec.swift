// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension ImageFormat {
    static let tiff = ImageFormat(
        name: "tiff", extensions: ["tif", "tiff", "btf", "tf8"], mediaType: "image/tiff",
        signatures: [
            Signature(Array("II*\0".utf8)), Signature(Array("MM\0*".utf8)),
            Signature(Array("II+\0".utf8)), Signature(Array("MM\0+".utf8)),
        ])
}

#if TIFF
    /// TIFF 6.0 with its usual extensions, and BigTIFF.
    ///
    /// A file is a chain of directories, each a list of numbered entries that describe a picture: a
    /// page, or a smaller version of the page before. Pixels stand in strips of rows or in tiles,
    /// compressed one by one. Directories are read and checked here, so that a header costs nothing
    /// and libtiff sees none that makes no sense; libtiff decompresses, row by row or tile row by
    /// tile row, and what samples mean is worked out here. Where a smaller version is large enough
    /// for what is wanted, it is decoded in place of its page.
    struct TIFFCodec: ImageCodec {
        let format = ImageFormat.tiff
        let decoder: any ImageDecoder = TIFFDecoder()
        let encoder: (any ImageEncoder)? = TIFFEncoder()
    }
#endif
