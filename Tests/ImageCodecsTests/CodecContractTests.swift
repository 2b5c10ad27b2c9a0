// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// The contract of every codec, checked for all that are built in.
@Suite("Every codec") struct CodecContractTests {
    /// The losses of a format, so that the tests can tell them from faults.
    struct Loss {
        /// The largest difference of a sample at the best quality, of 255.
        var maximumDifference = 0
        /// The same for colours; `nil` if the format has none.
        var color: Int? = 0
        /// The number of bytes at the end that do not affect the image, such as a trailer.
        var mayLackBytes = 0
        /// The longest side that a file may have.
        var largestSide = Int.max
        /// The maximum mean difference of a reduced image; dithering is as hard to reduce as noise.
        var reducedDifference = 1.5
        /// Another format of which the file also is, unless its end is read.
        var beginsLike: String?
    }

    /// By format; all other formats are exact.
    static let losses: [String: Loss] = [
        // The padding of the last row.
        "bmp": Loss(mayLackBytes: 3),
        "ico": Loss(largestSide: 256),
        // EOI.
        "jpeg": Loss(maximumDifference: 6, color: 6, mayLackBytes: 2),
        // 256 colours with error diffusion; and the trailer.
        "gif": Loss(maximumDifference: 0, color: 40, mayLackBytes: 1),
        "jpng": Loss(maximumDifference: 6, color: 6, beginsLike: "jpeg"),
        // Black and white; the end is a brace.
        "xbm": Loss(maximumDifference: 255, color: nil, mayLackBytes: 3, reducedDifference: 2),
    ]

    static let formats = builtInCodecs.codecs.filter { $0.encoder != nil && $0.canRead }
        .map(\.format.name)

    private func codec(_ name: String) throws -> any ImageCodec {
        try #require(builtInCodecs.codec(named: name))
    }

    private func smallFile(
        _ name: String, _ options: EncodeOptions = EncodeOptions()
    ) throws -> [UInt8] {
        let image = TestImage.photograph(PixelSize(width: 19, height: 13))
        let destination = try ImageDestination(
            format: name, codecs: builtInCodecs, options: options)
        return try destination.encode(image)
    }

