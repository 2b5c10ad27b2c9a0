// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Pixels
import Synchronization
import Testing

@Suite("Row sink") struct RowSinkTests {
    /// Records what the sink reports of its results.
    private final class RecordingCodec: ImageCodec, ImageDecoder {
        static let size = PixelSize(width: 64, height: 48)
        let byteCounts = Mutex<[Int]>([])

        let format = ImageFormat(
            name: "recording", extensions: [], mediaType: "image/x-recording",
            signatures: [.init(Array("RECORD".utf8))])
        var decoder: any ImageDecoder { self }
        var encoder: (any ImageEncoder)? { nil }

        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            ImageHeader(storedSize: Self.size, colorModel: .rgb, bitsPerComponent: 8)
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            let byteCount = rows.resultByteCount(.rgb8)
            byteCounts.withLock { $0.append(byteCount) }
            try rows.begin(Self.size, .rgb8, .sRGB)
            let row = [UInt8](repeating: 90, count: Self.size.width * 3)
            for _ in 0..<Self.size.height { try rows.append(row.span) }
        }
    }

    @Test("reports the size of the largest of several results", arguments: [true, false])
    func largestResult(isLargestFirst: Bool) throws {
        let codec = RecordingCodec()
        let source = try ImageSource(
            EncodedBytes(Array("RECORD".utf8)), codecs: CodecSet([codec]))
        let options = [32, 16, 8].map { DecodeOptions(maximumSide: $0) }
        _ = try source.decodedImages(isLargestFirst ? options : options.reversed())
        #expect(
            codec.byteCounts.withLock(\.first)
                == PixelBuffer.byteCount(
                    of: PixelSize(width: 32, height: 24), .rgb8))
    }
}
