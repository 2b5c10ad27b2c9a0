// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Pixels
import Synchronization
import Testing

@Suite("A file that is received and decoded remotely") struct RemoteIncrementalImageTests {
    @Test("is sent a few times in all, however small its pieces are")
    func looks() throws {
        let remote = Undecided()
        var image = IncrementalImage(codecs: CodecSet([]).decoded(by: remote))
        let pieceCount = 3000
        for _ in 0..<pieceCount { try image.append([UInt8](repeating: 0, count: 100)) }
        let sent = remote.byteCounts.withLock { $0 }
        #expect(sent.first == 100)
        #expect(sent.reduce(0, +) < 6 * 100 * pieceCount)
        // It is not long until what has come in is looked at.
        for (earlier, later) in zip(sent, sent.dropFirst()) {
            #expect(later <= earlier + earlier / 4 + 100)
        }
        #expect(sent.last.map { $0 + $0 / 4 >= 100 * pieceCount } == true)
    }
}

/// Finds that the header has not come to its end yet.
private final class Undecided: RemoteDecoder {
    let byteCounts = Mutex<[Int]>([])

    func prepare(_ bytes: EncodedBytes) -> EncodedBytes { bytes }
    func snapshot(_ bytes: EncodedBytes) -> EncodedBytes { bytes }

    func header(
        of image: RemoteImage
    ) throws(CodecError) -> (format: String, header: ImageHeader) {
        byteCounts.withLock { $0.append(image.bytes.count) }
        throw .truncated(byteCount: image.bytes.count)
    }

    func metadata(of image: RemoteImage) throws(CodecError) -> MetadataBlocks {
        throw .unknownFormat
    }

    func metadataFields(of image: RemoteImage) throws(CodecError) -> MetadataFields {
        throw .unknownFormat
    }

    func metadata(
        of image: RemoteImage, forWriting policy: MetadataPolicy, _ changes: ImageChanges
    ) throws(CodecError) -> MetadataBlocks { throw .unknownFormat }

    func image(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage { throw .unknownFormat }

    func images(
        of image: RemoteImage, _ options: [DecodeOptions], byteCounts: [Int],
        planesByteCount: Int, cancellation: CancellationFlag?
    ) throws(CodecError) -> (images: [DecodedImage?], planes: ReducedPlanes?) {
        throw .unknownFormat
    }

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
    ) throws(CodecError) -> ImagePreview? { nil }

    func encode(
        _ image: PixelBuffer, as format: String, _ options: EncodeOptions,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8] { throw .unknownFormat }

    func convertedToSRGB(_ image: consuming PixelBuffer) -> PixelBuffer { image }
    func convertedToExtendedSRGB(_ image: consuming PixelBuffer) -> PixelBuffer { image }
}
