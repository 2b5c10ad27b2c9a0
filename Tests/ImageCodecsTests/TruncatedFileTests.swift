// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Truncated files") struct TruncatedFileTests {
    static let kinds = ["png", "jpeg", "progressive jpeg", "webp"]
    static let endOfImage: [UInt8] = [0xFF, 0xD9]

    private func file(_ kind: String, _ image: PixelBuffer) throws -> [UInt8] {
        var options = EncodeOptions()
        options.isProgressive = kind.hasPrefix("progressive")
        return try ImageDestination(
            format: String(kind.split(separator: " ").last ?? ""), codecs: builtInCodecs,
            options: options
        ).encode(image)
    }

    @Test(
        "are rejected, or decoded as far as possible if requested",
        arguments: kinds.map { ($0, []) } + [
            ("jpeg", endOfImage), ("progressive jpeg", endOfImage),
        ])
    func accepted(kind: String, end: [UInt8]) throws {
        let image = TestImage.photograph(PixelSize(width: 320, height: 240))
        let whole = try file(kind, image)
        let source = try ImageSource(EncodedBytes(whole), codecs: builtInCodecs)
        let cut = Array(whole.prefix(whole.count * 3 / 4)) + end
        let broken = try ImageSource(EncodedBytes(cut), codecs: builtInCodecs)
        for side in [320, 100] {
            let options = DecodeOptions(maximumSide: side)
            #expect(throws: CodecError.truncated(byteCount: cut.count)) {
                _ = try broken.image(options.strict)
            }
            let expected = try source.decodedImage(options)
            #expect(expected.report.problem == nil)
            let decoded = try broken.decodedImage(options)
            #expect(decoded.report.problem == .truncated(byteCount: cut.count))
            #expect(decoded.image.size == expected.image.size)
            let top = difference(decoded.image, expected.image)
            // A progressive file has all rows by then, but not all of their detail; and the rest of
            // a JPEG is shrunk differently.
            let isProgressive = kind.hasPrefix("progressive")
            #expect(top <= (isProgressive ? 8 : side == 320 ? 0 : 1), "at \(side): \(top)")
        }
    }

    @Test("a JPEG may lack its last row of MCUs, but no more", arguments: [320, 100])
    func lastRow(side: Int) throws {
        let image = TestImage.photograph(PixelSize(width: 320, height: 240))
        var bytes = try file("jpeg", image)
        let frame = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC0]) })
        #expect(bytes[frame + 11] == 0x22, "MCUs are not 16 rows high")
        let options = DecodeOptions(maximumSide: side)
        // 240 rows are 15 rows of MCUs; all are present, whatever the header specifies.
        bytes.replaceSubrange(frame + 5..<frame + 7, with: [1, 0])
        let source = try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
        #expect(try source.decodedImage(options).report.problem == nil)
        bytes.replaceSubrange(frame + 5..<frame + 7, with: [1, 1])
        let broken = try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
        #expect(throws: CodecError.truncated(byteCount: bytes.count)) {
            _ = try broken.image(options.strict)
        }
    }

    @Test(
        "that lack only their end mark are complete",
        arguments: [
            // EOI; IEND, and the CRC of the last IDAT; block terminator and trailer; end marker.
            ("jpeg", 2), ("progressive jpeg", 2), ("png", 12), ("png", 16), ("gif", 2), ("qoi", 1),
        ])
    func missingEndMark(kind: String, byteCount: Int) throws {
        let image = TestImage.photograph(PixelSize(width: 320, height: 240))
        let whole = try file(kind, image)
        let source = try ImageSource(EncodedBytes(whole), codecs: builtInCodecs)
        let cut = try ImageSource(
            EncodedBytes(Array(whole.dropLast(byteCount))), codecs: builtInCodecs)
        for side in [320, 300, 40] {
            let options = DecodeOptions(maximumSide: side)
            let decoded = try cut.decodedImage(options)
            #expect(decoded.report.problem == nil, "at \(side)")
            #expect(try decoded.image.packedBytes == source.image(options).packedBytes)
        }
    }

    @Test(
        "missing blocks of a JPEG are grey, whether or not the image is shrunk",
        arguments: [320, 100])
    func grey(side: Int) throws {
        let image = TestImage.flat(PixelSize(width: 320, height: 240), .rgb8, [255, 0, 0])
        let whole = try file("jpeg", image)
        let cut = try ImageSource(
            EncodedBytes(Array(whole.prefix(whole.count - 60))), codecs: builtInCodecs)
        let decoded = try cut.decodedImage(DecodeOptions(maximumSide: side))
        #expect(decoded.report.problem == .truncated(byteCount: whole.count - 60))
        let bytes = decoded.image.packedBytes
        #expect(bytes.suffix(3).allSatisfy { (127...129).contains($0) }, "\(bytes.suffix(3))")
        #expect(bytes[0] > 250)
    }

    /// The file is not compressed: three quarters of its bytes are three quarters of the last pass.
    @Test(
        "an interlaced PNG shows its complete passes, whether or not it is reduced",
        arguments: [400, 40])
    func interlaced(side: Int) throws {
        var png = PNGFile(width: 400, height: 300, colorType: 2, bitDepth: 8)
        png.isInterlaced = true
        let whole = png.bytes()
        let options = DecodeOptions(maximumSide: side)
        let expected = try ImageSource(EncodedBytes(whole), codecs: builtInCodecs).image(options)
        var differences: [Double] = []
        for part in [0.02, 0.3, 0.75] {
            let cut = Array(whole.prefix(Int(Double(whole.count) * part)))
            let source = try ImageSource(EncodedBytes(cut), codecs: builtInCodecs)
            let decoded = try source.decodedImage(options)
            #expect(decoded.report.problem == .truncated(byteCount: cut.count))
            #expect(decoded.image.size == expected.size)
            differences.append(PixelComparison(decoded.image, expected).meanDifference)
            #expect(throws: CodecError.truncated(byteCount: cut.count)) {
                _ = try source.image(options.strict)
            }
        }
        #expect(differences == differences.sorted(by: >), "\(differences)")
        // Noise has no second half to be seen in the first.
        #expect(differences[2] < 30, "\(differences)")
    }

    @Test("a progressive JPEG may end within a segment between scans")
    func withinSegment() throws {
        let image = TestImage.photograph(PixelSize(width: 320, height: 240))
        let whole = try file("progressive jpeg", image)
        let tables = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xC4 }
        let table = try #require(tables.last)
        for end in table + 1..<table + 8 {
            let cut = try ImageSource(EncodedBytes(Array(whole[..<end])), codecs: builtInCodecs)
            let decoded = try cut.decodedImage()
            #expect(decoded.report.problem == .truncated(byteCount: end))
            let mean = PixelComparison(decoded.image, image).meanDifference
            #expect(mean < 8, "cut at \(end): \(mean)")
        }
    }

    /// The mean difference in the upper half.
    private func difference(_ image: PixelBuffer, _ other: PixelBuffer) -> Double {
        var sum = 0
        var count = 0
        for y in 0..<image.size.height / 2 {
            let (row, otherRow) = (image.row(y), other.row(y))
            for x in row.indices { sum += abs(Int(row[x]) - Int(otherRow[x])) }
            count += row.count
        }
        return Double(sum) / Double(count)
    }

    @Test("a progressive file is complete at ⅛ once its first scans are present")
    func firstScans() throws {
        let image = TestImage.photograph(PixelSize(width: 1600, height: 1200))
        let whole = try file("progressive jpeg", image)
        let source = try ImageSource(EncodedBytes(whole), codecs: builtInCodecs)
        var options = DecodeOptions(maximumSide: 100)
        let expected = try source.decodedImage(options)
        #expect(expected.report.decoder == "shrinking")
        #expect(expected.report.shrinkFactors[0] == 8)
        options.quality = .fast
        let cut = Array(whole.prefix(whole.count / 2))
        let early = try ImageSource(EncodedBytes(cut), codecs: builtInCodecs)
        let preview = try early.decodedImage(options)
        #expect(preview.report.shrinkFactors == [8, 8, 8])
        let comparison = PixelComparison(preview.image, expected.image)
        #expect(comparison.meanDifference < 3, "\(comparison)")
    }
}
