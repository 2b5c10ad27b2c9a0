// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import EncodedImages
internal import Pixels

/// Decodes the images of a template at the sizes at which they are drawn.
struct CardImages {
    let codecs: CodecSet
    /// The folder that relative paths start from.
    let folder: String
    /// Whether the card will be encoded with chroma at half resolution, so that its images need no more.
    let halvesChroma: Bool

    /// Returns the image of a request.
    ///
    /// - Throws: ``DrawingError/invalid(reason:)`` with the path and the reason.
    func image(_ request: Template.ImageRequest) throws(DrawingError) -> PixelBuffer {
        let path = request.source.hasPrefix("/") ? request.source : "\(folder)/\(request.source)"
        do throws(CodecError) {
            var options = DecodeOptions()
            options.box = request.box
            options.mode = request.mode
            options.anchor = request.anchor
            options.acceptsYCbCr = halvesChroma
            return try ImageSource(EncodedBytes(mapping: path), codecs: codecs).decodedImage(
                options
            )
            .image
        } catch {
            throw .invalid(reason: "\(path): \(error)")
        }
    }
}
