// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

extension ImageDestination {
    /// Writes a picture as an address that holds the whole file, for pages that show it at once.
    ///
    /// - Parameter image: a small picture, such as a placeholder.
    /// - Returns: `data:`, the media type and the file in Base64.
    /// - Throws: ``CodecError``.
    /// - SeeAlso: RFC 2397.
    public func dataURI(_ image: PixelBuffer) throws(CodecError) -> String {
        let file = try encode(image)
        return "data:\(format.mediaType);base64,\(Base64.encode(file.span))"
    }
}
