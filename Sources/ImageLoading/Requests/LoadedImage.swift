// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
internal import HTTPCaching
public import Pixels
internal import Synchronization

/// A loaded image.
///
/// A view holds the object as long as it shows the image. While any consumer holds it, the same
/// object is found for the same request, even after the memory cache has evicted it.
public final class LoadedImage: Sendable {
    /// The pixels.
    public let image: PixelBuffer
    /// The key under which the memory cache holds it.
    public let key: ImageKey
    /// The version of the original that the image was made from.
    public let original: OriginalVersion
    /// The size of the original in pixels, upright.
    public let originalSize: PixelSize
    /// Whether the original is a vector image, of which a larger image shows more detail.
    public let isOriginalScalable: Bool
    /// The number of frames of the original; it is animated if there are several.
    public let originalFrameCount: Int
    /// Whether the original seems to contain a gain map; unknown, and `false`, unless the image was
    /// decoded from the original.
    let mayHaveGainMap: Bool
    /// Whether it was made from another image than the original, such as a larger size in memory; its
    /// pixels may then differ by rounding from those of a decode.
    let isDerived: Bool
    /// Whether a better image will follow.
    public let isPreview: Bool
    /// The error because of which pixels are missing: the original is truncated; `nil` if it is complete.
    public let problem: CodecError?
    /// The time that making it from the bytes of the original took.
    public let cost: Duration
    private let firstStorability: Storability
    /// Later than in ``firstStorability`` once the server has confirmed that the image is current.
    private let freshUntil: Atomic<Int>

    /// An image without network metadata, such as one that a caller has made.
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
        isDerived: Bool = false, mayHaveGainMap: Bool = false, problem: CodecError? = nil,
        cost: Duration, storability: Storability
    ) {
        self.image = image
        self.key = key
        self.original = original ?? OriginalVersion(key.original)
        self.originalSize = originalSize
        self.isOriginalScalable = isOriginalScalable
        self.originalFrameCount = originalFrameCount
        self.isPreview = isPreview
        self.isDerived = isDerived
        self.mayHaveGainMap = mayHaveGainMap
        self.problem = problem
        self.cost = cost
        firstStorability = storability
        freshUntil = Atomic(storability.freshUntil)
    }

    /// Whether it may be stored on disk, and until when it needs no revalidation.
    var storability: Storability {
        var storability = firstStorability
        storability.freshUntil = freshUntil.load(ordering: .relaxed)
        return storability
    }

    /// Notes that the original has not changed, and until when it needs no revalidation.
    func confirm(until date: Int) { freshUntil.store(date, ordering: .relaxed) }
}
