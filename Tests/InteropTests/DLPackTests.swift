// SPDX-License-Identifier: Apache-2.0

import DLPackInterop
import ImageTesting
import Pixels
import Testing

@Suite("Tensors of DLPack")
struct DLPackTests {
    static let formats: [PixelFormat] = [
        .gray8, .rgb8, .rgba8, .gray16, .rgb16, .rgba16, .rgbaHalf,
    ]

    /// The field `data` of the tensor follows the version, the context, the deleter and the flags.
    static let offsetOfData = 8 + 8 + 8 + 8

    @Test("contain the memory of an image", arguments: formats)
    func sameAddress(_ format: PixelFormat) throws {
        let image = TestImage.photograph(PixelSize(width: 57, height: 31), .rgb8)
            .converted(to: format)
        let tensor = try unsafe image.dlpackTensor()
        let data = unsafe tensor.load(fromByteOffset: Self.offsetOfData, as: UInt.self)
        #expect(data == image.address)
        let adopted = try unsafe PixelBuffer(adoptingDLPackTensor: tensor, format: format)
        #expect(adopted.address == image.address && adopted.size == image.size)
        #expect(adopted.bytesPerRow == image.bytesPerRow)
        for y in 0..<31 {
            let (one, other) = (image.row(y), adopted.row(y))
            #expect(one.indices.allSatisfy { one[$0] == other[$0] })
        }
    }

    @Test("of other shapes and types are refused, and stay with the caller")
    func mismatch() throws {
        let releases = Releases()
        let size = PixelSize(width: 4, height: 3)
        let tensor = try unsafe Foreign.image(size, .rgb8, releases).dlpackTensor()
        for format in PixelFormat.allCases where format != .rgb8 {
            #expect(throws: PixelError.self) {
                _ = try unsafe PixelBuffer(adoptingDLPackTensor: tensor, format: format)
            }
        }
        #expect(releases.count == 0)
        _ = try unsafe PixelBuffer(adoptingDLPackTensor: tensor, format: .rgb8)
        #expect(releases.count == 1)
        let planar = TestImage.photograph(size, .yCbCr420)
        #expect(throws: PixelError.self) { _ = try unsafe planar.dlpackTensor() }
    }

    @Test("release the memory once")
    func release() throws {
        try Foreign.expectOneRelease(format: .rgba16) { image in
            let tensor = try unsafe image.dlpackTensor()
            let adopted = try unsafe PixelBuffer(adoptingDLPackTensor: tensor, format: .rgba16)
            #expect(adopted.address == image.address)
        }
    }
}
