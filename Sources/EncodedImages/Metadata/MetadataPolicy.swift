// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What of an original's metadata goes into a picture that is made from it.
public struct MetadataPolicy: Hashable, Sendable {
    public enum Kept: String, Hashable, Sendable, CaseIterable {
        /// Every block, brought up to date, and the colour profile.
        case all
        /// What decides how the picture is shown: its colour profile, if the picture was not
        /// converted to sRGB; its pixels are upright.
        case color
        /// Nothing: the picture is to be converted to sRGB, so that it needs no profile either.
        case none
    }

    public var kept: Kept
    /// Whether the position at which a photograph was taken is taken out.
    ///
    /// That is the directory of positions in EXIF, and in XMP every property whose name begins with
    /// GPS. Names of places in XMP and IPTC stay, as do the maker's own notes in EXIF, which hold no
    /// position in the form that is known of nearly all makers.
    public var stripsLocation: Bool

    public init(_ kept: Kept, stripsLocation: Bool) {
        self.kept = kept
        self.stripsLocation = stripsLocation
    }

    /// For pictures that others are shown: nothing that is not seen.
    public static let rendition = MetadataPolicy(.color, stripsLocation: true)
    /// For pictures that stand for the original.
    public static let copy = MetadataPolicy(.all, stripsLocation: false)
}

/// What of a picture is no longer as its metadata says.
public struct PictureChanges: Hashable, Sendable {
    /// The size of the rows that are written.
    public var size: PixelSize
    /// Whether the original has another size, or shows more.
    public var isResized = false
    /// What has still to be done to the rows to show them upright.
    public var orientation = Orientation.upright
    /// Whether numbers stood for other colours in the original.
    public var isConvertedToSRGB = false

    public init(size: PixelSize) { self.size = size }

    /// What decoding does to a picture.
    ///
    /// - Parameters:
    ///   - header: that of the original.
    ///   - options: how it was decoded.
    ///   - image: the result.
    public init(_ header: ImageHeader, _ options: DecodeOptions, _ image: borrowing PixelBuffer) {
        size = image.size
        orientation = options.appliesOrientation ? .upright : header.orientation
        isResized = size != (options.appliesOrientation ? header.pixelSize : header.storedSize)
        isConvertedToSRGB = image.colorProfile != header.colorProfile
    }
}

extension MetadataBlocks {
    /// The blocks that go into a picture that is made from the one that these belong to.
    ///
    /// An EXIF block is changed in place, so that what its maker's notes refer to stays where it is:
    /// the orientation, the size and the colour space become those of the picture, a thumbnail that
    /// shows something else goes, and so do positions if they are to be stripped. From XMP the
    /// properties go that say the same. A block that is too damaged for this goes as a whole.
    ///
    /// - Parameters:
    ///   - policy: what is kept.
    ///   - changes: what is no longer true of the picture.
    /// - Returns: blocks for ``EncodeOptions/metadata``.
    public func forWriting(_ policy: MetadataPolicy, _ changes: PictureChanges) -> MetadataBlocks {
        guard policy.kept == .all else { return MetadataBlocks() }
        var result = self
        result.exif = exif.flatMap { EXIFRewriter.rewritten($0, policy, changes) }
        result.xmp = xmp.flatMap { packet in
            XMPPacket.removing(from: packet) { name in
                (policy.stripsLocation && name.local.lowercased().hasPrefix("gps"))
                    || Self.isStale(name)
            }
        }
        return result
    }

    /// Whether a property of XMP repeats what the file says by itself, and may then be wrong.
    private static func isStale(_ name: XMLScanner.Name) -> Bool {
        switch (name.namespace, name.local) {
        case (XMPNamespace.tiff, "Orientation"), (XMPNamespace.tiff, "ImageWidth"),
            (XMPNamespace.tiff, "ImageLength"), (XMPNamespace.exif, "PixelXDimension"),
            (XMPNamespace.exif, "PixelYDimension"), (XMPNamespace.exif, "ColorSpace"),
            (XMPNamespace.photoshop, "ICCProfile"), (XMPNamespace.basic, "Thumbnails"):
            true
        default: false
        }
    }
}
