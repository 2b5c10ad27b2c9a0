// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The commonly used properties of an XMP packet.
///
/// Dates are strings as in the packet, mostly in ISO 8601. Damage is never an error: the properties
/// before it are returned.
/// - SeeAlso: ISO 16684-1; Adobe, *XMP Specification Part 1 and 2*.
public struct XMPFields: Hashable, Sendable {
    /// The title (`dc:title`).
    public var title: String?
    /// The description (`dc:description`).
    public var description: String?
    /// The creators (`dc:creator`), at most 1,000.
    public var creators: [String] = []
    /// The copyright notice (`dc:rights`).
    public var rights: String?
    /// The keywords (`dc:subject`), at most 1,000.
    public var subjects: [String] = []

    /// The rating in stars from 0 to 5; -1 for a rejected image (`xmp:Rating`).
    public var rating: Int?
    /// The label, mostly the name of a colour (`xmp:Label`).
    public var label: String?
    /// The date at which the file was created (`xmp:CreateDate`).
    public var createDate: String?
    /// The date of the last change of the file (`xmp:ModifyDate`).
    public var modifyDate: String?
    /// The software that created the file (`xmp:CreatorTool`).
    public var creatorTool: String?

    /// The headline (`photoshop:Headline`).
    public var headline: String?
    /// The instructions for use (`photoshop:Instructions`).
    public var instructions: String?
    /// The provider of the image (`photoshop:Credit`).
    public var credit: String?
    /// The original owner of the image (`photoshop:Source`).
    public var source: String?
    /// The city (`photoshop:City`).
    public var city: String?
    /// The province or state (`photoshop:State`).
    public var state: String?
    /// The country (`photoshop:Country`).
    public var country: String?
    /// The date at which the contents of the image were created (`photoshop:DateCreated`).
    public var dateCreated: String?

    /// The projection of a panorama, such as `equirectangular` (`GPano:ProjectionType`).
    public var panoramaProjection: String?

    /// The regions with faces, animals or the focus, at most 100, in the coordinates of the stored pixels
    /// (`mwg-rs:RegionList`, `MPRI:Regions`).
    public var regions: [ImageRegion] = []
    /// The size in pixels of the image that the regions were made for (`mwg-rs:AppliedToDimensions`).
    public var sizeOfRegions: PixelSize?

    /// The largest number of regions that are read.
    package static let maximumRegionCount = 100

    /// No properties.
    public init() {}

    /// Reads a packet in UTF-8.
    ///
    /// A text is cut at 65,536 bytes, all texts together at 131,072; a list at 1,000 items.
    public init(_ packet: [UInt8]) {
        var reader = XMPPropertyReader(packet)
        while let property = reader.next() { take(property) }
        fitTexts()
        let regions = XMPRegionReader(packet)
        (self.regions, sizeOfRegions) = (regions.regions, regions.appliedSize)
    }

    private mutating func fitTexts() {
        var budget = MetadataTextBudget()
        for field in [
            \Self.title, \.description, \.rights, \.label, \.createDate, \.modifyDate,
            \.creatorTool, \.headline, \.instructions, \.credit, \.source, \.city, \.state,
            \.country, \.dateCreated, \.panoramaProjection,
        ] { budget.fit(&self[keyPath: field]) }
        for list in [\Self.creators, \.subjects] { budget.fit(&self[keyPath: list]) }
    }

    private mutating func take(_ property: XMPPropertyReader.Property) {
        guard let text = property.text else { return }
        let name = property.name.local
        switch property.name.namespace {
        case XMPNamespace.dublinCore:
            switch name {
            case "title": title = text
            case "description": description = text
            case "creator": creators = property.items.map(\.text)
            case "rights": rights = text
            case "subject": subjects = property.items.map(\.text)
            default: break
            }
        case XMPNamespace.basic:
            switch name {
            case "Rating": rating = Double(text).flatMap { Self.stars($0) }
            case "Label": label = text
            case "CreateDate": createDate = text
            case "ModifyDate": modifyDate = text
            case "CreatorTool": creatorTool = text
            default: break
            }
        case XMPNamespace.photoshop:
            switch name {
            case "Headline": headline = text
            case "Instructions": instructions = text
            case "Credit": credit = text
            case "Source": source = text
            case "City": city = text
            case "State": state = text
            case "Country": country = text
            case "DateCreated": dateCreated = text
            default: break
            }
        case XMPNamespace.microsoftPhoto where name == "Rating" && rating == nil:
            // In percent: 1, 25, 50, 75 and 99 for one to five stars.
            rating = Double(text).flatMap {
                $0 >= 0 && $0 <= 100 ? $0 == 0 ? 0 : Int(($0 + 12) / 25) + 1 : nil
            }
        case XMPNamespace.panorama where name == "ProjectionType": panoramaProjection = text
        default: break
        }
    }

    private static func stars(_ value: Double) -> Int? {
        (-1...5).contains(value) ? Int(value.rounded()) : nil
    }
}

