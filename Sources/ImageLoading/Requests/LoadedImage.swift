// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A picture that has been loaded.
///
/// Whoever shows it keeps the object: as long as anybody does, the same object is found again for
/// the same request, whatever the memory cache had to let go of.
public final class LoadedImage: Sendable {
    public let image: PixelBuffer
    public let key: ImageKey
    /// The original as it was when the picture was made.
    public let original: OriginalVersion
    /// The size of the original's picture as it is looked at.
    public let originalSize: PixelSize
    /// Whether the original is drawn at any size, so that a larger picture shows more of it.
    public let isOriginalScalable: Bool
    /// Whether something better is still to come.
    public let isPreview: Bool
    /// The time that making it took, from bytes that were there: what it costs to make it again.
    public let cost: Duration

    public init(
        _ image: PixelBuffer, key: ImageKey, original: OriginalVersion? = nil,
        originalSize: PixelSize, isOriginalScalable: Bool = false, isPreview: Bool = false,
        cost: Duration = .zero
    ) {
        self.image = image
        self.key = key
        self.original = original ?? OriginalVersion(key.original)
        self.originalSize = originalSize
        self.isOriginalScalable = isOriginalScalable
        self.isPreview = isPreview
        self.cost = cost
    }
}
