// SPDX-License-Identifier: Apache-2.0

public import Effects
public import EncodedImages
public import Pixels

extension Effect: ImageProcessor {
    public var acceptsYCbCr: Bool { keepsYCbCr }

    public func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        guard let changed = applied(to: image, isCancelled: { cancellation.isCancelled }) else {
            throw .cancelled
        }
        return changed
    }
}
