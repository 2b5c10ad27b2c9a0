// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension GainMapMetadata {
    /// The properties of the XMP packet in the file of a map; `nil` if the packet does not describe a gain
    /// map, or has invalid values.
    ///
    /// - Parameters:
    ///   - packet: XML in UTF-8.
    ///   - exif: the EXIF block of the image, whose maker note states the headroom if the packet does not.
    package init?(xmp packet: [UInt8], exif: [UInt8]? = nil) {
        var values: [String: [String]] = [:]
        var appleHeadroom: Double?
        var isApple = false
        var reader = XMPPropertyReader(packet)
        while let property = reader.next() {
            switch property.name.namespace {
            case XMPNamespace.gainMap:
                values[property.name.local] = property.items.map(\.text)
            case XMPNamespace.appleGainMap:
                isApple = true
                if property.name.local == "HDRGainMapHeadroom" {
                    appleHeadroom = property.text.flatMap(Double.init)
                }
            default: break
            }
        }
        if values["Version"] == nil {
            guard isApple else { return nil }
            let stops =
                appleHeadroom.map { log2(max($0, 1)) }
                ?? exif.flatMap { AppleMakerNote.headroom(inEXIF: $0.span) }
            self.init(appleHeadroom: stops ?? AppleMakerNote.maximumHeadroom)
        } else {
            self.init(adobe: values)
        }
        guard isValid else { return nil }
    }

    /// The metadata of a map of Apple's cameras.
    ///
    /// A gain is `1 + (h - 1) * g`, with the headroom `h` and the light `g` of a sample in the curve of
    /// BT.709. A gamma with which the gain of a sample of 0.5 is exact describes all others within 4 % of
    /// the range.
    /// - Parameter headroom: the logarithm to base 2 of the largest gain.
    init(appleHeadroom headroom: Double) {
        let light = pow((0.5 + 0.099) / 1.099, 1 / 0.45)
        let share = log2(1 + (exp2(headroom) - 1) * light) / headroom
        var channel = Channel()
        channel.maximum = headroom
        channel.gamma = log(0.5) / log(share)
        (channel.baseOffset, channel.alternateOffset) = (0, 0)
        self.init(channel)
        alternateHeadroom = headroom
    }

    /// `nil` if a required property is missing or not a number.
    private init?(adobe values: [String: [String]]) {
        self.init()
        func numbers(_ name: String, _ field: WritableKeyPath<Channel, Double>) -> Bool {
            guard let texts = values[name] else { return name != "GainMapMax" }
            let numbers = texts.compactMap(Double.init)
            guard numbers.count == texts.count, numbers.count == 1 || numbers.count == 3 else {
                return false
            }
            for index in 0..<3 { channels[index][keyPath: field] = numbers[index % numbers.count] }
            return true
        }
        guard numbers("GainMapMin", \.minimum), numbers("GainMapMax", \.maximum),
            numbers("Gamma", \.gamma), numbers("OffsetSDR", \.baseOffset),
            numbers("OffsetHDR", \.alternateOffset),
            let maximum = values["HDRCapacityMax"]?.first.flatMap(Double.init),
            let minimum = Double(values["HDRCapacityMin"]?.first ?? "0")
        else { return nil }
        (baseHeadroom, alternateHeadroom) = (minimum, maximum)
        guard values["BaseRenditionIsHDR"]?.first == "True" else { return }
        // Adobe's gains lead from SDR to HDR in either case.
        (baseHeadroom, alternateHeadroom) = (maximum, minimum)
        for index in 0..<3 {
            let channel = channels[index]
            channels[index].baseOffset = channel.alternateOffset
            channels[index].alternateOffset = channel.baseOffset
        }
    }

    /// The XMP packet of the file of a map.
    package var xmpPacket: [UInt8] {
        func text(_ values: [Double]) -> String {
            values.allSatisfy { $0 == values[0] }
                ? "\(values[0])"
                : "<rdf:Seq>"
                    + values.map { "<rdf:li>\($0)</rdf:li>" }.joined() + "</rdf:Seq>"
        }
        func property(_ name: String, _ value: String) -> String {
            "<hdrgm:\(name)>\(value)</hdrgm:\(name)>"
        }
        let offsets = channels.map { ($0.baseOffset, $0.alternateOffset) }
        let sdr = offsets.map { isBaseHDR ? $0.1 : $0.0 }
        let hdr = offsets.map { isBaseHDR ? $0.0 : $0.1 }
        let properties = [
            property("Version", "1.0"),
            property("BaseRenditionIsHDR", isBaseHDR ? "True" : "False"),
            property("GainMapMin", text(channels.map(\.minimum))),
            property("GainMapMax", text(channels.map(\.maximum))),
            property("Gamma", text(channels.map(\.gamma))),
            property("OffsetSDR", text(sdr)),
            property("OffsetHDR", text(hdr)),
            property("HDRCapacityMin", "\(min(baseHeadroom, alternateHeadroom))"),
            property("HDRCapacityMax", "\(max(baseHeadroom, alternateHeadroom))"),
        ]
        return XMPPacket.packet(
            "<rdf:Description xmlns:hdrgm=\"\(XMPNamespace.gainMap)\" rdf:about=\"\">"
                + properties.joined() + "</rdf:Description>")
    }

    /// Adds the properties of a base image with a gain map to its packet.
    ///
    /// - Parameters:
    ///   - packet: the packet of the base image; `nil` for none.
    ///   - byteCount: the number of bytes of the file of the map.
    /// - Returns: the packet.
    package static func basePacket(
        _ packet: [UInt8]?, mapByteCount byteCount: Int
    ) -> [UInt8] {
        let description = """
            <rdf:Description xmlns:rdf="\(XMPNamespace.rdf)" xmlns:hdrgm="\(XMPNamespace.gainMap)" \
            xmlns:Container="\(XMPNamespace.container)" xmlns:Item="\(XMPNamespace.container)item/" \
            rdf:about="" hdrgm:Version="1.0"><Container:Directory><rdf:Seq>\
            <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" \
            Item:Mime="image/jpeg"/></rdf:li><rdf:li rdf:parseType="Resource"><Container:Item \
            Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="\(byteCount)"/></rdf:li>\
            </rdf:Seq></Container:Directory></rdf:Description>
            """
        let whole = XMPPacket.packet(description)
        guard let packet else { return whole }
        return XMPPacket.adding(Array(description.utf8), to: packet) ?? whole
    }
}

extension XMPPacket {
    /// Returns a packet with these descriptions.
    fileprivate static func packet(_ descriptions: String) -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="\(XMPNamespace.rdf)">\
            \(descriptions)</rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    /// Inserts a description at the end of a packet.
    ///
    /// - Returns: `nil` if the packet is damaged or has no list of descriptions.
    fileprivate static func adding(_ description: [UInt8], to packet: [UInt8]) -> [UInt8]? {
        let list = XMLScanner.Name(XMPNamespace.rdf, "RDF")
        var scanner = XMLScanner(packet)
        var depth: Int?
        var end: Int?
        while let event = scanner.next() {
            switch event {
            case .start(let name, _): if depth == nil, name == list { depth = scanner.depth }
            case .end(let range):
                if let inner = depth, scanner.depth < inner, end == nil, !range.isEmpty {
                    end = range.lowerBound
                }
            case .text: break
            }
        }
        guard let end, !scanner.isDamaged else { return nil }
        return Array(packet[..<end]) + description + packet[end...]
    }
}
