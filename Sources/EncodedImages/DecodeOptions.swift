// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What is wanted of a picture.
public struct DecodeOptions: Hashable, Sendable {
    /// Whether a thumbnail that the camera put into the file may stand for the picture.
    public enum EmbeddedThumbnail: String, Hashable, Sendable, CaseIterable {
        /// Always decode the picture itself.
        case ignore
        /// Use the thumbnail if it has at least as many pixels as are wanted and the picture's proportions.
        case ifLargeEnough
    }

    /// How carefully a picture is reduced.
    public enum Quality: String, Hashable, Sendable, CaseIterable {
        /// Like a picture that was decoded whole and then reduced.
        case exact
        /// As little work as possible, for pictures that are looked at for a moment: while content
        /// moves fast, or until the exact one is there.
        case fast
    }

    /// The only part that is wanted, in pixels of the picture as it is looked at, or of its original
    /// size if it is drawn at any size.
    ///
    /// Only what lies within the picture counts; where that is nothing, the nearest pixel does.
    /// `nil` asks for all of it. All that is said of a picture below then means that part.
    public var region: PixelRect?
    /// The box that the picture is made to meet, in device pixels as it is looked at.
    ///
    /// `nil` asks for the picture's own size; a side of `Int.max` asks for nothing.
    public var box: PixelSize?
    public var mode = ResizeMode.fit
    /// Which part `ResizeMode/fill` keeps.
    public var anchor = CropAnchor.center
    /// Whether the result may have more pixels than the picture.
    public var allowsEnlarging = false
    /// Whether the picture is turned upright as its orientation says.
    public var appliesOrientation = true
    public var embeddedThumbnail = EmbeddedThumbnail.ignore
    public var kernel = ResamplingKernel.lanczos3
    public var quality = Quality.exact
    /// Whether colours are converted to sRGB; otherwise the result keeps the picture's profile.
    public var convertsToSRGB = true
    /// Whether a file that ends early gives the picture as far as it goes.
    ///
    /// What is missing is grey in a JPEG, else black or transparent, and
    /// ``DecodeReport/problem`` says so. Otherwise such a file is refused.
    public var acceptsTruncated = false
    /// Whether the result may be `PixelFormat/yCbCr420`, for somebody who encodes it so at once.
    ///
    /// It then is if the file holds luma and colour differences and no colours must be converted.
    public var acceptsYCbCr = false
    /// Whether samples of more than 8 bits come as 16 bits; they are else rounded to 8.
    public var keepsDepth = false
    /// The form of the result: any but `PixelFormat/yCbCr420`, for which ``acceptsYCbCr`` is.
    ///
    /// `nil` gives grey, RGB, or premultiplied RGBA, as the file has it. A format of more than 8 bits
    /// keeps the file's depth; `PixelFormat/rgb565` and `PixelFormat/rgb555` are for opaque
    /// pictures on small devices, and drop alpha.
    public var pixelFormat: PixelFormat?
    /// How steps are hidden in a result of 5 or 6 bits a channel.
    public var dithering = Dithering.ordered
    /// Whether checksums over the pixels are compared, where the format has any.
    ///
    /// Turning it off saves time on files that are trusted, such as those that this program wrote:
    /// one that was damaged may then come out as a wrong picture. What stands before the pixels is
    /// always checked.
    public var verifiesChecksums = true

    public init() {}

    /// Which part of a picture is resampled to which size.
    ///
    /// - Parameters:
    ///   - picture: the picture's size as it is looked at; both sides at least 1.
    ///   - isScalable: whether the picture is drawn at any size.
    /// - Returns: the part, in pixels of the picture as it is looked at.
    public func geometry(of picture: PixelSize, isScalable: Bool = false) -> ResizeGeometry {
        let part = part(of: picture)
        var geometry = ResizeGeometry(
            of: part.size, into: box ?? part.size, mode: mode, anchor: anchor,
            enlarging: allowsEnlarging || isScalable)
        geometry.region.x += Double(part.x)
        geometry.region.y += Double(part.y)
        return geometry
    }

    /// The part that ``region`` means of a picture; at least one pixel.
    package func part(of picture: PixelSize) -> PixelRect {
        guard let region else { return PixelRect(picture) }
        // Numbers from outside may be of any size.
        func range(_ start: Int, _ count: Int, of side: Int) -> Range<Int> {
            let (sum, isOverflow) = start.addingReportingOverflow(count)
            let end = isOverflow ? (count > 0 ? side : 0) : sum
            let first = min(max(start, 0), side - 1)
            return first..<max(first + 1, min(end, side))
        }
        let columns = range(region.x, region.width, of: picture.width)
        let rows = range(region.y, region.height, of: picture.height)
        return PixelRect(
            x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }

    /// Asks for the picture in a box.
    public init(box: PixelSize, mode: ResizeMode = .fit) {
        self.box = box
        self.mode = mode
    }

    /// Asks for the picture with a longer side of at most `side` pixels.
    public init(maximumSide side: Int) {
        self.init(box: PixelSize(width: side, height: side))
    }
}