    private func source(
        _ file: [UInt8], limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs, limits: limits)
    }

    @Test(
        "decodes the files that it encodes", arguments: formats,
        [PixelFormat.gray8, .rgb8, .rgba8, .yCbCr420])
    func roundTrip(name: String, format: PixelFormat) throws {
        let loss = Self.losses[name] ?? Loss()
        guard let allowed = format == .gray8 ? loss.maximumDifference : loss.color else { return }
        var options = EncodeOptions()
        options.quality = 100
        options.isLossless = true
        options.chromaSubsampling = .full
        for size in [PixelSize(width: 1, height: 1), PixelSize(width: 100, height: 67)] {
            let image = TestImage.photograph(size, format == .rgba8 ? .rgb8 : format)
            let written = format == .rgba8 ? image.asRGBA : image
            let file = try ImageDestination(format: name, codecs: builtInCodecs, options: options)
                .encode(written)
            let opened = try source(file)
            #expect(opened.format.name == name)
            #expect(opened.pixelSize == size)
            let comparison = PixelComparison(try opened.image().asRGBA, image.asRGBA)
            #expect(comparison.maximumDifference <= allowed, "\(size): \(comparison)")
        }
    }

    @Test("encodes every pixel format", arguments: formats)
    func everyFormat(name: String) throws {
        let loss = Self.losses[name] ?? Loss()
        var options = EncodeOptions()
        options.quality = 100
        options.isLossless = true
        options.chromaSubsampling = .full
        for format in PixelFormat.allCases where format != .yCbCr420 {
            let image = TestImage.photograph(PixelSize(width: 21, height: 13))
                .converted(to: format)
            let file = try ImageDestination(format: name, codecs: builtInCodecs, options: options)
                .encode(image)
            let result = try source(file).image()
            #expect(result.size == image.size)
            // Formats without alpha treat an alpha mask differently.
            guard format != .alpha8, let allowed = loss.color else { continue }
            let comparison = PixelComparison(result.asRGBA, image.converted(to: .rgba8))
            #expect(comparison.maximumDifference <= allowed, "\(format): \(comparison)")
        }
    }

    @Test("rejects a file truncated at any byte", arguments: formats, [false, true])
    func truncatedFile(name: String, isProgressive: Bool) throws {
        var options = EncodeOptions()
        options.isProgressive = isProgressive
        let file = try smallFile(name, options)
        let loss = Self.losses[name] ?? Loss()
        for length in file.indices.dropLast(loss.mayLackBytes) {
            #expect(throws: CodecError.self, "cut at \(length) of \(file.count) bytes") {
                let opened = try source(Array(file[..<length]))
                if opened.format.name == loss.beginsLike { throw CodecError.unknownFormat }
                _ = try opened.image(.strict)
            }
        }
    }

    @Test("does not trap on a thousand damaged files", arguments: formats)
    func damagedFile(name: String) throws {
        let file = try smallFile(name)
        var random = SeededRandom(seed: 7)
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1_000_000
        var refused = 0
        for _ in 0..<1_000 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: 0..<file.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            do throws(CodecError) {
                let opened = try source(damaged, limits: limits)
                let image = try opened.image(DecodeOptions(maximumSide: 8))
                #expect(image.size.largestSide <= 8)
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test("rejects garbage after a valid signature", arguments: formats)
    func garbage(name: String) throws {
        let signature = try codec(name).format.signatures.first?.bytes ?? []
        var random = SeededRandom(seed: 3)
        for count in [0, 1, 100, 10_000] {
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: CodecError.self) { _ = try source(signature + noise).image() }
        }
    }

    @Test("checks every limit on the header", arguments: formats)
    func limits(name: String) throws {
        let file = try smallFile(name)
        let changes: [(DecodeLimits.Name, WritableKeyPath<DecodeLimits, Int>, Int, Int)] = [
            (.pixelCount, \.maximumPixelCount, 19 * 13 - 1, 19 * 13),
            (.side, \.maximumSide, 18, 19),
            (.byteCount, \.maximumByteCount, file.count - 1, file.count),
        ]
        for (limit, path, allowed, needed) in changes {
            var limits = DecodeLimits()
            limits[keyPath: path] = allowed
            #expect(throws: CodecError.limitExceeded(limit, needed: needed, allowed: allowed)) {
                _ = try source(file, limits: limits)
            }
        }
        var limits = DecodeLimits()
        limits.maximumMemoryByteCount = 100
        let opened = try source(file, limits: limits)
        #expect(throws: CodecError.self) { _ = try opened.image() }
    }

    @Test("stops when cancelled", arguments: formats)
    func cancelled(name: String) throws {
        let flag = CancellationFlag()
        flag.cancel()
        let opened = try source(try smallFile(name))
        #expect(throws: CodecError.cancelled) { _ = try opened.image(cancellation: flag) }
    }

    @Test(
        "shrinks to the pixels of a full decode and one kernel, within two levels",
        arguments: formats)
    func shrinking(name: String) throws {
        var encoding = EncodeOptions()
        encoding.quality = 95
        let loss = Self.losses[name] ?? Loss()
        let width = min(811, loss.largestSide)
        let image = TestImage.photograph(PixelSize(width: width, height: width * 613 / 811))
        let file = try ImageDestination(format: name, codecs: builtInCodecs, options: encoding)
            .encode(image)
        let opened = try source(file)
        let full = try opened.image()
        for side in [20, 50, 100, 200, 390] where side * 2 < width {
            let options = DecodeOptions(maximumSide: side)
            let small = try opened.image(options)
            #expect(small.size == opened.resultSize(options))
            #expect(small.size.largestSide == side)
            let reference = full.resampled(to: small.size)
            let comparison = PixelComparison(small, reference)
            // At 20 pixels the waves of the image are nearly as fine as the pixels of the result,
            // and the means that a large reduction starts with flatten such waves by 3 %.
            let allowed = side == 20 ? 3 : loss.reducedDifference
            #expect(comparison.meanDifference < allowed, "\(side): \(comparison)")
        }
    }

    @Test("recognizes its files, and no others, by their first bytes", arguments: formats)
    func signatures(name: String) throws {
        let file = try smallFile(name)
        let found = builtInCodecs.codec(for: file.span)
        #expect(found?.format.name == name)
        let loss = Self.losses[name] ?? Loss()
        for other in Self.formats where other != name && other != loss.beginsLike {
            let signatures = try codec(other).format.signatures
            #expect(signatures.allSatisfy { !$0.matches(file.span) })
        }
    }

    @Test("does not recognize an empty or foreign file")
    func unknown() {
        #expect(throws: CodecError.empty) { _ = try source([]) }
        for file in [[0], Array("%!PS-Adobe-3.0".utf8), Array("<html/>".utf8)] as [[UInt8]] {
            #expect(throws: CodecError.unknownFormat) { _ = try source(file) }
        }
    }
}
