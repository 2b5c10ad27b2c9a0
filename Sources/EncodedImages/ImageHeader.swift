// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The properties of an image that are known before its pixels are decoded.
public struct ImageHeader: Hashable, Sendable {
    /// The kind of colours that the file stores.
    public enum ColorModel: String, Hashable, Sendable, CaseIterable {
        /// Grey levels.
        case gray
        /// Red, green and blue, or luma and chroma.
        case rgb
        /// Indices into a palette.
        case palette
        /// Cyan, magenta, yellow and black.
        case cmyk
        /// CIE L*a*b*.
        case lab
    }

    /// The size of the stored rows, before the orientation is applied.
    public var storedSize: PixelSize
    /// The orientation of the stored rows.
    public var orientation = Orientation.upright
    /// The kind of colours that the file stores.
    public var colorModel: ColorModel
    /// The number of bits of a stored sample.
    public var bitsPerComponent: Int
    /// Whether pixels may be transparent.
    public var hasAlpha = false
    /// The colour space of the samples.
    public var colorProfile = ColorProfile.sRGB
    /// The number of frames of an animation; 1 for other images.
    public var frameCount = 1
    /// The number of times that an animation is played; 0 means infinitely.
    public var loopCount = 1
    /// The number of independent images in the file, such as the pages of a document, the sizes of an icon
    /// or the mip levels of a texture.
    public var pageCount = 1
    /// Whether the image is drawn at any size without loss, as vector graphics are.
    public var isScalable = false
    /// Whether the bytes end before all properties are certain.
    ///
    /// The first bytes of a file may lack frames or the orientation.
    public var endsEarly = false
    /// The bytes of the file that are an embedded thumbnail, itself an image file.
    public var thumbnail: Range<Int>?
    /// The size of the tiles if the file stores each as a JPEG image; see ``ImageSource/jpegTile(_:)``.
    public var jpegTileSize: PixelSize?
    /// Whether the file seems to contain a gain map; see ``ImageSource/gainMap()``.
    public var hasGainMap = false
    /// Properties of this format only, such as the compression, for display.
    public var facts: [Fact] = []

    /// A property for display.
    public struct Fact: Hashable, Sendable {
        /// The name in English.
        public var name: String
        /// The value in English.
        public var value: String

        /// A property with a name and a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A header of an opaque, upright image in sRGB with one frame and one page.
    public init(storedSize: PixelSize, colorModel: ColorModel, bitsPerComponent: Int) {
        self.storedSize = storedSize
        self.colorModel = colorModel
        self.bitsPerComponent = bitsPerComponent
    }

    /// Whether the image may exceed the white of SDR content: in PQ or HLG, or with a gain map.
    public var isHDR: Bool { hasGainMap || colorProfile.isHDR }

    /// The size of the upright image.
    public var pixelSize: PixelSize { orientation.oriented(storedSize) }
}
