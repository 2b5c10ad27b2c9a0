// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Testing

@testable import EncodedImages

@Suite("Metadata of gain maps") struct GainMapMetadataTests {
    private static let examples: [GainMapMetadata] = {
        var channel = GainMapMetadata.Channel()
        (channel.minimum, channel.maximum, channel.gamma) = (-0.25, 2.656715, 0.953784)
        (channel.baseOffset, channel.alternateOffset) = (0, 0.015625)
        var gray = GainMapMetadata(channel)
        gray.alternateHeadroom = 2.3
        var color = gray
        color.channels[1].maximum = 3.5
        color.channels[2].baseOffset = -0.5
        color.usesBaseColorSpace = false
        var inverse = gray
        (inverse.baseHeadroom, inverse.alternateHeadroom) = (2, 0.5)
        return [gray, color, inverse]
    }()

    private func expectNear(_ one: GainMapMetadata, _ other: GainMapMetadata, _ error: Double) {
        for (a, b) in zip(one.channels, other.channels) {
            for field in [
                \GainMapMetadata.Channel.minimum, \.maximum, \.gamma, \.baseOffset,
                \.alternateOffset,
            ] { #expect(abs(a[keyPath: field] - b[keyPath: field]) <= error) }
        }
        #expect(abs(one.baseHeadroom - other.baseHeadroom) <= error)
        #expect(abs(one.alternateHeadroom - other.alternateHeadroom) <= error)
    }

    @Test("is read from ISO 21496-1 as it was written", arguments: examples)
    func iso(_ metadata: GainMapMetadata) throws {
        let read = try #require(GainMapMetadata(iso: metadata.isoBytes))
        expectNear(read, metadata, 1e-8)
        #expect(read.usesBaseColorSpace == metadata.usesBaseColorSpace)
    }

    @Test("is read from XMP as it was written", arguments: examples)
    func xmp(_ metadata: GainMapMetadata) throws {
        let read = try #require(GainMapMetadata(xmp: metadata.xmpPacket))
        expectNear(read, metadata, 0)
        #expect(read.isBaseHDR == metadata.isBaseHDR)
    }

    /// The bytes by the layout of ISO 21496-1, C.2.2, written out by hand.
    @Test("with a common denominator is read") func commonDenominator() throws {
        var bytes: [UInt8] = [0, 0, 0, 0, 0x48]
        for number in [100, 0, 200, -50, 300, 100, 0, 25] { bytes.append(number, byteCount: 4) }
        let read = try #require(GainMapMetadata(iso: bytes))
        #expect(read.alternateHeadroom == 2 && read.baseHeadroom == 0)
        #expect(read.channels[2].minimum == -0.5 && read.channels[0].maximum == 3)
        #expect(read.channels[1].gamma == 1 && read.channels[1].alternateOffset == 0.25)
        #expect(read.usesBaseColorSpace)
    }

    @Test("with invalid values counts as absent") func invalid() {
        let bytes = Self.examples[0].isoBytes
        for count in 0..<bytes.count {
            #expect(GainMapMetadata(iso: Array(bytes.prefix(count))) == nil)
        }
        var newer = bytes
        newer[1] = 1
        #expect(GainMapMetadata(iso: newer) == nil)
        var zero = bytes
        for index in 9..<13 { zero[index] = 0 }
        #expect(GainMapMetadata(iso: zero) == nil, "the denominator of the base headroom is 0")
        for (old, new) in [
            ("GainMapMax>2.656715<", "GainMapMax>nan<"), ("Gamma>0.953784<", "Gamma>0<"),
            ("GainMapMax>2.656715<", "GainMapMax>1e300<"), ("hdrgm:GainMapMax", "hdrgm:Other"),
            ("GainMapMax>2.656715<", "GainMapMax>x<"), ("HDRCapacityMax>2.3<", "HDRCapacityMax><"),
            ("<hdrgm:Version>1.0</hdrgm:Version>", ""),
        ] {
            let packet = String(decoding: Self.examples[0].xmpPacket, as: UTF8.self)
            let changed = packet.replacing(old, with: new)
            #expect(changed != packet)
            #expect(GainMapMetadata(xmp: Array(changed.utf8)) == nil, "\(new)")
        }
    }

    @Test("is never invalid, whatever the bytes") func random() {
        var random = SeededRandom(seed: 3)
        let packet = Self.examples[1].xmpPacket
        for _ in 0..<5000 {
            var iso = Self.examples[1].isoBytes
            var xmp = packet
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                iso[.random(in: 4..<iso.count, using: &random)] = .random(
                    in: 0...255, using: &random)
                xmp[.random(in: 0..<xmp.count, using: &random)] = .random(
                    in: 32...126, using: &random)
            }
            for read in [GainMapMetadata(iso: iso), GainMapMetadata(xmp: xmp)].compactMap({ $0 }) {
                #expect(read.isValid)
            }
        }
    }

    @Test("of a base image is added to its packet, and removed for an image without a map")
    func basePacket() throws {
        let own = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF \
            xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description \
            xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A title</dc:title>\
            </r:Description></r:RDF></x:xmpmeta>
            """.utf8)
        var blocks = MetadataBlocks()
        blocks.xmp = GainMapMetadata.basePacket(own, mapByteCount: 1234)
        let text = String(decoding: blocks.xmp ?? [], as: UTF8.self)
        #expect(text.contains("Item:Length=\"1234\"") && text.contains("hdrgm:Version=\"1.0\""))
        #expect(XMPFields(blocks.xmp ?? []).title == "A title")
        let changes = ImageChanges(size: .init(width: 1, height: 1))
        let rest = String(
            decoding: blocks.forWriting(.copy, changes).xmp ?? [], as: UTF8.self)
        #expect(rest.contains("A title"))
        #expect(!rest.contains("hdrgm:Version") && !rest.contains("Item:Length"))
        let damaged = GainMapMetadata.basePacket(Array("<x".utf8), mapByteCount: 7)
        #expect(damaged == GainMapMetadata.basePacket(nil, mapByteCount: 7))
    }
}
