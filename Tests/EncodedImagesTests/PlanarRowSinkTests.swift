// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("Rows of planes") struct PlanarRowSinkTests {
    /// Delivers a flat colour as planes; the file's bytes say whether one after the other.
    private struct PlanarCodec: ImageCodec, ImageDecoder {
        static let size = PixelSize(width: 64, height: 48)
        var profile = ColorProfile.sRGB
        var isInterleaved = true

        var format: ImageFormat {
            ImageFormat(
                name: "planar", extensions: ["planar"], mediaType: "image/x-planar",
                signatures: [.init(Array("PLANAR".utf8))])
        }
        var decoder: any ImageDecoder { self }
        var encoder: (any ImageEncoder)? { nil }

        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            var header = ImageHeader(
                storedSize: Self.size, colorModel: .rgb, bitsPerComponent: 8)
            header.colorProfile = profile
            return header
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            let planes = [1, 2, 4].map { factor in
                SourcePlane(
                    size: Self.size.shrunk(by: factor), horizontalScale: 1 / Double(factor),
                    verticalScale: 1 / Double(factor))
            }
            try rows.beginYCbCr(planes, profile)
            let row = [UInt8](repeating: 90, count: Self.size.width)
            let factors = [1, 2, 4]
            for time in 0..<Self.size.height * (isInterleaved ? 1 : 3) {
                for (index, factor) in factors.enumerated() {
                    let y = isInterleaved ? time : time - index * Self.size.height
                    guard (0..<Self.size.height).contains(y), y % factor == factor - 1 else {
                        continue
                    }
                    let width = planes[index].size.width
                    try rows.append(row.span.extracting(first: width), plane: index)
                }
            }
        }
    }

    private struct Converter: ColorConverter {
        func convertedToSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
            image
        }

        func convertedToExtendedSRGB(
            _ image: consuming PixelBuffer
        ) throws(CodecError) -> PixelBuffer { image.converted(to: .rgbaHalf) }
    }

    private func open(
        _ codec: PlanarCodec, limits: DecodeLimits = DecodeLimits()
    ) throws -> ImageSource {
        try ImageSource(
            EncodedBytes(Array("PLANAR".utf8)),
            codecs: CodecSet([codec], colorConverter: Converter()), limits: limits)
    }

    @Test("are converted to RGB unless planes are accepted and no colours need conversion")
    func formats() throws {
        let other = ColorProfile.calibrated(gamma: 1, .sRGB)
        for (profile, accepts, converts, expected) in [
            (.sRGB, false, true, .rgb8), (.sRGB, true, true, .yCbCr420),
            (other, true, true, .rgb8), (other, true, false, .yCbCr420),
        ] as [(ColorProfile, Bool, Bool, PixelFormat)] {
            var options = DecodeOptions(maximumSide: 33)
            options.acceptsYCbCr = accepts
            options.convertsToSRGB = converts
            let image = try open(PlanarCodec(profile: profile)).image(options)
            #expect(image.format == expected)
            #expect(image.colorProfile == profile)
            #expect(image.size == PixelSize(width: 33, height: 25))
            let samples: [UInt8] = expected == .rgb8 ? [37, 130, 23] : [90, 90, 90]
            #expect(
                PixelComparison(image, TestImage.flat(image.size, expected, samples))
                    .maximumDifference == 0)
        }
    }

    @Test("shrink by a factor for each plane")
    func reduction() throws {
        var options = DecodeOptions(maximumSide: 16)
        let header = try PlanarCodec().header(of: [UInt8]().span, limits: DecodeLimits())
        #expect(DecodePlan(header, options).reduction(ofChroma: false) == 4)
        #expect(DecodePlan(header, options).reduction(ofChroma: true) == 4)
        options.acceptsYCbCr = true
        #expect(DecodePlan(header, options).reduction(ofChroma: false) == 4)
        #expect(DecodePlan(header, options).reduction(ofChroma: true) == 8)
    }

    @Test("are limited by the memory of the result and of buffered rows")
    func limits() throws {
        var limits = DecodeLimits()
        // Rows of 64 pixels of RGB fill their 192 bytes.
        let result = 48 * 192
        limits.maximumMemoryByteCount = result - 1
        #expect(
            throws: CodecError.limitExceeded(
                .memoryByteCount, needed: result, allowed: result - 1)
        ) { _ = try open(PlanarCodec(), limits: limits).image() }
        limits.maximumMemoryByteCount = result + 2_000
        _ = try open(PlanarCodec(), limits: limits).image()
        #expect(throws: CodecError.self) {
            _ = try open(PlanarCodec(isInterleaved: false), limits: limits).image()
        }
        var options = DecodeOptions()
        options.acceptsYCbCr = true
        limits.maximumMemoryByteCount = 48 * 64 + 2 * 24 * 64
        _ = try open(PlanarCodec(isInterleaved: false), limits: limits).image(options)
        limits.maximumMemoryByteCount -= 1
        #expect(throws: CodecError.self) {
            _ = try open(PlanarCodec(), limits: limits).image(options)
        }
    }

    @Test("that are missing result in no image, and cancelling stops them")
    func cancellation() throws {
        let flag = CancellationFlag()
        flag.cancel()
        #expect(throws: CodecError.cancelled) {
            _ = try open(PlanarCodec()).image(cancellation: flag)
        }
    }
}
