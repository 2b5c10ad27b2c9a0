// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@Suite("Image destination") struct ImageDestinationTests {
    private struct RawEncoder: ImageEncoder {
        func encode(
            _ image: PixelBuffer, _ options: EncodeOptions
        ) throws(CodecError) -> [UInt8] {
            guard image.size.width > 1 else { throw .unsupported(feature: "one column") }
            return image.packedBytes
        }
    }

    private struct RawCodec: ImageCodec {
        let format = ImageFormat(
            name: "raw", extensions: ["raw"], mediaType: "image/x-raw", signatures: [])
        let decoder: any ImageDecoder = RejectingDecoder(.unknownFormat)
        let encoder: (any ImageEncoder)? = RawEncoder()
    }

    private let codecs = CodecSet([RawCodec()])

    @Test("replaces a file atomically and leaves no temporary file")
    func replacing() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "a.raw").path
            let image = TestImage.noise(PixelSize(width: 30, height: 20))
            let destination = try ImageDestination(format: "RAW", codecs: codecs)
            for _ in 0..<2 { try destination.write(image, to: path) }
            #expect(try Array(Data(contentsOf: URL(filePath: path))) == image.packedBytes)
            #expect(throws: CodecError.unsupported(feature: "one column")) {
                try destination.write(
                    TestImage.noise(PixelSize(width: 1, height: 1)), to: path)
            }
            #expect(try Array(Data(contentsOf: URL(filePath: path))) == image.packedBytes)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.raw"])
        }
    }

    @Test("reports why a file cannot be written")
    func failures() throws {
        let image = TestImage.noise(PixelSize(width: 2, height: 2))
        let destination = try ImageDestination(format: "raw", codecs: codecs)
        #expect(throws: CodecError.file(reason: "No such file or directory")) {
            try destination.write(image, to: "/nonexistent-\(UUID().uuidString)/a.raw")
        }
        #expect(throws: CodecError.self) {
            _ = try ImageDestination(format: "tga", codecs: codecs)
        }
    }
}
