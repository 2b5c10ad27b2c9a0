// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("An image that is decoded remotely") struct RemoteResultTests {
    private func source(_ answer: PixelBuffer) throws -> ImageSource {
        let codecs = CodecSet([FakeCodec()]).decoded(by: Liar(answer: answer))
        return try ImageSource(EncodedBytes([1, 2, 3]), codecs: codecs)
    }

    private static func image(_ width: Int, _ height: Int, _ format: PixelFormat) -> PixelBuffer {
        MutablePixelBuffer(size: PixelSize(width: width, height: height), format: format).finish()
    }

    @Test("is accepted at the size and in the formats of the options")
    func expected() throws {
        for format in [PixelFormat.gray8, .rgb8, .rgba8] {
            let image = try source(Self.picture(20, 10, format)).image()
            #expect(image.format == format)
        }
        var options = DecodeOptions(maximumSide: 10)
        options.keepsDepth = true
        #expect(try source(Self.picture(10, 5, .rgb16)).image(options).size.width == 10)
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
}

/// Returns one image for every request.
private final class Liar: RemoteDecoder {
    let answer: PixelBuffer

    init(answer: PixelBuffer) { self.answer = answer }

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
        cancellation: CancellationFlag?
    ) -> [DecodedImage?] {
        options.map { _ in
            DecodedImage(image: answer, report: DecodeReport(decoder: "", shrinkFactors: []))
        }
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
