// SPDX-License-Identifier: Apache-2.0

import GDKInterop
import ImageTesting
import Pixels
import Testing

@Suite("Textures of GTK", .enabled(if: GTK.library != nil, "GTK 4 is not installed"))
struct GDKTests {
    let gtk: GTK

    init() throws { gtk = try #require(GTK.library) }

    @Test("contain the pixels of an image", arguments: [PixelFormat.rgb8, .rgba8, .bgra8, .rgba16])
    func pixels(_ format: PixelFormat) throws {
        let image = TestImage.photograph(PixelSize(width: 57, height: 31), .rgba8).converted(
            to: format)
        let texture = try unsafe image.gdkTexture()
        defer { unsafe gtk.unreference(texture) }
        #expect(unsafe gtk.width(texture) == 57 && gtk.height(texture) == 31)
        // GTK downloads in the format of cairo.
        let expected = image.converted(to: .bgra8)
        let downloaded = unsafe gtk.pixels(texture, image.size)
        for y in 0..<31 {
            let row = expected.row(y)
            #expect(row.indices.allSatisfy { row[$0] == downloaded[y * 57 * 4 + $0] })
        }
    }

    /// GTK 4.8 has no function that returns the address, so that the memory is changed instead.
    @Test("have the memory of an image, not a copy")
    func sameMemory() throws {
        let image = try Foreign.image(PixelSize(width: 3, height: 2), .bgra8, Releases())
        let texture = try unsafe image.gdkTexture()
        defer { unsafe gtk.unreference(texture) }
        let address = try unsafe #require(UnsafeMutablePointer<UInt8>(bitPattern: image.address))
        unsafe address[4] = 7
        #expect(unsafe gtk.pixels(texture, image.size)[4] == 7)
    }

    @Test("of other formats are refused", arguments: [PixelFormat.gray8, .alpha8, .yCbCr420])
    func formats(_ format: PixelFormat) throws {
        let image = TestImage.photograph(PixelSize(width: 8, height: 8), format)
        #expect(throws: PixelError.self) { _ = try unsafe image.gdkTexture() }
    }

    @Test("release the memory once")
    func release() throws {
        try Foreign.expectOneRelease(format: .rgb8) { image in
            unsafe gtk.unreference(try image.gdkTexture())
        }
    }
}

/// The functions of GTK that a program calls; these need no display.
@safe struct GTK {
    let unreference: @convention(c) (OpaquePointer) -> Void
    let width: @convention(c) (OpaquePointer) -> Int32
    let height: @convention(c) (OpaquePointer) -> Int32
    let download: @convention(c) (OpaquePointer, UnsafeMutablePointer<UInt8>, Int) -> Void

    static let library: GTK? = {
        guard let library = DynamicLibrary("libgtk-4.so.1") else { return nil }
        return unsafe GTK(
            unreference: library.function("g_object_unref"),
            width: library.function("gdk_texture_get_width"),
            height: library.function("gdk_texture_get_height"),
            download: library.function("gdk_texture_download"))
    }()

    @unsafe func pixels(_ texture: OpaquePointer, _ size: PixelSize) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: size.area * 4) { bytes, count in
            if let start = bytes.baseAddress { unsafe download(texture, start, size.width * 4) }
            count = size.area * 4
        }
    }
}
