// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A picture as far as the bytes that have come in so far show it.
public struct ImagePreview: Sendable {
    /// What is missing of the picture.
    public enum Completeness: Hashable, Sendable {
        /// It is the thumbnail that the camera put into the file.
        case thumbnail
        /// The whole picture, coarser than it will be: the scan or pass of this number, from 1.
        case pass(Int)
        /// So many rows from the top of the picture as it is stored; the others are 0.
        case rows(Int)
    }

    /// Of the size that the final picture will have, but for a thumbnail, which may be smaller.
    public let image: PixelBuffer
    public let completeness: Completeness

    public init(image: PixelBuffer, completeness: Completeness) {
        self.image = image
        self.completeness = completeness
    }
}
