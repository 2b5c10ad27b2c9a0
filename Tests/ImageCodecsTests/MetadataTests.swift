// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Metadata in files") struct MetadataTests {
    /// The metadata that Pillow reads from a file.
    struct Expected: Sendable {
        let file: String
        let facts: [String: String]
    }

    static let folders = ["metadata-extractor-images", "exif-orientation-examples", "photos"]
    static let files = folders.flatMap { SampleFiles.real($0, extensions: ["jpg", "jpeg"]) }

    /// One run of Pillow over many files.
    static func peer(_ files: [String]) throws -> [Expected] {
        let python = try #require(PeerTool.python)
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/metadata.py").path
        let output = try #require(try PeerTool.run(python, [script] + files))
        return try output.split(separator: 0x0A).map { line throws in
            let facts = try JSONDecoder().decode([String: String].self, from: Data(line))
            let file = try #require(facts["file"])
            return Expected(file: file, facts: facts)
        }
    }

    static func image(_ format: PixelFormat = .rgb8) -> PixelBuffer {
        TestImage.photograph(PixelSize(width: 40, height: 30), format)
    }

    static func blocks() -> MetadataBlocks {
        var blocks = MetadataBlocks()
        blocks.exif = EXIFBlock.photograph(isLittleEndian: false, orientation: 1)
        blocks.xmp = Array(
            """
            <?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description \
            xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="Häfen"/></rdf:RDF></x:xmpmeta>\
            <?xpacket end="w"?>
            """.utf8)
        blocks.iptc = [0x1C, 2, 5, 0, 6] + Array("Häfen".utf8)
        return blocks
    }

    private func write(
        _ format: String, _ blocks: MetadataBlocks, _ image: PixelBuffer = picture()
    ) throws(CodecError) -> [UInt8] {
        var options = EncodeOptions()
        options.metadata = blocks
        return try ImageDestination(format: format, codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func read(
        _ file: [UInt8], limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> MetadataBlocks {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs, limits: limits).metadata()
    }

    @Test(
        "is read from JPEG",
        arguments: [PixelFormat.gray8, .rgb8, .yCbCr420])
    func jpeg(format: PixelFormat) throws {
        let blocks = Self.blocks()
        let image = Self.picture(format)
        let file = try write("jpeg", blocks, image)
        #expect(try read(file) == blocks)
        #expect(file.starts(with: [0xFF, 0xD8, 0xFF, 0xE1]), "EXIF comes first")
        // Without it, the density of JFIF applies.
        let plain = try write("jpeg", MetadataBlocks(), image)
        #expect(plain.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]))
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let plainSource = try ImageSource(EncodedBytes(plain), codecs: builtInCodecs)
        #expect(PixelComparison(try source.image(), try plainSource.image()).maximumDifference == 0)
    }

    @Test("spans several segments of a JPEG if one is too small")
    func long() throws {
        var blocks = MetadataBlocks()
        blocks.iptc = [0x1C, 2, 120, 0x80, 4, 0, 3, 0, 0] + [UInt8](repeating: 65, count: 196_608)
        let value = String(repeating: "depth ", count: 40_000)
        blocks.xmp = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
            xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description \
            xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="A" dc:rights="\(value)">\
            <dc:description>\(value)</dc:description></rdf:Description></rdf:RDF></x:xmpmeta>
            """.utf8)
        let result = try read(try write("jpeg", blocks))
        #expect(result.iptc == blocks.iptc)
        let packet = try #require(result.xmp)
        #expect(XMPFields(packet) == XMPFields(try #require(blocks.xmp)))
        #expect(packet.count > 2 * value.utf8.count)
        // A field is limited to 64 KiB.
        let rights = try #require(XMPFields(packet).rights)
        #expect(value.hasPrefix(rights) && (65_000...65_536).contains(rights.utf8.count))
        var limits = DecodeLimits()
        limits.maximumMetadataByteCount = 100_000
        #expect(throws: CodecError.self) {
            _ = try read(try write("jpeg", blocks), limits: limits)
        }
        blocks = MetadataBlocks()
        blocks.exif = Array("II*\0".utf8) + [UInt8](repeating: 0, count: 65_524)
        #expect(throws: CodecError.self) { _ = try write("jpeg", blocks) }
        blocks = MetadataBlocks()
        blocks.xmp = [UInt8](repeating: 0x3C, count: 100_000)
        #expect(throws: CodecError.self) { _ = try write("jpeg", blocks) }
    }

    @Test("in a PNG is written to its last byte and not beyond")
    func anyLength() throws {
        for length in 1...300 {
            var blocks = MetadataBlocks()
            blocks.xmp = [UInt8](repeating: 0x3C, count: length)
            #expect(try read(try write("png", blocks)).xmp == blocks.xmp)
            blocks = MetadataBlocks()
            blocks.iptc = [0x1C, 2, 5, UInt8(length >> 8), UInt8(length & 255)]
            blocks.iptc?.append(contentsOf: repeatElement(0x41, count: length))
            #expect(try read(try write("png", blocks)).iptc == blocks.iptc)
        }
    }

    @Test("survives damage to a JPEG")
    func damage() throws {
        let file = try write("jpeg", Self.blocks())
        let start = try #require(file.firstRange(of: [0xFF, 0xDB]))
        var random = SeededRandom(seed: 4)
        for _ in 0..<1_000 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: 0..<start.lowerBound, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            guard let blocks = try? read(damaged) else { continue }
            if let block = blocks.exif { _ = EXIFFields(block.span) }
            _ = blocks.xmp.map(XMPFields.init)
            _ = blocks.iptc.map(IPTCFields.init)
        }
    }

    @Test(
        "that is written is read by Pillow",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: ["jpeg", "png"])
    func writtenForPillow(format: String) throws {
        let blocks = Self.blocks()
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "picture.\(format)").path
            try Data(try write(format, blocks)).write(to: URL(filePath: path))
            let facts = try #require(try Self.peer([path]).first).facts
            #expect(facts["error"] == nil)
            #expect(facts["make"] == "Maker")
            #expect(facts["artist"] == "Zoë")
            #expect(facts["exposureTime"] == "0.004")
            #expect(facts["taken"] == "2024:02:29 23:59:59")
            let latitude = try #require(facts["latitude"].flatMap(Double.init))
            #expect(abs(latitude + (33 + 52 / 60.0)) < 1e-9)
            #expect(facts["xmp"] == blocks.xmp.map(Self.hexadecimal))
            if format == "jpeg" {
                #expect(facts["exif"] == blocks.exif.map(Self.hexadecimal))
                #expect(facts["iptc"] == blocks.iptc.map(Self.hexadecimal))
            }
        }
    }

    @Test(
        "of real photographs is equal to Pillow's",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func realFiles() throws {
        var compared = 0
        for expected in try Self.peer(Self.files.map(\.path)) where expected.facts["error"] == nil {
            let source: ImageSource
            do throws(CodecError) {
                source = try ImageSource(
                    EncodedBytes(mapping: expected.file), codecs: builtInCodecs)
            } catch {
                continue
            }
            let blocks = try source.metadata()
            let fields = blocks.exif.map { EXIFFields($0.span) } ?? EXIFFields()
            for (name, text) in expected.facts where name != "file" {
                // Values without a meaning in EXIF, which a typed field cannot represent.
                if ["orientation": "0.0", "whiteBalance": "2.0"][name] == text { continue }
                let isDate = ["taken", "digitized", "modified"].contains(name)
                let value = isDate ? Self.text(PhotoDate(exif: text)) : text
                let found = Self.value(name, fields, blocks)
                #expect(
                    Self.agree(found, value),
                    "\(name) of \(expected.file): \(found?.prefix(200) ?? "-") for \(value?.prefix(200) ?? "-")"
                )
                compared += 1
            }
        }
        #expect(compared > 100 || Self.files.isEmpty)
    }

    @Test("of real photographs can be updated and stripped")
    func realRewriting() throws {
        for file in Self.files {
            guard
                let source = try? ImageSource(
                    EncodedBytes(mapping: file.path), codecs: builtInCodecs),
                let blocks = try? source.metadata(), let block = blocks.exif
            else { continue }
            let changes = ImageChanges(size: source.pixelSize)
            let result = blocks.forWriting(MetadataPolicy(.all, stripsLocation: true), changes)
            let new = try #require(result.exif, "\(file.lastPathComponent)")
            var expected = EXIFFields(block.span)
            expected.location = nil
            // An invalid orientation is replaced by the right one as well.
            expected.orientation = EXIFFields(new.span).orientation
            #expect([nil, .upright].contains(expected.orientation))
            if expected.pixelSize != nil { expected.pixelSize = changes.size }
            #expect(EXIFFields(new.span) == expected, "\(file.lastPathComponent)")
        }
    }

    private static func hexadecimal(_ block: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(block.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// Without the fraction and the time zone, which are separate fields.
    private static func text(_ date: PhotoDate?) -> String? {
        var date = date
        date?.nanoseconds = nil
        date?.utcOffset = nil
        return date?.description
    }

    /// Numbers may differ in their last digits.
    private static func agree(_ found: String?, _ expected: String?) -> Bool {
        if found == expected { return true }
        guard let a = found.flatMap(Double.init), let b = expected.flatMap(Double.init) else {
            return false
        }
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)
    }

    /// Returns a field by its name in the script.
    private static func value(
        _ name: String, _ fields: EXIFFields, _ blocks: MetadataBlocks
    ) -> String? {
        switch name {
        case "description": fields.imageDescription
        case "make": fields.cameraMake
        case "model": fields.cameraModel
        case "software": fields.software
        case "artist": fields.artist
        case "lensModel": fields.lensModel
        case "exposureTime": fields.exposureTime?.value?.description
        case "fNumber": fields.fNumber?.value?.description
        case "exposureBias": fields.exposureBias?.value?.description
        case "focalLength": fields.focalLength?.value?.description
        case "iso": fields.iso?.description
        case "exposureProgram": fields.exposureProgram?.rawValue.description
        case "meteringMode": fields.meteringMode?.rawValue.description
        case "flash": fields.flash?.rawValue.description
        case "whiteBalance": fields.whiteBalance?.rawValue.description
        case "focalLengthIn35mm": fields.focalLengthIn35mm?.description
        case "orientation": fields.orientation?.rawValue.description
        case "width": fields.pixelSize?.width.description
        case "height": fields.pixelSize?.height.description
        case "latitude": fields.location?.latitude.description
        case "longitude": fields.location?.longitude.description
        case "exif": blocks.exif.map(hexadecimal)
        case "xmp": blocks.xmp.map(hexadecimal)
        case "iptc": blocks.iptc.map(hexadecimal)
        case "taken": text(fields.taken)
        case "digitized": text(fields.digitized)
        case "modified": text(fields.modified)
        default: nil
        }
    }
}
