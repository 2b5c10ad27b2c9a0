// SPDX-License-Identifier: Apache-2.0

internal import CGDKInterop
public import Pixels

extension PixelBuffer {
    /// Returns a `GdkMemoryTexture` of GTK 4 that displays the memory of this image, without a copy.
    ///
    /// The caller owns one reference, for `g_object_unref`. The memory is kept until the texture is
    /// finalized. GTK takes the colours as sRGB.
    ///
    /// - Throws: ``Pixels/PixelError/unsupported(reason:)`` for a format that GTK lacks,
    ///   ``Pixels/PixelError/libraryUnavailable(reason:)`` without GTK 4.6 or later.
    @unsafe
    public func gdkTexture() throws(PixelError) -> OpaquePointer {
        let code =
            switch format {
            case .bgra8: calotype_gdk_bgra8
            case .rgba8: calotype_gdk_rgba8
            case .rgb8: calotype_gdk_rgb8
            case .rgb16: calotype_gdk_rgb16
            case .rgba16: calotype_gdk_rgba16
            case .rgbaHalf: calotype_gdk_rgba_half
            case .alpha8, .gray8, .gray16, .rgb565, .rgb555, .yCbCr420:
                throw .unsupported(reason: "GTK has no format for \(format); convert to rgb8")
            }
        if let problem = unsafe calotype_gdk_missing() {
            throw .libraryUnavailable(reason: unsafe String(cString: problem))
        }
        let layout = layout(ofPlane: 0)
        let texture = unsafe withMemory { memory in
            // GTK requires the memory to end with the last row.
            let start = unsafe memory.baseAddress?.advanced(by: layout.offset)
            return unsafe calotype_gdk_texture(
                start, layout.bytesPerRow * (size.height - 1) + size.width * layout.bytesPerPixel,
                Int32(size.width), Int32(size.height), layout.bytesPerRow, Int32(code),
                retainMemory()
            ) { owner in
                if let owner = unsafe owner { unsafe PixelBuffer.releaseMemory(owner) }
            }
        }
        guard let texture = unsafe texture else { throw .memoryUnavailable(byteCount: byteCount) }
        return OpaquePointer(texture)
    }
}
