// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What a file says of its picture before any pixel is decoded.
public struct ImageHeader: Hashable, Sendable {
    /// What the file stores for each pixel, before any conversion.
    public enum ColorModel: String, Hashable, Sendable, CaseIterable {
        case gray, rgb, palette, cmyk, lab
    }

    /// The size as stored, before it is turned.
    public var storedSize: PixelSize
    public var orientation = Orientation.upright
    public var colorModel: ColorModel
    public var bitsPerComponent: Int
    public var hasAlpha = false
    public var colorProfile = ColorProfile.sRGB
    /// Pictures that are shown one after the other.
    public var frameCount = 1
    /// How often an animation is shown in all; 0 means for ever.
    public var loopCount = 1
    /// Pictures of their own that the file holds side by side, such as the pages of a document.
    public var pageCount = 1
    /// Whether the picture is drawn at any size, so that a large one is no worse than its own.
    public var isScalable = false
    /// Whether the bytes end before all of this is certain, as a file's first bytes may: there may be
    /// more frames, or a statement of how the picture is turned.
    public var endsEarly = false
    /// Where an embedded thumbnail, itself a file, stands in the file.
    public var thumbnail: Range<Int>?
    /// Facts that only this format has, such as how it is compressed, for people to read.
    public var facts: [Fact] = []

    public struct Fact: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(storedSize: PixelSize, colorModel: ColorModel, bitsPerComponent: Int) {
        self.storedSize = storedSize
        self.colorModel = colorModel
        self.bitsPerComponent = bitsPerComponent
    }

    /// The size as the picture is looked at.
    public var pixelSize: PixelSize { orientation.oriented(storedSize) }
}
