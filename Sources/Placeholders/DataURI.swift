// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

extension ImageDestination {
    /// Encodes an image as a `data:` URL.
    ///
    /// - Parameter image: a small image, such as a placeholder.
    /// - Returns: `data:`, the media type and the file in Base64.
    /// - Throws: ``CodecError``.
    /// - SeeAlso: RFC 2397.
    public func dataURI(_ image: PixelBuffer) throws(CodecError) -> String {
        let file = try encode(image)
        return "data:\(format.mediaType);base64,\(Base64.encode(file.span))"
    }
}
