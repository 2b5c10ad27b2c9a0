// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import DecoderSandbox

/// Headers and metadata are read in workers, in bounded time and with responses of bounded size.
@Suite struct InspectionTests {
    @Test func `metadata parsed in the worker equals metadata parsed in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        var count = 0
        for file in SampleFiles.own() {
            let bytes = try EncodedBytes(reading: file.path)
            guard let here = try? ImageSource(bytes, codecs: builtInCodecs),
                let expected = try? here.metadataFields(), expected != MetadataFields()
            else { continue }
            let there = try ImageSource(bytes, codecs: Sandboxes.codecs(sandbox))
            #expect(try there.metadataFields() == expected, "\(file.lastPathComponent)")
            let changes = ImageChanges(size: here.pixelSize)
            #expect(
                try there.metadata(forWriting: .copy, changes)
                    == here.metadata(forWriting: .copy, changes))
            count += 1
        }
        #expect(count > 0)
    }

    @Test func `the size of parsed metadata is bounded`() throws {
        var blocks = MetadataBlocks()
        let long = String(repeating: "ä", count: 300_000)
        let item = "<rdf:li>\(String(repeating: "k", count: 100))</rdf:li>"
        let items = String(repeating: item, count: 5000)
        blocks.xmp = Array(
            """
            <x xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' \
            xmlns:dc='http://purl.org/dc/elements/1.1/'><rdf:RDF><rdf:Description>\
            <dc:rights>\(long)</dc:rights><dc:subject><rdf:Bag>\(items)</rdf:Bag></dc:subject>\
            </rdf:Description></rdf:RDF></x>
            """.utf8)
        // Each field has the maximum length of its two-byte length field.
        let texts: [UInt8] = [5, 40, 85, 90, 92, 95, 100, 101, 105, 110, 115, 116, 120, 122]
        let lists = [UInt8](repeating: 25, count: 40) + [UInt8](repeating: 80, count: 40)
        var records: [UInt8] = []
        for number in lists + texts {
            records += [0x1C, 2, number, 0x7F, 0xFF]
            records += [UInt8](repeating: 0x41, count: 0x7FFF)
        }
        blocks.iptc = records
        let fields = MetadataFields(blocks)
        let rights = try #require(fields.xmp?.fields.rights)
        #expect(rights.utf8.count <= MetadataFields.maximumTextByteCount)
        #expect(rights.allSatisfy { $0 == "ä" })
        #expect(fields.xmp?.byteCount == blocks.xmp?.count)
        #expect((1...1000).contains(fields.xmp?.fields.subjects.count ?? 0))
        #expect((fields.iptc?.fields.keywords.count ?? 0) <= 8)
        #expect((fields.iptc?.fields.caption?.utf8.count ?? 0) > 0)
        var writer = WireWriter()
        writer.write(fields)
        #expect(writer.bytes.count < MetadataFields.maximumByteCount)
        var reader = WireReader(writer.bytes)
        #expect(try MetadataFields(from: &reader) == fields)
    }

    @Test func `damaged metadata messages are rejected or read as valid values`() throws {
        var blocks = MetadataBlocks()
        blocks.exif = EXIFBlock.photograph(isLittleEndian: true)
        blocks.iptc = [0x1C, 2, 5, 0, 1, 0x41, 0x1C, 2, 25, 0, 1, 0x42]
        let fields = MetadataFields(blocks)
        var writer = WireWriter()
        writer.write(fields)
        var random = SeededRandom(seed: 24)
        for _ in 0..<3000 {
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            var reader = WireReader(bytes)
            guard let changed = try? MetadataFields(from: &reader) else { continue }
            let exif = changed.exif?.fields
            #expect((exif?.taken?.description ?? "").utf8.count < 50)
            #expect(exif?.exposureTime?.value?.isFinite != false)
            #expect(exif?.location?.latitude.isFinite != false)
            #expect(exif?.pixelSize.map { $0.area > 0 } != false)
        }
    }

    @Test(arguments: [Double.nan, .infinity, -0.1, 1.5])
    func `a region that is not inside of the image is rejected`(number: Double) throws {
        for path in [\SampleRegion.x, \.y, \.width, \.height] {
            var fields = XMPFields()
            var area = SampleRegion(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
            func read() throws -> XMPFields {
                fields.regions = [ImageRegion(.face, area)]
                var writer = WireWriter()
                writer.write(fields)
                var reader = WireReader(writer.bytes)
                return try XMPFields(from: &reader)
            }
            #expect(try read() == fields)
            area[keyPath: path] = number
            #expect(throws: WireError.self) { _ = try read() }
        }
        var fields = XMPFields()
        let region = ImageRegion(.pet, SampleRegion(x: 0, y: 0, width: 1, height: 1))
        fields.regions = Array(repeating: region, count: 101)
        var writer = WireWriter()
        writer.write(fields)
        var reader = WireReader(writer.bytes)
        #expect(throws: WireError.self) { _ = try XMPFields(from: &reader) }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `an altitude that is NaN or infinite is rejected`(number: Double) throws {
        var blocks = MetadataBlocks()
        blocks.exif = EXIFBlock.photograph(isLittleEndian: true)
        let fields = MetadataFields(blocks)
        let altitude = try #require(fields.exif?.fields.location?.altitude)
        var (valid, part, changed) = (WireWriter(), WireWriter(), WireWriter())
        valid.write(fields)
        part.write(altitude)
        changed.write(number)
        let place = try #require(
            valid.bytes.indices.first { valid.bytes[$0...].starts(with: part.bytes) })
        var bytes = valid.bytes
        bytes.replaceSubrange(place..<place + part.bytes.count, with: changed.bytes)
        var reader = WireReader(bytes)
        #expect(throws: WireError.self) { _ = try MetadataFields(from: &reader) }
    }

    @Test func `a slow header does not delay others`() throws {
        let sandbox = try Sandboxes.make {
            $0.contendedInspectionSeconds = 0.3
        }
        defer { sandbox.close() }
        let group = DispatchGroup()
        // More than the number of workers for headers.
        for number in 0..<4 {
            DispatchQueue.global().async(group: group) {
                _ = Self.header("headerloop \(number)", sandbox)
            }
        }
        // The last one need not be interrupted.
        let clock = ContinuousClock()
        let start = clock.now
        for number in 0..<4 {
            guard case .success = Self.header("behave \(number)", sandbox) else {
                Issue.record("a header was not read")
                continue
            }
        }
        #expect(clock.now - start < .seconds(20))
        sandbox.close()
        group.wait()
    }

    @Test func `headers have a shorter deadline than decodes`() throws {
        let sandbox = try Sandboxes.make { $0.inspectionSeconds = 0.5 }
        defer { sandbox.close() }
        guard case .failure(let error) = Self.header("headerloop", sandbox) else {
            Issue.record("a header was read")
            return
        }
        #expect(error == .decoderStopped(.deadline(seconds: 0.5)))
    }

    @Test func `an empty file, which has no descriptor, is reported as empty`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(throws: CodecError.empty) {
            _ = try ImageSource(EncodedBytes([]), codecs: Sandboxes.codecs(sandbox))
        }
    }

    @Test func `one image cannot occupy all workers`() throws {
        let pool = WorkerPool(count: 4, ahead: []) { _ throws(CodecError) in throw .unknownFormat }
        defer { pool.close() }
        let cancelled = CancellationFlag()
        cancelled.cancel()
        try pool.enter(1, nil)
        try pool.enter(1, nil)
        #expect(throws: CodecError.cancelled) { try pool.enter(1, cancelled) }
        try pool.enter(2, nil)
        pool.leave(1)
        try pool.enter(1, nil)
    }

    @Test func `an image that exceeds the memory of a worker is rejected by its header`()
        throws
    {
        let sandbox = try Sandboxes.make { $0.memoryByteCount = 64 << 20 }
        defer { sandbox.close() }
        let picture = TestImage.photograph(PixelSize(width: 16, height: 16))
        let file = try ImageDestination(format: "bmp", codecs: builtInCodecs).encode(picture)
        var options = DecodeOptions(maximumSide: 10_000)
        options.allowsEnlarging = true
        let source = try ImageSource(EncodedBytes(file), codecs: Sandboxes.codecs(sandbox))
        #expect {
            _ = try source.image(options)
        } throws: { error in
            guard case .limitExceeded(.memoryByteCount, _, let allowed)? = error as? CodecError
            else { return false }
            return allowed == 56 << 20
        }
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    @Test(arguments: ["webp", "avif", "jxl", "jpeg2000", "png"])
    func `a slow encode in a worker gives the same bytes`(
        format: String
    ) throws {
        guard builtInCodecs.codec(named: format)?.encoder != nil else { return }
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let image = TestImage.photograph(PixelSize(width: 600, height: 450))
        var options = EncodeOptions()
        options.metadata.exif = EXIFBlock.photograph(isLittleEndian: true)
        let here = try ImageDestination(format: format, codecs: builtInCodecs, options: options)
        let there = try sandbox.encode(image, as: format, options, cancellation: nil)
        #expect(try here.encode(image) == there)
    }

    @Test(.enabled(if: builtInCodecs.codec(named: "avif")?.encoder != nil))
    func `a cancelled encode ends within a second`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let image = TestImage.photograph(PixelSize(width: 1000, height: 1000))
        var options = EncodeOptions()
        options.compressionLevel = 9
        let destination = try ImageDestination(
            format: "avif", codecs: Sandboxes.codecs(sandbox), options: options)
        // Starts a worker for encodes.
        _ = try sandbox.encode(
            TestImage.photograph(PixelSize(width: 8, height: 8)), as: "avif", options,
            cancellation: nil)
        let cancellation = CancellationFlag()
        cancellation.cancel()
        let clock = ContinuousClock()
        let start = clock.now
        #expect(throws: CodecError.cancelled) {
            try destination.encode(image, cancellation: cancellation)
        }
        #expect(clock.now - start < .seconds(1))
    }

    private static func header(
        _ word: String, _ sandbox: DecoderSandbox
    ) -> Result<ImageHeader, CodecError> {
        Result { () throws(CodecError) in
            try ImageSource(Sandboxes.hostile(word), codecs: Sandboxes.codecs(sandbox)).header
        }
    }
}
