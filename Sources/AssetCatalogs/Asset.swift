// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// A named set of variants in an asset catalog.
public struct Asset: Hashable, Sendable {
    /// What a set contains.
    public enum Kind: Hashable, Sendable {
        /// Images with all their traits, an `imageset`.
        case image
        /// The icons of an application, an `appiconset`.
        case appIcon
        /// Colours, a `colorset`.
        case color
        /// Files of any type, a `dataset`.
        case data
        /// Symbols drawn as SVG, a `symbolset`.
        case symbol
        /// A set whose contents are listed but not interpreted, with its extension.
        case other(String)
    }

    /// How an image is drawn, `template-rendering-intent`.
    public enum RenderingMode: String, Sendable {
        /// With its own colours.
        case original
        /// As a mask that is filled with a colour.
        case template
    }

    /// The identity of an asset: each kind has names of its own.
    public struct Key: Hashable, Sendable {
        /// The kind.
        public var kind: Kind
        /// The name, with the namespaces of the groups, such as `Toolbar/Share`.
        ///
        /// Names are compared by their bytes.
        @ComparedByBytes public var name: String

        /// Creates a key.
        public init(_ kind: Kind, _ name: String) {
            self.kind = kind
            self.name = name
        }
    }

    /// The kind and name.
    public let key: Key
    /// The path of the folder of the set.
    public let path: String
    /// The variants, in the order of `Contents.json`, including those without content.
    public let slots: [AssetSlot]
    /// How images are drawn; `nil` leaves the decision to the program.
    public let renderingMode: RenderingMode?
    /// Whether vectors are kept, for sizes other than the natural one.
    public let preservesVectors: Bool
    /// How images may be stored, such as `lossless` or `lossy`; `nil` leaves it to the compiler.
    public let compressionType: String?

    /// Returns the variant that suits a device best.
    ///
    /// Variants at the same distance are taken in the order of the file.
    ///
    /// - Returns: The slot; `nil` if no slot with content suits the device.
    public func slot(for traits: AssetTraits) -> AssetSlot? {
        var best: (distance: UInt64, slot: AssetSlot)?
        for slot in slots where slot.content != .empty {
            guard let distance = slot.traits.distance(from: traits) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (distance, slot) }
        }
        return best?.slot
    }
}

/// A variant of an asset.
public struct AssetSlot: Hashable, Sendable {
    /// What a slot holds.
    public enum Content: Hashable, Sendable {
        /// Nothing is assigned to the slot.
        case empty
        /// A file in the folder of the set.
        case file(String)
        /// A colour.
        case color(AssetColor)
        /// A colour of the system, by name.
        case systemColor(String)
    }

    /// The devices that the slot is made for.
    public let traits: AssetTraits
    /// The content.
    public let content: Content
    /// The size in points of an icon, such as `83.5x83.5`.
    public let size: String?
    /// The margins outside the alignment rectangle, in pixels of the file.
    public let alignmentInsets: AssetInsets?
    /// How the image is resized in parts.
    public let slicing: AssetSlicing?
}

/// Distances from the edges of an image, in pixels of the file.
public struct AssetInsets: Hashable, Sendable {
    /// The distance from the top edge.
    public let top: Double
    /// The distance from the left edge.
    public let left: Double
    /// The distance from the bottom edge.
    public let bottom: Double
    /// The distance from the right edge.
    public let right: Double
}

/// The parts of an image of which only the centre is resized.
public struct AssetSlicing: Hashable, Sendable {
    /// `3-part-horizontal`, `3-part-vertical` or `9-part`.
    public let mode: String
    /// The parts that keep their size.
    public let capInsets: AssetInsets
    /// How the centre fills its area: `stretch` or `tile`.
    public let centerMode: String?
    /// The width of the centre, in pixels of the file.
    public let centerWidth: Double?
    /// The height of the centre, in pixels of the file.
    public let centerHeight: Double?
}

/// A colour with its colour space.
public struct AssetColor: Hashable, Sendable {
    /// The colour space, such as `srgb`, `display-p3` or `gray-gamma-22`.
    public let space: String
    /// Red, green and blue, or one value of grey, where 1 is full intensity.
    public let components: [Double]
    /// The opacity, from 0 to 1.
    public let alpha: Double
}
