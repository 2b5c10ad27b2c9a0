// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
public import Pixels
internal import Synchronization

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
    /// The frames of the original, which is animated if there are several.
    public let originalFrameCount: Int
    /// Whether it was made from another image than the original, such as a larger size in memory, so
    /// that its pixels may differ by rounding from those of a decode.
    let isDerived: Bool
    /// Whether something better is still to come.
    public let isPreview: Bool
    /// The time that making it took, from bytes that were there: what it costs to make it again.
    public let cost: Duration
    private let firstStorability: Storability
    /// Moves on when the server says that the picture is still right.
    private let freshUntil: Atomic<Int>

    public convenience init(
        _ image: PixelBuffer, key: ImageKey, original: OriginalVersion? = nil,
        originalSize: PixelSize, isOriginalScalable: Bool = false, originalFrameCount: Int = 1,
        isPreview: Bool = false, cost: Duration = .zero
    ) {
        self.init(
            image, key: key, original: original, originalSize: originalSize,
            isOriginalScalable: isOriginalScalable, originalFrameCount: originalFrameCount,
            isPreview: isPreview, cost: cost, storability: Storability())
    }

    init(
        _ image: PixelBuffer, key: ImageKey, original: OriginalVersion?, originalSize: PixelSize,
        isOriginalScalable: Bool = false, originalFrameCount: Int, isPreview: Bool = false,
        isDerived: Bool = false, cost: Duration, storability: Storability
    ) {
        self.image = image
        self.key = key
        self.original = original ?? OriginalVersion(key.original)
        self.originalSize = originalSize
        self.isOriginalScalable = isOriginalScalable
        self.originalFrameCount = originalFrameCount
        self.isPreview = isPreview
        self.isDerived = isDerived
        self.cost = cost
        firstStorability = storability
        freshUntil = Atomic(storability.freshUntil)
    }

    /// Whether it may be kept on disk, and until when the web need not be asked.
    var storability: Storability {
        var storability = firstStorability
        storability.freshUntil = freshUntil.load(ordering: .relaxed)
        return storability
    }

    /// Notes that the original has not changed.
    func confirm(until date: Int) { freshUntil.store(date, ordering: .relaxed) }
}
