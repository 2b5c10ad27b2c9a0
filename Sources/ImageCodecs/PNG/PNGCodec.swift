// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages

    /// PNG (ISO/IEC 15948), all colour types and depths.
    ///
    /// A file is a signature and a list of chunks, each with a length, a type, a body and a
    /// checksum; `IDAT` chunks hold one zlib stream of rows, each row filtered by its neighbours.
    /// libpng reads it: it was the fastest of libpng and libspng on photographs, and inflating
    /// takes two thirds of its time. Samples of 16 bits are rounded to 8.
    struct PNGCodec: ImageCodec {
        let format = ImageFormat(
            name: "png", extensions: ["png"], mediaType: "image/png",
            signatures: [ImageFormat.Signature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])])
        let decoder: any ImageDecoder = PNGDecoder()
        let encoder: (any ImageEncoder)? = PNGEncoder()
    }
#endif
