// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Changes a decoded picture, such as rounding its corners.
///
/// Two of the same ``identity`` do the same to every picture: results are shared and kept by it.
public protocol ImageProcessor: Sendable {
    /// What is done, with all its settings, such as `corners(12)`.
    var identity: String { get }

    /// Changes a picture; runs on a thread of the pipeline's own.
    ///
    /// - Parameters:
    ///   - image: as it was decoded, or as the processor before this one left it.
    ///   - cancellation: set when nobody waits any more; long work asks it now and then.
    /// - Returns: the changed picture.
    /// - Throws: `CodecError`.
    func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer
}
