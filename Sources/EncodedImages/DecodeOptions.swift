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

    /// The box that the picture is made to meet, in device pixels as it is looked at.
    ///
    /// `nil` asks for the picture's own size; a side of `Int.max` asks for nothing.
    public var box: PixelSize?
    public var mode = ResizeMode.fit
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
    /// Whether the result may be ``PixelFormat/yCbCr420``, for somebody who encodes it so at once.
    ///
    /// It then is if the file holds luma and colour differences and no colours must be converted.
    public var acceptsYCbCr = false
    /// Whether samples of more than 8 bits come as 16 bits; they are else rounded to 8.
    public var keepsDepth = false
    /// The form of the result: any but ``PixelFormat/yCbCr420``, for which ``acceptsYCbCr`` is.
    ///
    /// `nil` gives grey, RGB, or premultiplied RGBA, as the file has it. A format of more than 8 bits
    /// keeps the file's depth; ``PixelFormat/rgb565`` and ``PixelFormat/rgb555`` are for opaque
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
