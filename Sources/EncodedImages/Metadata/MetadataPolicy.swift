// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The metadata of an original that is written to an image made from it.
public struct MetadataPolicy: Hashable, Sendable {
    /// The extent of the metadata that is written.
    public enum Kept: String, Hashable, Sendable, CaseIterable {
        /// The colour profile and every block, updated to match the image.
        case all
        /// The colour profile, unless the image was converted to sRGB.
        case color
        /// Nothing; the caller converts the image to sRGB, which needs no profile.
        case none
    }

    /// The extent of the metadata that is written.
    public var kept: Kept
    /// Whether the GPS position is removed.
    ///
    /// It is removed from the GPS directory of EXIF and from all properties of XMP whose names begin
    /// with GPS. Place names in XMP and IPTC remain, as do maker notes, which contain no position in
    /// the known formats of nearly all manufacturers.
    public var stripsLocation: Bool

    /// A policy.
    public init(_ kept: Kept, stripsLocation: Bool) {
        self.kept = kept
        self.stripsLocation = stripsLocation
    }

    /// The policy for renditions: the colour profile only.
    public static let rendition = MetadataPolicy(.color, stripsLocation: true)
    /// The policy for copies of an original: everything.
    public static let copy = MetadataPolicy(.all, stripsLocation: false)
}

/// The differences between an image and the metadata of its original.
public struct ImageChanges: Hashable, Sendable {
    /// The size of the written rows.
    public var size: PixelSize
    /// Whether the image was resized or cropped.
    public var isResized = false
    /// The orientation of the written rows.
    public var orientation = Orientation.upright
    /// Whether the samples were converted to sRGB.
    public var isConvertedToSRGB = false

    /// An image of this size, without other differences.
    public init(size: PixelSize) { self.size = size }
}

extension MetadataBlocks {
    /// Returns the blocks for an image that is made from the original of these blocks.
    ///
    /// An EXIF block is changed in place, since maker notes contain offsets: orientation, size and
    /// colour space become those of the image, an outdated thumbnail is removed, and so are positions
    /// if the policy strips them. The same properties are removed from XMP. A block that is too
    /// damaged for these changes is omitted.
    ///
    /// - Parameters:
    ///   - policy: the metadata that is kept.
    ///   - changes: the differences between the image and the original.
    /// - Returns: blocks for ``EncodeOptions/metadata``.
    public func forWriting(_ policy: MetadataPolicy, _ changes: ImageChanges) -> MetadataBlocks {
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

    /// Whether a property of XMP repeats a property of the file, and may thus be outdated.
    private static func isStale(_ name: XMLScanner.Name) -> Bool {
        switch (name.namespace, name.local) {
        // A gain map is a part of the image; its writer adds them again.
        case (XMPNamespace.gainMap, _), (XMPNamespace.container, _): true
        case (XMPNamespace.tiff, "Orientation"), (XMPNamespace.tiff, "ImageWidth"),
            (XMPNamespace.tiff, "ImageLength"), (XMPNamespace.exif, "PixelXDimension"),
            (XMPNamespace.exif, "PixelYDimension"), (XMPNamespace.exif, "ColorSpace"),
            (XMPNamespace.photoshop, "ICCProfile"), (XMPNamespace.basic, "Thumbnails"):
            true
        default: false
        }
    }
}
