// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Pixels

/// An image in the form in which GTK draws it.
@MainActor
@safe
final class Texture {
    let size: PixelSize
    let hasAlpha: Bool
    private let raw: OpaquePointer?

    /// Copies the pixels of an image.
    init(_ image: PixelBuffer) {
        let pixels = image.converted(to: image.format.channelCount == 4 ? .rgba8 : .rgb8)
        size = pixels.size
        hasAlpha = pixels.format == .rgba8
        unsafe raw = pixels.bytes.withUnsafeBufferPointer { bytes in
            unsafe calotype_texture_create(
                bytes.baseAddress, bytes.count, Int32(pixels.size.width), Int32(pixels.size.height),
                pixels.bytesPerRow, pixels.format == .rgba8)
        }
    }

    isolated deinit {
        if let raw = unsafe raw { unsafe calotype_texture_destroy(raw) }
    }

    /// Draws the texture in a rectangle of the window, in device pixels.
    func draw(x: Double, y: Double, width: Double, height: Double) {
        if let raw = unsafe raw { unsafe calotype_draw_texture(raw, x, y, width, height) }
    }
}
#endif