/// The namespaces of the properties that are read.
enum XMPNamespace {
    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    static let xml = "http://www.w3.org/XML/1998/namespace"
    static let dublinCore = "http://purl.org/dc/elements/1.1/"
    static let basic = "http://ns.adobe.com/xap/1.0/"
    static let photoshop = "http://ns.adobe.com/photoshop/1.0/"
    static let microsoftPhoto = "http://ns.microsoft.com/photo/1.0/"
    static let panorama = "http://ns.google.com/photos/1.0/panorama/"
    static let exif = "http://ns.adobe.com/exif/1.0/"
    static let tiff = "http://ns.adobe.com/tiff/1.0/"
    static let gainMap = "http://ns.adobe.com/hdr-gain-map/1.0/"
    static let appleGainMap = "http://ns.apple.com/HDRGainMap/1.0/"
    static let container = "http://ns.google.com/photos/1.0/container/"
    static let regions = "http://www.metadataworkinggroup.com/schemas/regions/"
    static let area = "http://ns.adobe.com/xmp/sType/Area#"
    static let dimensions = "http://ns.adobe.com/xap/1.0/sType/Dimensions#"
    static let microsoftRegions = "http://ns.microsoft.com/photo/1.2/t/RegionInfo#"
    static let microsoftRegion = "http://ns.microsoft.com/photo/1.2/t/Region#"
    static let notes = "http://ns.adobe.com/xmp/note/"
}

/// Reads the properties of an XMP packet one by one: attributes and children of `rdf:Description`.
struct XMPPropertyReader {
    struct Item {
        var language: String?
        var text: String
    }

    struct Property {
        let name: XMLScanner.Name
        /// The items of a list; one for a simple value.
        let items: [Item]

        /// The item in the default language, otherwise the first one.
        var text: String? { (items.first { $0.language == "x-default" } ?? items.first)?.text }
    }

    private static let description = XMLScanner.Name(XMPNamespace.rdf, "Description")
    private static let item = XMLScanner.Name(XMPNamespace.rdf, "li")
    private static let languageName = XMLScanner.Name(XMPNamespace.xml, "lang")

    private var scanner: XMLScanner
    /// Whether the last start tag was a description, whose attributes are properties.
    private var readsAttributes = false
    /// The depth of the outermost open description.
    private var descriptionDepth: Int?

    init(_ packet: [UInt8]) { scanner = XMLScanner(packet) }

    /// See ``XMLScanner/workByteCount``.
    var workByteCount: Int { scanner.workByteCount }

    /// Returns the next property; `nil` at the end and at damage.
    mutating func next() -> Property? {
        while true {
            while readsAttributes {
                guard let attribute = scanner.nextAttribute() else {
                    readsAttributes = false
                    break
                }
                if let text = MetadataText.trimmed(scanner.string(attribute.value)) {
                    return Property(name: attribute.name, items: [Item(text: text)])
                }
            }
            guard let event = scanner.next() else { return nil }
            switch event {
            case .start(let name, _):
                if name == Self.description, descriptionDepth == nil {
                    descriptionDepth = scanner.depth
                    readsAttributes = true
                } else if let descriptionDepth, scanner.depth == descriptionDepth + 1 {
                    return Property(name: name, items: items())
                }
            case .end:
                if let descriptionDepth, scanner.depth < descriptionDepth {
                    self.descriptionDepth = nil
                }
            case .text: break
            }
        }
    }

    /// Reads the values of the property of the last start tag, up to the limits of ``MetadataText``.
    private mutating func items() -> [Item] {
        let depth = scanner.depth
        var items: [Item] = []
        var byteCount = 0
        var text = ""
        var isInItem = false
        var language: String?
        while let event = scanner.next() {
            switch event {
            case .start(let name, _):
                guard name == Self.item, scanner.depth == depth + 2 else { continue }
                text = ""
                isInItem = true
                language = self.language()
            case .end:
                let endsProperty = scanner.depth < depth
                if (isInItem && scanner.depth == depth + 1) || (endsProperty && items.isEmpty),
                    items.count < MetadataText.maximumItemCount,
                    byteCount < MetadataText.maximumTotalByteCount,
                    let value = MetadataText.trimmed(text)
                {
                    items.append(Item(language: language, text: value))
                    byteCount += value.utf8.count + (language?.utf8.count ?? 0)
                }
                if endsProperty { return items }
                if scanner.depth == depth + 1 {
                    isInItem = false
                    text = ""
                }
            case .text(let part):
                let room = MetadataText.maximumByteCount - text.utf8.count
                if room > 0, scanner.depth == depth || (isInItem && scanner.depth == depth + 2) {
                    text += scanner.string(part, maximumByteCount: room)
                }
            }
        }
        return items
    }

    /// Returns the value of the attribute `xml:lang` of the last start tag.
    private mutating func language() -> String? {
        while let attribute = scanner.nextAttribute() {
            if attribute.name == Self.languageName {
                return scanner.string(attribute.value, maximumByteCount: 256)
            }
        }
        return nil
    }
}
