// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A region of an image that its XMP packet describes, such as a face.
public struct ImageRegion: Hashable, Sendable {
    /// The content of a region.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The face of a person.
        case face
        /// An animal.
        case pet
        /// The area on which the camera focused.
        case focus
    }

    /// The content of the region.
    public var kind: Kind
    /// The region in fractions of the width and height of the image, from 0 to 1.
    public var area: SampleRegion

    /// Creates a region.
    ///
    /// - Parameters:
    ///   - kind: the content of the region.
    ///   - area: the region in fractions of the width and height of the image.
    public init(_ kind: Kind, _ area: SampleRegion) {
        self.kind = kind
        self.area = area
    }

    /// Whether the area is valid: not empty, and inside of the image.
    package var isValid: Bool {
        area.width > 0 && area.height > 0 && area.x >= 0 && area.y >= 0
            && area.x + area.width <= 1 + 1e-9 && area.y + area.height <= 1 + 1e-9
    }
}

/// Reads the regions of an XMP packet.
///
/// - SeeAlso: Metadata Working Group, *Guidelines for Handling Image Metadata 2.0*, section 5.9; Microsoft,
///   *People Tagging Overview*.
struct XMPRegionReader {
    /// The largest number of regions that are read.
    static let maximumCount = XMPFields.maximumRegionCount

    private static let item = XMLScanner.Name(XMPNamespace.rdf, "li")
    private static let list = XMLScanner.Name(XMPNamespace.regions, "RegionList")
    private static let microsoftList = XMLScanner.Name(XMPNamespace.microsoftRegions, "Regions")

    private(set) var regions: [ImageRegion] = []
    /// The size in pixels of the image that the regions were made for.
    private(set) var appliedSize: PixelSize?

    private var scanner: XMLScanner
    /// The depth of the open list, and of the open item in it.
    private var listDepth: Int?
    private var itemDepth: Int?
    /// The values of the open item, and those of the size outside of the list.
    private var values: [String: String] = [:]
    private var sides: [String: String] = [:]

    init(_ packet: [UInt8]) {
        scanner = XMLScanner(packet)
        var names: [XMLScanner.Name] = []
        while let event = scanner.next(), regions.count < Self.maximumCount {
            switch event {
            case .start(let name, _):
                names.append(name)
                if listDepth == nil, name == Self.list || name == Self.microsoftList {
                    listDepth = scanner.depth
                } else if let listDepth, itemDepth == nil, name == Self.item,
                    scanner.depth == listDepth + 2
                {
                    itemDepth = scanner.depth
                    values = [:]
                }
                while let attribute = scanner.nextAttribute() {
                    take(attribute.name, scanner.string(attribute.value, maximumByteCount: 256))
                }
            case .text(let text):
                if let name = names.last {
                    take(name, scanner.string(text, maximumByteCount: 256))
                }
            case .end:
                names.removeLast()
                if let depth = itemDepth, scanner.depth < depth {
                    itemDepth = nil
                    if let region = region(), region.isValid { regions.append(region) }
                }
                if let depth = listDepth, scanner.depth < depth { listDepth = nil }
            }
        }
        appliedSize = size()
    }

    /// Keeps the value of a property that describes a region, the first one of each name.
    private mutating func take(_ name: XMLScanner.Name, _ text: String) {
        guard let text = MetadataText.trimmed(text) else { return }
        switch name.namespace {
        case XMPNamespace.dimensions where listDepth == nil:
            if sides[name.local] == nil { sides[name.local] = text }
        case XMPNamespace.area, XMPNamespace.regions, XMPNamespace.microsoftRegion:
            if itemDepth != nil, values[name.local] == nil { values[name.local] = text }
        default: break
        }
    }

    private func size() -> PixelSize? {
        guard sides["unit"] ?? "pixel" == "pixel", let width = sides["w"].flatMap(Double.init),
            let height = sides["h"].flatMap(Double.init), (1...1e9).contains(width),
            (1...1e9).contains(height)
        else { return nil }
        return PixelSize(width: Int(width), height: Int(height))
    }

    private func region() -> ImageRegion? {
        if let rectangle = values["Rectangle"] {
            let numbers = rectangle.split(separator: ",", maxSplits: 8)
                .compactMap { MetadataText.trimmed(String($0)).flatMap(Double.init) }
            guard numbers.count == 4 else { return nil }
            return Self.region(
                .face, x: numbers[0] + numbers[2] / 2, y: numbers[1] + numbers[3] / 2,
                width: numbers[2], height: numbers[3])
        }
        func number(_ name: String) -> Double? { values[name].flatMap(Double.init) }
        guard let kind = values["Type"].flatMap({ ImageRegion.Kind(rawValue: $0.lowercased()) }),
            values["unit"] ?? "normalized" == "normalized", let x = number("x"),
            let y = number("y")
        else { return nil }
        // A circle has a diameter, a point neither.
        let diameter = number("d") ?? 0.05
        return Self.region(
            kind, x: x, y: y, width: number("w") ?? diameter, height: number("h") ?? diameter)
    }

    /// Returns a region around a centre, clipped to the image; `nil` for numbers out of range.
    private static func region(
        _ kind: ImageRegion.Kind, x: Double, y: Double, width: Double, height: Double
    ) -> ImageRegion? {
        guard [x, y, width, height].allSatisfy({ (0...1).contains($0) }) else { return nil }
        let (left, top) = (max(0, x - width / 2), max(0, y - height / 2))
        return ImageRegion(
            kind,
            SampleRegion(
                x: left, y: top, width: min(1, x + width / 2) - left,
                height: min(1, y + height / 2) - top))
    }
}

extension MetadataFields {
    /// Returns the parts of an upright image that a crop should contain.
    ///
    /// Regions are stored for the pixels as they are in the file. Programs that store them for the upright
    /// image are recognized if the orientation exchanges width and height.
    ///
    /// - Parameter size: the upright size of the image in pixels.
    /// - Returns: the faces and animals; without any, the areas of focus; in fractions of the upright width
    ///   and height.
    public func partsToKeep(of size: PixelSize) -> [SampleRegion] {
        guard let xmp = xmp?.fields else { return [] }
        let beings = xmp.regions.filter { $0.kind != .focus }
        let areas = (beings.isEmpty ? xmp.regions : beings).map(\.area)
        let orientation = exif?.fields.orientation ?? .upright
        if orientation.swapsSides, let applied = xmp.sizeOfRegions,
            applied.width != applied.height,
            (applied.width > applied.height) == (size.width > size.height)
        {
            return areas
        }
        let unit = PixelSize(width: 1, height: 1)
        return areas.map { orientation.inverse.stored($0, in: unit) }
    }
}
