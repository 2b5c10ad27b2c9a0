// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// An image that is decoded from the bytes that have been received so far.
public struct ImagePreview: Sendable {
    /// The part of the image that a preview shows.
    public enum Completeness: Hashable, Sendable {
        /// The thumbnail that a camera embedded in the file.
        case thumbnail
        /// The whole image in reduced detail, after this scan or pass, from 1.
        case pass(Int)
        /// This number of rows from the top of the stored image; the others are 0.
        case rows(Int)
    }

    /// An image of the final size; a thumbnail may be smaller.
    public let image: PixelBuffer
    /// The part of the image that it shows.
    public let completeness: Completeness

    /// A preview of an image.
    public init(image: PixelBuffer, completeness: Completeness) {
        self.image = image
        self.completeness = completeness
    }
}
