// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import Pixels

/// The largest number of pixels of an overlay.
private let maximumOverlayPixelCount = 16_000_000

/// Reads an image that is laid over others, such as a watermark: upright and in sRGB.
///
/// - Throws: ``FileFailure`` if the file cannot be decoded, or has more than 16 megapixels.
package func overlayImage(
    _ path: String, _ codecs: CodecSet
) throws(FileFailure) -> PixelBuffer {
    do throws(CodecError) {
        let source = try ImageSource(EncodedBytes(mapping: path), codecs: codecs)
        let count = source.pixelSize.area
        guard count <= maximumOverlayPixelCount else {
            throw .file(
                reason: "\(count) pixels exceed the limit of \(maximumOverlayPixelCount) for a "
                    + "watermark; use a smaller image")
        }
        return try source.image(DecodeOptions())
    } catch {
        throw FileFailure(path, error)
    }
}
