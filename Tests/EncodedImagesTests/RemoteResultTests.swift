// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("An image that is decoded remotely") struct RemoteResultTests {
    private func source(
        _ answer: PixelBuffer, _ planes: ReducedPlanes? = nil
    ) throws -> ImageSource {
        let codecs = CodecSet([FakeCodec()]).decoded(by: Liar(answer: answer, planes: planes))
        return try ImageSource(EncodedBytes([1, 2, 3]), codecs: codecs)
    }

    private static func image(_ width: Int, _ height: Int, _ format: PixelFormat) -> PixelBuffer {
        MutablePixelBuffer(size: PixelSize(width: width, height: height), format: format).finish()
    }

    @Test("is accepted at the size and in the formats of the options")
    func expected() throws {
        for format in [PixelFormat.gray8, .rgb8, .rgba8] {
            let image = try source(Self.image(20, 10, format)).image()
            #expect(image.format == format)
        }
        var options = DecodeOptions(maximumSide: 10)
        options.keepsDepth = true
        #expect(try source(Self.image(10, 5, .rgb16)).image(options).size.width == 10)
    }

    @Test(
        "is rejected at another size or in another format",
        arguments: [
            image(40, 10, .rgb8), image(20, 1, .rgb8), image(20, 10, .yCbCr420),
            image(20, 10, .rgbaHalf), image(20, 10, .rgb565), image(20, 10, .rgb16),
        ])
    func refused(answer: PixelBuffer) throws {
        let source = try source(answer)
        #expect(throws: CodecError.self) { try source.image() }
        let options = DecodeOptions()
        #expect(throws: CodecError.self) { try source.decodedImages([options, options]) }
    }

    /// Planes at half the size of the image, with changes.
    private func planes(
        _ size: PixelSize = PixelSize(width: 10, height: 5), scale: Double = 0.5, count: Int = 3,
        _ format: PixelFormat = .gray8, _ reductions: Range<Double> = 3.0..<6
    ) -> ReducedPlanes {
        let samples = MutablePixelBuffer(size: size, format: format).finish()
        let plane = ReducedPlanes.Plane(samples, horizontalScale: scale, verticalScale: scale)
        return ReducedPlanes(Array(repeating: plane, count: count), reductions)
    }

    @Test("is accepted with planes that fit the image") func expectedPlanes() throws {
        let source = try source(Self.image(5, 3, .rgb8), planes())
        let options = DecodeOptions(maximumSide: 5)
        let reduced = try #require(
            try source.decodedSizes([options], planesByteCount: 1000).reduced)
        #expect(try source.resampled(reduced, options)?.image.size.width == 5)
        #expect(try source.resampled(reduced, DecodeOptions(maximumSide: 7)) == nil)
        #expect(try source.resampled(reduced, DecodeOptions(maximumSide: 2)) == nil)
    }

    @Test("is made of any planes that are accepted") func anyPlanes() throws {
        let stored = PixelSize(width: 20, height: 10)
        var count = 0
        for scale in [1e-9, 0.04, 0.3, 0.5, 1] {
            for extra in 0...1 {
                let size = PixelSize(
                    width: Int((Double(stored.width) * scale).rounded(.up)) + extra,
                    height: Int((Double(stored.height) * scale).rounded(.up)) + extra)
                let planes = planes(size, scale: scale, .gray8, 0.001..<1000)
                let source = try source(Self.image(5, 3, .rgb8), planes)
                let sizes = try source.decodedSizes(
                    [DecodeOptions(maximumSide: 5)], planesByteCount: 1000)
                let reduced = try #require(sizes.reduced)
                for side in [1, 5, 19, 20] {
                    let options = DecodeOptions(maximumSide: side)
                    let image = try source.resampled(reduced, options)?.image
                    #expect(image?.size == source.resultSize(options))
                    count += 1
                }
            }
        }
        #expect(count == 40)
    }

    @Test("is rejected with planes that do not fit the image") func refusedPlanes() throws {
        let wide = PixelSize(width: 12, height: 5)
        for planes in [
            planes(wide), planes(scale: 2), planes(scale: .nan), planes(scale: 0),
            planes(scale: -0.5), planes(count: 2), planes(scale: 0.5, .rgb8),
            planes(.init(width: 9, height: 5)), planes(scale: 0.5, .gray8, 5.0..<6),
        ] {
            let source = try source(Self.image(5, 3, .rgb8), planes)
            #expect(throws: CodecError.self) {
                try source.decodedSizes([DecodeOptions(maximumSide: 5)], planesByteCount: 1000)
            }
        }
    }
}

/// Returns one image, and the same planes, for every request.
private final class Liar: RemoteDecoder {
    let answer: PixelBuffer
    let planes: ReducedPlanes?

    init(answer: PixelBuffer, planes: ReducedPlanes?) {
        self.answer = answer
        self.planes = planes
    }

    func prepare(_ bytes: EncodedBytes) -> EncodedBytes { bytes }
    func snapshot(_ bytes: EncodedBytes) -> EncodedBytes { bytes }

    func header(of image: RemoteImage) -> (format: String, header: ImageHeader) {
        let header = ImageHeader(
            storedSize: PixelSize(width: 20, height: 10), colorModel: .rgb, bitsPerComponent: 8)
        return ("fake", header)
    }

    func metadata(of image: RemoteImage) -> MetadataBlocks { MetadataBlocks() }

    func image(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) -> DecodedImage {
        DecodedImage(image: answer, report: DecodeReport(decoder: "", shrinkFactors: []))
    }

    func metadataFields(of image: RemoteImage) -> MetadataFields { MetadataFields() }

    func metadata(
        of image: RemoteImage, forWriting policy: MetadataPolicy, _ changes: ImageChanges
    ) -> MetadataBlocks { MetadataBlocks() }

    func images(
        of image: RemoteImage, _ options: [DecodeOptions], byteCounts: [Int],
        planesByteCount: Int, cancellation: CancellationFlag?
    ) -> (images: [DecodedImage?], planes: ReducedPlanes?) {
        let decoded = DecodedImage(
            image: answer, report: DecodeReport(decoder: "", shrinkFactors: []))
        return (options.map { _ in decoded }, planes)
    }

    func encode(
        _ image: PixelBuffer, as format: String, _ options: EncodeOptions,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8] { throw .unknownFormat }

    func rows(
        of image: RemoteImage, _ options: DecodeOptions, into consumer: any RowConsumer,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport { throw .unknownFormat }

    func frames(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> any RemoteFrames { throw .unknownFormat }

    func preview(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) -> ImagePreview? { nil }

    func convertedToSRGB(_ image: consuming PixelBuffer) -> PixelBuffer { image }
    func convertedToExtendedSRGB(_ image: consuming PixelBuffer) -> PixelBuffer { image }
}
