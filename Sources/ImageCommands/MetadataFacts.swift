// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
internal import Pixels

/// The EXIF, XMP and IPTC metadata of an image, as text and JSON.
package struct MetadataFacts {
    private let fields: MetadataFields
    private let exif: EXIFFields
    private let xmp: XMPFields
    private let iptc: IPTCFields

    /// Reads the metadata of an image; unreadable metadata counts as absent.
    init(_ source: ImageSource) {
        self.init((try? source.metadataFields()) ?? MetadataFields())
    }

    package init(_ fields: MetadataFields) {
        self.fields = fields
        exif = fields.exif?.fields ?? EXIFFields()
        xmp = fields.xmp?.fields ?? XMPFields()
        iptc = fields.iptc?.fields ?? IPTCFields()
    }

    // MARK: Text

    /// The name and text of each property that is present.
    package var lines: [(String, String)] {
        let facts: [(String, String?)] = [
            ("title", xmp.title ?? iptc.title),
            ("headline", xmp.headline ?? iptc.headline),
            ("caption", xmp.description ?? iptc.caption ?? exif.imageDescription),
            ("comment", exif.userComment),
            ("keywords", list(xmp.subjects.isEmpty ? iptc.keywords : xmp.subjects)),
            ("author", list(authors)),
            ("copyright", xmp.rights ?? iptc.copyright ?? exif.copyright),
            ("rating", (xmp.rating ?? exif.rating).map { $0 < 0 ? "rejected" : "\($0) of 5" }),
            ("label", xmp.label),
            ("taken", exif.taken?.description ?? xmp.dateCreated ?? xmp.createDate),
            ("camera", device(exif.cameraName, exif.cameraSerialNumber)),
            ("lens", device(exif.lensName, exif.lensSerialNumber)),
            ("exposure", exposure), ("metering", metering), ("flash", flash),
            ("white balance", exif.whiteBalance.map { $0 == .auto ? "automatic" : "manual" }),
            ("position", exif.location.map(position)),
            ("place", list(place)),
            ("panorama", xmp.panoramaProjection),
            ("software", exif.software ?? xmp.creatorTool),
            ("changed", exif.modified?.description ?? xmp.modifyDate),
            ("metadata", list(sizes)),
        ]
        return facts.compactMap { name, text in text.map { (name, Self.onOneLine($0)) } }
    }

    private func list(_ items: [String]) -> String? {
        items.isEmpty ? nil : items.joined(separator: ", ")
    }

    private var authors: [String] {
        if !xmp.creators.isEmpty { return xmp.creators }
        return iptc.bylines.isEmpty ? [exif.artist].compactMap(\.self) : iptc.bylines
    }

    private func device(_ name: String?, _ serial: String?) -> String? {
        let parts = [name, serial.map { "serial number \($0)" }].compactMap(\.self)
        return parts.isEmpty ? nil : list(parts)
    }

    private var exposure: String? {
        let parts: [String?] = [
            exif.exposureTime.flatMap(Self.seconds),
            exif.fNumber?.value.map { "f/\(Self.rounded($0, 1))" },
            exif.iso.map { "ISO \($0)" },
            exif.focalLength?.value.map { "\(Self.rounded($0, 1)) mm" },
            exif.focalLengthIn35mm.map { "\($0) mm in 35 mm format" },
            exif.exposureBias?.value.flatMap { $0 == 0 ? nil : "\(Self.rounded($0, 2)) EV" },
            exif.exposureProgram.map(\.name),
        ]
        return list(parts.compactMap(\.self))
    }

    private var metering: String? { exif.meteringMode?.name }

    private var flash: String? {
        exif.flash.map { flash in
            if flash.isMissing { return "none" }
            return (flash.fired ? "fired" : "not fired")
                + (flash.reducesRedEyes ? ", red-eye reduction" : "")
        }
    }

    private func position(_ location: PhotoLocation) -> String {
        var text = "\(Self.rounded(location.latitude, 6)), \(Self.rounded(location.longitude, 6))"
        if let altitude = location.altitude { text += ", \(Self.rounded(altitude, 1)) m" }
        if let direction = location.direction {
            text += ", facing \(Self.rounded(direction, 1))°"
        }
        return text
    }

    private var place: [String] {
        [
            iptc.sublocation, xmp.city ?? iptc.city, xmp.state ?? iptc.state,
            xmp.country ?? iptc.country,
        ].compactMap(\.self)
    }

    private var sizes: [String] {
        [
            ("EXIF", fields.exif?.byteCount), ("XMP", fields.xmp?.byteCount),
            ("IPTC", fields.iptc?.byteCount),
        ]
        .compactMap { name, byteCount in byteCount.map { "\(name) \($0) bytes" } }
    }

    private static func seconds(_ time: Rational) -> String? {
        guard let value = time.value, value > 0 else { return nil }
        // Short exposure times are written with the numerator 1, as on cameras.
        return value < 0.3
            ? "1/\(rounded(1 / value, value > 0.1 ? 1 : 0)) s"
            : "\(rounded(value, 1)) s"
    }

    /// Formats a number with at most the given number of decimals.
    private static func rounded(_ value: Double, _ places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let result = (value * scale).rounded() / scale
        return Int(exactly: result).map(String.init) ?? result.description
    }

    /// Replaces control characters, which could move the cursor of a terminal, and truncates to 300
    /// scalars.
    private static func onOneLine(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(300) {
            let isControl = scalar.properties.generalCategory == .control
            scalars.append(isControl ? " " : scalar)
        }
        return String(scalars) + (text.unicodeScalars.count > 300 ? "…" : "")
    }

    // MARK: JSON

    var json: JSON {
        .object([
            .init("exif", fields.exif.map { object(exifMembers, $0.byteCount) } ?? .null),
            .init("xmp", fields.xmp.map { object(xmpMembers, $0.byteCount) } ?? .null),
            .init("iptc", fields.iptc.map { object(iptcMembers, $0.byteCount) } ?? .null),
        ])
    }

    private func object(_ members: [(String, JSON?)], _ byteCount: Int) -> JSON {
        .object(
            members.compactMap { name, value in value.map { .init(name, $0) } }
                + [.init("byteCount", .integer(byteCount))])
    }

    private func string(_ value: (some CustomStringConvertible)?) -> JSON? {
        value.map { .string($0.description) }
    }

    private func strings(_ values: [String]) -> JSON? {
        values.isEmpty ? nil : .array(values.map(JSON.string))
    }

    private var exifMembers: [(String, JSON?)] {
        [
            ("cameraMake", string(exif.cameraMake)), ("cameraModel", string(exif.cameraModel)),
            ("cameraSerialNumber", string(exif.cameraSerialNumber)),
            ("lensMake", string(exif.lensMake)), ("lensModel", string(exif.lensModel)),
            ("lensSerialNumber", string(exif.lensSerialNumber)),
            ("software", string(exif.software)), ("artist", string(exif.artist)),
            ("copyright", string(exif.copyright)), ("description", string(exif.imageDescription)),
            ("userComment", string(exif.userComment)), ("rating", exif.rating.map(JSON.integer)),
            ("exposureTime", string(exif.exposureTime)), ("fNumber", string(exif.fNumber)),
            ("iso", exif.iso.map(JSON.integer)), ("exposureBias", string(exif.exposureBias)),
            ("exposureProgram", string(exif.exposureProgram?.name)),
            ("meteringMode", string(exif.meteringMode?.name)),
            ("whiteBalance", exif.whiteBalance.map { .string($0 == .auto ? "auto" : "manual") }),
            ("flash", exif.flash.map { .integer($0.rawValue) }),
            ("focalLength", string(exif.focalLength)),
            ("focalLengthIn35mm", exif.focalLengthIn35mm.map(JSON.integer)),
            ("taken", string(exif.taken)), ("digitized", string(exif.digitized)),
            ("modified", string(exif.modified)),
            ("orientation", exif.orientation.map { .integer(Int($0.rawValue)) }),
            ("width", exif.pixelSize.map { .integer($0.width) }),
            ("height", exif.pixelSize.map { .integer($0.height) }),
            ("colorSpace", string(exif.colorSpace?.rawValue)),
            ("location", exif.location.map(json)),
        ]
    }

    private func json(_ location: PhotoLocation) -> JSON {
        let members: [(String, JSON?)] = [
            ("latitude", .number(location.latitude)), ("longitude", .number(location.longitude)),
            ("altitude", location.altitude.map(JSON.number)),
            ("direction", location.direction.map(JSON.number)),
            ("time", string(location.time)),
        ]
        return .object(members.compactMap { name, value in value.map { .init(name, $0) } })
    }

    private var xmpMembers: [(String, JSON?)] {
        [
            ("title", string(xmp.title)), ("description", string(xmp.description)),
            ("creators", strings(xmp.creators)), ("rights", string(xmp.rights)),
            ("subjects", strings(xmp.subjects)), ("rating", xmp.rating.map(JSON.integer)),
            ("label", string(xmp.label)), ("createDate", string(xmp.createDate)),
            ("modifyDate", string(xmp.modifyDate)), ("creatorTool", string(xmp.creatorTool)),
            ("headline", string(xmp.headline)), ("instructions", string(xmp.instructions)),
            ("credit", string(xmp.credit)), ("source", string(xmp.source)),
            ("city", string(xmp.city)), ("state", string(xmp.state)),
            ("country", string(xmp.country)), ("dateCreated", string(xmp.dateCreated)),
            ("panoramaProjection", string(xmp.panoramaProjection)),
        ]
    }

    private var iptcMembers: [(String, JSON?)] {
        [
            ("title", string(iptc.title)), ("headline", string(iptc.headline)),
            ("caption", string(iptc.caption)), ("captionWriter", string(iptc.captionWriter)),
            ("keywords", strings(iptc.keywords)), ("bylines", strings(iptc.bylines)),
            ("bylineTitle", string(iptc.bylineTitle)), ("copyright", string(iptc.copyright)),
            ("credit", string(iptc.credit)), ("source", string(iptc.source)),
            ("instructions", string(iptc.instructions)),
            ("sublocation", string(iptc.sublocation)), ("city", string(iptc.city)),
            ("state", string(iptc.state)), ("country", string(iptc.country)),
            ("countryCode", string(iptc.countryCode)), ("dateCreated", string(iptc.dateCreated)),
        ]
    }
}
