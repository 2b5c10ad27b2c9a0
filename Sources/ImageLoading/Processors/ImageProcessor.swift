// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Changes a decoded image, such as by rounding its corners.
///
/// Two processors of the same ``identity`` return the same result for every image: results are shared
/// and stored by it.
public protocol ImageProcessor: Sendable {
    /// The name of the operation with all of its settings, such as `corners(12)`.
    var identity: String { get }

    /// Whether ``process(_:_:)`` takes images in `PixelFormat/yCbCr420` and makes opaque ones of them;
    /// `false` unless implemented.
    ///
    /// An image that becomes a JPEG rendition is then decoded with the chroma that the JPEG keeps.
    var acceptsYCbCr: Bool { get }

    /// Returns the changed image; called on a thread of the pipeline.
    ///
    /// - Parameters:
    ///   - image: the decoded image, or the result of the processor before this one.
    ///   - cancellation: set when the last consumer has left; long work checks it periodically.
    /// - Returns: the changed image.
    /// - Throws: `CodecError`.
    func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer
}

extension ImageProcessor {
    public var acceptsYCbCr: Bool { false }
}
