// SPDX-License-Identifier: Apache-2.0

import GStreamerInterop
import ImageTesting
import Pixels
import Testing

@Suite("Buffers of GStreamer", .enabled(if: GStreamer.library != nil, "GStreamer is not installed"))
struct GStreamerTests {
    let gstreamer: GStreamer

    init() throws { gstreamer = try #require(GStreamer.library) }

    static let formats: [PixelFormat] = [.gray8, .rgb8, .bgra8, .yCbCr420]

    @Test("contain the memory of an image", arguments: formats)
    func sameAddress(_ format: PixelFormat) throws {
        let size = PixelSize(width: 57, height: 31)
        let image =
            format == .yCbCr420
            ? TestImage.photograph(size, format)
            : TestImage.photograph(size, .rgb8).converted(to: format)
        let buffer = try unsafe image.gstreamerBuffer()
        let adopted = try unsafe PixelBuffer(
            adoptingGStreamerBuffer: buffer, size: size, format: format)
        unsafe gstreamer.unreference(buffer)
        #expect(adopted.address == image.address)
        for plane in 0..<format.planeCount {
            #expect(adopted.layout(ofPlane: plane) == image.layout(ofPlane: plane))
        }
    }

    @Test("contain interleaved chroma as NV12", arguments: [PixelFormat.yCbCr420, .rgb8])
    func interleaved(_ format: PixelFormat) throws {
        let size = PixelSize(width: 57, height: 31)
        let image = TestImage.photograph(size, format)
        let buffer = try unsafe image.gstreamerNV12Buffer()
        defer { unsafe gstreamer.unreference(buffer) }
        let stride = 64
        var bytes = [UInt8](repeating: 0, count: stride * (31 + 16))
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe gstreamer.extract(buffer, 0, bytes.baseAddress, bytes.count)
        }
        #expect(count == bytes.count)
        let planes = image.converted(to: .yCbCr420)
        for y in 0..<31 {
            let row = planes.row(y)
            #expect(row.indices.allSatisfy { row[$0] == bytes[y * stride + $0] })
        }
        for y in 0..<16 {
            let (first, second) = (planes.row(y, plane: 1), planes.row(y, plane: 2))
            #expect(
                first.indices.allSatisfy { x in
                    let offset = (31 + y) * stride + x * 2
                    return first[x] == bytes[offset] && second[x] == bytes[offset + 1]
                })
        }
        // The metadata is that of another format than any of `PixelFormat`.
        #expect(throws: PixelError.self) {
            _ = try unsafe PixelBuffer(
                adoptingGStreamerBuffer: buffer, size: size, format: .yCbCr420)
        }
    }

    @Test("of another size or format are refused")
    func mismatch() throws {
        let image = TestImage.photograph(PixelSize(width: 16, height: 8), .rgb8)
        let buffer = try unsafe image.gstreamerBuffer()
        defer { unsafe gstreamer.unreference(buffer) }
        #expect(throws: PixelError.self) {
            _ = try unsafe PixelBuffer(
                adoptingGStreamerBuffer: buffer, size: PixelSize(width: 8, height: 8), format: .rgb8
            )
        }
        #expect(throws: PixelError.self) {
            _ = try unsafe PixelBuffer(
                adoptingGStreamerBuffer: buffer, size: image.size, format: .rgba8)
        }
        let alpha = image.converted(to: .alpha8)
        #expect(throws: PixelError.self) { _ = try unsafe alpha.gstreamerBuffer() }
    }

    @Test("without a description of the frame have rows of multiples of 4 bytes")
    func defaultLayout() throws {
        // Planes of 5x3 and 3x2 samples: rows of 8 and 4 bytes, and luma of an even number of rows.
        let buffer = try unsafe #require(gstreamer.allocate(nil, 8 * 4 + 2 * 4 * 2, nil))
        defer { unsafe gstreamer.unreference(buffer) }
        let size = PixelSize(width: 5, height: 3)
        let image = try unsafe PixelBuffer(
            adoptingGStreamerBuffer: buffer, size: size, format: .yCbCr420)
        #expect((0..<3).map { image.layout(ofPlane: $0).offset } == [0, 32, 40])
        #expect((0..<3).map { image.layout(ofPlane: $0).bytesPerRow } == [8, 4, 4])
        #expect(throws: PixelError.self) {
            _ = try unsafe PixelBuffer(
                adoptingGStreamerBuffer: buffer, size: PixelSize(width: 5, height: 5),
                format: .yCbCr420)
        }
    }

    @Test("release the memory once")
    func release() throws {
        try Foreign.expectOneRelease(format: .yCbCr420) { image in
            let buffer = try unsafe image.gstreamerBuffer()
            let adopted = try unsafe PixelBuffer(
                adoptingGStreamerBuffer: buffer, size: image.size, format: .yCbCr420)
            unsafe gstreamer.unreference(buffer)
            #expect(adopted.address == image.address)
        }
    }
}

/// The functions of GStreamer that a program calls.
@safe struct GStreamer {
    let unreference: @convention(c) (OpaquePointer) -> Void
    let extract: @convention(c) (OpaquePointer, Int, UnsafeMutableRawPointer?, Int) -> Int
    let allocate: @convention(c) (OpaquePointer?, Int, OpaquePointer?) -> OpaquePointer?

    static let library: GStreamer? = {
        guard let library = DynamicLibrary("libgstvideo-1.0.so.0") else { return nil }
        let start: @convention(c) (OpaquePointer?, OpaquePointer?) -> Void =
            unsafe library.function("gst_init")
        start(nil, nil)
        return unsafe GStreamer(
            unreference: library.function("gst_mini_object_unref"),
            extract: library.function("gst_buffer_extract"),
            allocate: library.function("gst_buffer_new_allocate"))
    }()
}
