// SPDX-License-Identifier: Apache-2.0

import CairoInterop
import ImageTesting
import Pixels
import Testing

@Suite("Surfaces of cairo", .enabled(if: Cairo.library != nil, "cairo is not installed"))
struct CairoTests {
    let cairo: Cairo

    init() throws { cairo = try #require(Cairo.library) }

    @Test("contain the memory of an image", arguments: [PixelFormat.bgra8, .alpha8, .rgb565])
    func sameAddress(_ format: PixelFormat) throws {
        let image = TestImage.photograph(PixelSize(width: 57, height: 31), .rgba8).converted(
            to: format)
        let surface = try unsafe image.cairoSurface()
        #expect(unsafe cairo.address(surface) == image.address)
        let adopted = try unsafe PixelBuffer(adoptingCairoSurface: surface)
        unsafe cairo.destroy(surface)
        #expect(adopted.address == image.address)
        #expect(adopted.format == format && adopted.size == image.size)
        #expect(adopted.bytesPerRow == image.bytesPerRow)
    }

    @Test("with other strides are read where they are")
    func drawnSurface() throws {
        // 5 pixels of 1 byte in rows of 8.
        let surface = try unsafe #require(cairo.create(2, 5, 3))
        let memory = try unsafe #require(cairo.data(surface))
        for offset in 0..<24 { unsafe memory[offset] = UInt8(offset) }
        let image = try unsafe PixelBuffer(adoptingCairoSurface: surface)
        unsafe cairo.destroy(surface)
        #expect(image.bytesPerRow == 8)
        #expect((0..<3).map { image.row($0)[4] } == [4, 12, 20])
        let copy = MutablePixelBuffer(image).finish()
        #expect(copy.bytesPerRow == 64)
        #expect((0..<3).map { copy.row($0)[4] } == [4, 12, 20])
    }

    @Test("of other formats are refused")
    func formats() throws {
        let photograph = TestImage.photograph(PixelSize(width: 8, height: 8), .rgb8)
        #expect(throws: PixelError.self) { _ = try unsafe photograph.cairoSurface() }
        let surface = try unsafe #require(cairo.create(1, 5, 3))
        defer { unsafe cairo.destroy(surface) }
        #expect(throws: PixelError.self) {
            _ = try unsafe PixelBuffer(adoptingCairoSurface: surface)
        }
    }

    @Test("release the memory once")
    func release() throws {
        try Foreign.expectOneRelease(format: .bgra8) { image in
            let surface = try unsafe image.cairoSurface()
            let adopted = try unsafe PixelBuffer(adoptingCairoSurface: surface)
            unsafe cairo.destroy(surface)
            #expect(adopted.address == image.address)
        }
    }
}

/// The functions of cairo that a program calls.
@safe struct Cairo {
    let destroy: @convention(c) (OpaquePointer) -> Void
    let data: @convention(c) (OpaquePointer) -> UnsafeMutablePointer<UInt8>?
    let create: @convention(c) (Int32, Int32, Int32) -> OpaquePointer?

    static let library: Cairo? = {
        guard let library = DynamicLibrary("libcairo.so.2") else { return nil }
        return unsafe Cairo(
            destroy: library.function("cairo_surface_destroy"),
            data: library.function("cairo_image_surface_get_data"),
            create: library.function("cairo_image_surface_create"))
    }()

    @unsafe func address(_ surface: OpaquePointer) -> UInt {
        UInt(bitPattern: unsafe data(surface))
    }
}
