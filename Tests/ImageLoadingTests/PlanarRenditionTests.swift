// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import LoadingTesting
import Logging
import Pixels
import Synchronization
import Testing

@testable import ImageLoading

@Suite("Renditions of planes", .timeLimit(.minutes(5))) struct PlanarRenditionTests {
    /// Delivers planes of grey; a file that it writes is the name of the format that it was given.
    private final class PlanarCodec: ImageCodec, ImageDecoder, ImageEncoder {
        let format = ImageFormat(
            name: "jpeg", extensions: ["jpg"], mediaType: "image/x-planar",
            signatures: [.init(Array("PLANAR".utf8))])
        var decoder: any ImageDecoder { self }
        var encoder: (any ImageEncoder)? { self }
        private let count = Mutex(0)

        var decodeCount: Int { count.withLock { $0 } }

        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            ImageHeader(
                storedSize: PixelSize(width: 4, height: 4), colorModel: .rgb, bitsPerComponent: 8)
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            count.withLock { $0 += 1 }
            let plane = SourcePlane(
                size: rows.storedSize, horizontalScale: 1, verticalScale: 1)
            try rows.beginYCbCr([plane, plane, plane], .sRGB)
            let row = [UInt8](repeating: 128, count: 4)
            for index in 0..<12 { try rows.append(row.span, plane: index % 3) }
        }

        func encode(
            _ image: PixelBuffer, _ options: EncodeOptions
        ) throws(CodecError) -> [UInt8] { Array(image.format.rawValue.utf8) }

        func prefersYCbCr(_ options: EncodeOptions) -> Bool { options.chromaSubsampling == .half }
    }

    @Test("are encoded without RGB, which other requests receive")
    func formats() async throws {
        let folder = try TestFolder()
        let path = folder.url.appending(path: "a.jpg").path
        try Data("PLANAR".utf8).write(to: URL(filePath: path))
        let codec = PlanarCodec()
        let pipeline = ImagePipeline(
            codecs: CodecSet([codec]), configuration: .init(), logger: Logger(label: "test"))
        let request = ImageRequest(path: path)
        var rendition = RenditionRequest(image: request)
        let planar = try await pipeline.rendition(for: rendition)
        #expect(planar.bytes == Array("yCbCr420".utf8))
        #expect(codec.decodeCount == 1)
        #expect(try await pipeline.image(for: request).image.format == .rgb8)
        #expect(codec.decodeCount == 2)
        rendition.encodeOptions.chromaSubsampling = .full
        let full = try await pipeline.rendition(for: rendition)
        #expect(full.bytes == Array("rgb8".utf8))
        #expect(codec.decodeCount == 2)
    }
}
