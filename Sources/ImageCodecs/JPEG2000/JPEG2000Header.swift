// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import EncodedImages
internal import Pixels

/// The parsed boxes and main header of a file.
struct JPEG2000Header {
    private(set) var codestream: JPEG2000Codestream
    private(set) var definitions = JPEG2000ChannelDefinitions()
    private(set) var metadata = MetadataBlocks()
    private(set) var profile = ColorProfile.sRGB

    /// Parses the boxes up to the codestream, or all boxes.
    ///
    /// - Parameters:
    ///   - file: the file or its start.
    ///   - limits: the limits for the file.
    ///   - readsAll: whether boxes after the codestream are parsed.
    /// - Throws: ``CodecError`` if a box or the main header is truncated or invalid.
    init(
        _ file: Span<UInt8>, limits: DecodeLimits, readsAll: Bool = false
    ) throws(CodecError) {
        if file.integer(at: 0, byteCount: 2) == 0xFF4F {
            codestream = try JPEG2000Codestream(file, 0..<file.count)
            return
        }
        var reader = BoxReader(12..<max(12, file.count))
        var boxes: [BoxReader.Box] = []
        var image: JPEG2000Codestream?
        while let box = try reader.nextChecked(file) {
            if box.type == "jp2c", image == nil {
                guard boxes.contains(where: { $0.type == "jp2h" }) else {
                    throw .malformed(
                        reason: "missing jp2h box before the codestream",
                        offset: box.body.lowerBound)
                }
                image = try JPEG2000Codestream(file, box.body)
                if readsAll { continue }
                break
            }
            let isHeader = Self.headerBoxes.contains(box.type)
            if ["jp2h", "uuid"].contains(box.type) || isHeader && image == nil {
                if image != nil, box.body.upperBound > file.count { break }
                try box.checkIsWhole(file)
                boxes.append(box)
            }
        }
        guard let image else {
            if reader.offset >= file.count { throw .truncated(byteCount: file.count) }
            throw .malformed(reason: "missing jp2c box", offset: reader.offset)
        }
        codestream = image
        for box in boxes {
            switch box.type {
            case "jp2h":
                var reader = BoxReader(box.body)
                while let box = try reader.nextChecked(file) {
                    try box.checkIsWhole(file)
                    try readHeaderBox(file, box, limits)
                }
            case "uuid": try readMetadata(file, box, limits)
            default: try readHeaderBox(file, box, limits)
            }
        }
    }

    /// Returns the channels; must be called after all boxes have been parsed.
    func channels() throws(CodecError) -> JPEG2000Channels {
        try JPEG2000Channels(codestream.components, definitions)
    }

    func imageHeader() throws(CodecError) -> ImageHeader {
        let channels = try channels()
        let grid = channels.grid(codestream)
        let size = PixelSize(width: grid.columns(0).count, height: grid.rows(0).count)
        guard !size.isEmpty else {
            throw .malformed(
                reason: "invalid image size: \(size)", offset: codestream.range.lowerBound)
        }
        let model: ImageHeader.ColorModel =
            switch channels.model {
            case .gray: .gray
            case .cmyk: .cmyk
            case .rgb, .yCbCr: definitions.palette == nil ? .rgb : .palette
            }
        var header = ImageHeader(
            storedSize: size, colorModel: model, bitsPerComponent: channels.precision)
        header.hasAlpha = channels.alpha != nil
        header.colorProfile = profile
        if let exif = metadata.exif {
            header.orientation = EXIF(exif.span).orientation ?? .upright
        }
        let tiles = codestream.tileCounts
        header.facts = [
            .init("wavelet", codestream.isReversible ? "5/3" : "9/7"),
            .init("resolutions", "\(codestream.resolutionCount)"),
        ]
        if tiles.x * tiles.y > 1 {
            header.facts.append(.init("tiles", "\(tiles.x)x\(tiles.y)"))
        }
        return header
    }

    /// The boxes of `jp2h` that are read; outside it, where they must not be, as in OpenJPEG.
    private static let headerBoxes: Set<String> = ["colr", "pclr", "cmap", "cdef"]

    private mutating func readHeaderBox(
        _ file: Span<UInt8>, _ box: BoxReader.Box, _ limits: DecodeLimits
    ) throws(CodecError) {
        let body = file.extracting(box.body)
        switch box.type {
        case "colr": try readColor(body, limits)
        case "pclr" where definitions.palette == nil:
            definitions.palette = try JPEG2000ChannelDefinitions.Palette(
                body, at: box.body.lowerBound)
        case "cmap": definitions.readMapping(body)
        case "cdef": definitions.readRoles(body)
        default: break
        }
    }

    /// Reads a `colr` box; the first supported one is used.
    private mutating func readColor(
        _ body: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard definitions.space == nil, body.count > 3 else { return }
        switch body[0] {
        case 1:
            let number = body.integer(at: 3, byteCount: 4)
            let spaces: [Int: JPEG2000ChannelDefinitions.Space] = [
                12: .cmyk, 16: .rgb, 17: .gray, 18: .yCbCr,
            ]
            definitions.space = number.flatMap { spaces[$0] }
            if number == 14 || number == 13 || number == 3 {
                throw .unsupported(feature: "JPEG 2000 enumerated colour space \(number ?? 0)")
            }
        case 2, 3:
            guard limits.allowsProfile(byteCount: body.count) else { return }
            let bytes = (3..<body.count).map { body[$0] }
            let spaces: [String: JPEG2000ChannelDefinitions.Space] = [
                "RGB ": .rgb, "GRAY": .gray, "CMYK": .cmyk,
            ]
            guard let icc = ICCProfile(bytes), let space = spaces[icc.colorSpace] else {
                return
            }
            definitions.space = space
            profile = .icc(bytes)
        default: return
        }
    }

    private mutating func readMetadata(
        _ file: Span<UInt8>, _ box: BoxReader.Box, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard box.body.count > 16 else { return }
        let identifier = (0..<16).map { file[box.body.lowerBound + $0] }
        let paths: [[UInt8]: WritableKeyPath<MetadataBlocks, [UInt8]?>] = [
            Self.exifIdentifier: \.exif, Self.xmpIdentifier: \.xmp, Self.iptcIdentifier: \.iptc,
        ]
        guard let path = paths[identifier], metadata[keyPath: path] == nil else { return }
        try limits.check(.metadataByteCount, box.body.count - 16)
        metadata[keyPath: path] = box.body.dropFirst(16).map { file[$0] }
    }

    static let exifIdentifier = Array("JpgTiffExif->JP2".utf8)
    static let xmpIdentifier: [UInt8] = [
        0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3,
        0xAF, 0xAC,
    ]
    static let iptcIdentifier: [UInt8] = [
        0x33, 0xC7, 0xA4, 0xD2, 0xB8, 0x1D, 0x47, 0x23, 0xA0, 0xBA, 0xF1, 0xA3, 0xE0, 0x97,
        0xAD, 0x38,
    ]
}
#endif
