// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The size, the part and the form in which an image is decoded.
public struct DecodeOptions: Hashable, Sendable {
    /// Whether the thumbnail that a camera embedded in the file may replace the image.
    public enum EmbeddedThumbnail: String, Hashable, Sendable, CaseIterable {
        /// Always decodes the image itself.
        case ignore
        /// Decodes the thumbnail if it has the aspect ratio of the image and enough pixels.
        case ifLargeEnough
    }

    /// The trade-off between precision and speed when an image is reduced.
    public enum Quality: String, Hashable, Sendable, CaseIterable {
        /// Equals an image that was decoded at full size and then reduced.
        case exact
        /// Needs as little work as possible, for images that are shown for a moment, such as while
        /// scrolling fast.
        case fast
    }

    /// The part that is decoded, in pixels of the upright image; `nil` means all of it.
    ///
    /// It is clamped to the image, to at least one pixel. Pixels of a scalable image are those of its
    /// original size. All other options then apply to that part.
    public var region: PixelRect?
    /// The box of the result, in device pixels of the upright image.
    ///
    /// `nil` means the size of the image; a side of `Int.max` is unbounded.
    public var box: PixelSize?
    /// How the image is resized to the box; `ResizeMode/fit` by default.
    public var mode = ResizeMode.fit
    /// The part that `ResizeMode/fill` keeps.
    public var anchor = CropAnchor.center
    /// Whether the result may be larger than the image.
    public var allowsEnlarging = false
    /// Whether the result is upright, as the orientation of the file specifies.
    public var appliesOrientation = true
    /// Whether an embedded thumbnail may be decoded instead.
    public var embeddedThumbnail = EmbeddedThumbnail.ignore
    /// The resampling kernel.
    public var kernel = ResamplingKernel.lanczos3
    /// The trade-off between precision and speed.
    public var quality = Quality.exact
    /// Whether colours are converted to sRGB; the result keeps the profile of the file otherwise.
    public var convertsToSRGB = true
    /// Whether a truncated file is decoded as far as it goes; it is an error otherwise.
    ///
    /// Missing pixels are grey in a JPEG, black or transparent in other formats. The error is then
    /// in ``DecodeReport/problem``. A file in which only the end mark is missing is complete. The
    /// option also accepts a TIFF file of which some strips or tiles are damaged.
    public var acceptsTruncated = true
    /// Whether the result may be `PixelFormat/yCbCr420`, for callers that encode it in that form.
    ///
    /// It is if the file contains luma and chroma and no colours need conversion. Otherwise chroma may
    /// have slightly less than the resolution of the result, which hardly differs once it is halved.
    public var acceptsYCbCr = false
    /// Whether samples of more than 8 bits become 16 bits; they are rounded to 8 bits otherwise.
    public var keepsDepth = false
    /// Whether ``ImageSource/decodedImages(_:cancellation:)`` may make the result with the decode of a
    /// larger one before it.
    ///
    /// The decoder then shrinks less than it would for this result alone: all sizes need one pass, and
    /// the pixels differ slightly. The part of the image must lie in that of the larger result.
    public var sharesDecode = false
    /// The pixel format of the result.
    ///
    /// `nil` means grey, RGB or premultiplied RGBA, like the file. A format of more than 8 bits
    /// keeps the depth of the file. `PixelFormat/rgb565` and `PixelFormat/rgb555` are for opaque
    /// images on small devices and drop alpha. `PixelFormat/yCbCr420` is for video: planes of luma and
    /// chroma as they are in the file, or converted from RGB if the file contains none; alpha is dropped.
    public var pixelFormat: PixelFormat?
    /// The dithering of a result with 5 or 6 bits per channel.
    public var dithering = Dithering.ordered
    /// Whether the checksums of pixel data are verified, in formats that have them.
    ///
    /// `false` saves time for trusted files; a damaged file may then decode to a wrong image. The
    /// data before the pixels is always verified.
    public var verifiesChecksums = true

    /// The whole image at its own size.
    public init() {}

    /// Returns the part of an image that is resampled, and the size of the result.
    ///
    /// - Parameters:
    ///   - image: the size of the upright image; both sides at least 1.
    ///   - isScalable: whether the image is drawn at any size.
    /// - Returns: the part, in pixels of the upright image.
    public func geometry(of image: PixelSize, isScalable: Bool = false) -> ResizeGeometry {
        let part = part(of: image)
        var geometry = ResizeGeometry(
            of: part.size, into: box ?? part.size, mode: mode, anchor: anchor,
            enlarging: allowsEnlarging || isScalable)
        geometry.region.x += Double(part.x)
        geometry.region.y += Double(part.y)
        return geometry
    }

    /// Returns ``region`` clamped to an image; at least one pixel.
    package func part(of image: PixelSize) -> PixelRect {
        guard let region else { return PixelRect(image) }
        // Values from outside may overflow.
        func range(_ start: Int, _ count: Int, of side: Int) -> Range<Int> {
            let (sum, isOverflow) = start.addingReportingOverflow(count)
            let end = isOverflow ? (count > 0 ? side : 0) : sum
            let first = min(max(start, 0), side - 1)
            return first..<max(first + 1, min(end, side))
        }
        let columns = range(region.x, region.width, of: image.width)
        let rows = range(region.y, region.height, of: image.height)
        return PixelRect(
            x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }

    /// The image in a box, in device pixels.
    public init(box: PixelSize, mode: ResizeMode = .fit) {
        self.box = box
        self.mode = mode
    }

    /// The image with a longer side of at most `side` pixels.
    public init(maximumSide side: Int) {
        self.init(box: PixelSize(width: side, height: side))
    }
}
