// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Damaged TIFF files") struct DamagedTIFFTests {
    /// The size of the images, in strips of 64 rows or tiles of 256×256 pixels.
    static let size = PixelSize(width: 300, height: 270)

    private func open(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    private func encode(_ image: PixelBuffer, isTiled: Bool) throws -> [UInt8] {
        var options = EncodeOptions()
        options.isPyramid = isTiled
        options.isLossless = true
        return try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    /// Returns a value of the first directory.
    private func value(_ tag: TIFFTag, _ file: [UInt8], at index: Int) -> Int? {
        guard let layout = TIFFLayout(file.span),
            let directory = layout.directory(file.span, at: layout.firstDirectory(file.span))
        else { return nil }
        return directory.unsigned(tag, file.span, at: index)
    }

    /// Returns a copy in which the data of some strips or tiles starts with invalid bytes.
    private func damaged(_ file: [UInt8], _ tag: TIFFTag, _ blocks: Range<Int>) throws -> [UInt8] {
        var result = file
        for block in blocks {
            let value = value(tag, file, at: block)
            let offset = try #require(value)
            result.replaceSubrange(offset..<offset + 8, with: Array(repeating: 0xFF, count: 8))
        }
        return result
    }

    /// Checks that exactly the pixels outside of `missing` are those of `expected`, and others zeros.
    private func check(
        _ image: PixelBuffer, _ expected: PixelBuffer, missing: PixelRect,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(image.size == expected.size, sourceLocation: location)
        let step = image.format.channelCount
        for y in 0..<image.size.height {
            let (row, other) = (image.row(y), expected.row(y))
            let isRight = row.indices.allSatisfy { index in
                let isMissing =
                    missing.y..<missing.y + missing.height ~= y
                    && missing.x..<missing.x + missing.width ~= index / step
                return row[index] == (isMissing ? 0 : other[index])
            }
            #expect(isRight, "row \(y)", sourceLocation: location)
        }
    }

    @Test("a damaged strip is missing, and the others are decoded", arguments: [0, 1, 4])
    func strip(index: Int) throws {
        let image = TestImage.photograph(Self.size)
        let file = try damaged(
            encode(image, isTiled: false), .stripOffsets, index..<index + 1)
        let decoded = try open(file).decodedImage()
        guard case .malformed = decoded.report.problem else {
            Issue.record("\(String(describing: decoded.report.problem))")
            return
        }
        let height = min(64, Self.size.height - index * 64)
        check(
            decoded.image, image,
            missing: PixelRect(x: 0, y: index * 64, width: 300, height: height))
        #expect(throws: CodecError.self) { _ = try open(file).image(.strict) }
    }

    @Test("a damaged tile is missing, and the others are decoded", arguments: [0, 1, 3])
    func tile(index: Int) throws {
        let image = TestImage.photograph(Self.size, .rgba8)
        let file = try damaged(encode(image, isTiled: true), .tileOffsets, index..<index + 1)
        let decoded = try open(file).decodedImage()
        #expect(decoded.report.problem != nil)
        let expected = try open(encode(image, isTiled: true)).image()
        let (x, y) = (index % 2 * 256, index / 2 * 256)
        check(
            decoded.image, expected,
            missing: PixelRect(
                x: x, y: y, width: min(256, 300 - x), height: min(256, 270 - y)))
        #expect(throws: CodecError.self) { _ = try open(file).image(.strict) }
    }

    @Test("a file with nothing but damaged strips is rejected")
    func allStrips() throws {
        let file = try encode(TestImage.photograph(Self.size), isTiled: false)
        let bytes = try damaged(file, .stripOffsets, 0..<5)
        #expect(throws: CodecError.self) { _ = try open(bytes).image() }
    }

    @Test("a strip is decoded up to the damage", arguments: [0, 1])
    func partOfStrip(photometric: Int) throws {
        // Two strips of four rows of one run each; the first strip ends after two rows.
        let runs = (0..<6).map { [UInt8(truncatingIfNeeded: 1 - 100), UInt8(10 + $0)] }
        let strips = [runs[..<2].flatMap(\.self), runs[2...].flatMap(\.self)]
        let make = { (start: Int) in
            EXIFBlock.make([
                (256, .longs([100])), (257, .longs([8])), (258, .shorts([8])),
                (259, .shorts([32773])), (262, .shorts([photometric])),
                (273, .longs([start, start + strips[0].count])), (277, .shorts([1])),
                (278, .longs([4])), (279, .longs(strips.map(\.count))),
            ])
        }
        let file = make(make(0).count) + strips.joined()
        let decoded = try open(file).decodedImage()
        #expect(decoded.report.problem != nil)
        let rows = (0..<8).map { decoded.image.row($0)[99] }
        var values: [UInt8] = [10, 11, 12, 13, 14, 15]
        if photometric == 0 { values = values.map { 255 - $0 } }
        values.insert(contentsOf: [0, 0], at: 2)
        #expect(rows == values)
        #expect(throws: CodecError.self) { _ = try open(file).image(.strict) }
    }

    @Test("damaged lines of a fax leave the others", arguments: ["group3.tif", "group4.tif"])
    func fax(name: String) throws {
        let files = SampleFiles.own("tiff", "valid")
        let file = try #require(files.first { $0.lastPathComponent == name })
        var bytes = Array(try Data(contentsOf: file))
        let expected = try open(bytes).image()
        let strip = (
            value(.stripOffsets, bytes, at: 0), value(.stripByteCounts, bytes, at: 0)
        )
        let offset = try #require(strip.0)
        let count = try #require(strip.1)
        let middle = offset + count / 2
        bytes.replaceSubrange(middle..<middle + 6, with: [0, 0, 0, 0, 0, 0])
        let image = try open(bytes).image()
        #expect(image.size == expected.size)
        let isSame = { (y: Int) in
            image.row(y).indices.allSatisfy { image.row(y)[$0] == expected.row(y)[$0] }
        }
        #expect(isSame(0))
        // Only the lines of Group 3 can be decoded without those before.
        if name == "group3.tif" { #expect(isSame(image.size.height - 1)) }
    }
}
