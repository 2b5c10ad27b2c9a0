// SPDX-License-Identifier: Apache-2.0

internal import CCairoInterop
public import Pixels

extension PixelBuffer {
    /// Returns an image surface of cairo with the memory of this image, without a copy.
    ///
    /// The surface may be drawn from, but not drawn to. The caller owns one reference, for
    /// `cairo_surface_destroy`; the memory is kept until the last one is gone. `bgra8` becomes
    /// `CAIRO_FORMAT_ARGB32` of little-endian machines, `alpha8` `CAIRO_FORMAT_A8`, and `rgb565`
    /// `CAIRO_FORMAT_RGB16_565`.
    ///
    /// - Throws: ``Pixels/PixelError/unsupported(reason:)`` for another format,
    ///   ``Pixels/PixelError/libraryUnavailable(reason:)`` without cairo.
    @unsafe
    public func cairoSurface() throws(PixelError) -> OpaquePointer {
        let code =
            switch format {
            case .bgra8: calotype_cairo_argb32
            case .alpha8: calotype_cairo_a8
            case .rgb565: calotype_cairo_rgb16_565
            case .gray8, .rgb8, .rgba8, .gray16, .rgb16, .rgba16, .rgbaHalf, .rgb555, .yCbCr420:
                throw .unsupported(reason: "cairo has no format for \(format); convert to bgra8")
            }
        try loadCairo()
        let layout = layout(ofPlane: 0)
        let owner = unsafe retainMemory()
        let surface = unsafe withMemory { memory in
            unsafe calotype_cairo_surface(
                UnsafeMutableRawPointer(
                    mutating: memory.baseAddress?.advanced(by: layout.offset)),
                Int32(code), Int32(size.width), Int32(size.height),
                Int32(layout.bytesPerRow), owner
            ) { owner in
                if let owner = unsafe owner { unsafe PixelBuffer.releaseMemory(owner) }
            }
        }
        guard let surface = unsafe surface else {
            unsafe PixelBuffer.releaseMemory(owner)
            throw .unsupported(
                reason: "cairo rejects \(size) pixels in rows of \(layout.bytesPerRow) bytes")
        }
        return OpaquePointer(surface)
    }

    /// Creates an image with the memory of an image surface of cairo, without a copy.
    ///
    /// The surface must not be drawn to afterwards. A reference to it is kept until the last copy of the
    /// image is gone.
    ///
    /// - Parameters:
    ///   - surface: an image surface of a format that ``cairoSurface()`` lists.
    ///   - colorProfile: the colour space of the samples.
    /// - Throws: the errors of ``cairoSurface()``.
    @unsafe
    public init(
        adoptingCairoSurface surface: OpaquePointer, colorProfile: ColorProfile = .sRGB
    ) throws(PixelError) {
        try loadCairo()
        let owner = unsafe SurfaceReference(UnsafeMutableRawPointer(surface))
        let image = unsafe owner.image
        let format: PixelFormat? =
            switch unsafe image.format {
            case Int32(calotype_cairo_argb32): .bgra8
            case Int32(calotype_cairo_a8): .alpha8
            case Int32(calotype_cairo_rgb16_565): .rgb565
            default: nil
            }
        guard let format else {
            throw .unsupported(
                reason: "the surface of cairo is no image of the format ARGB32, A8 or RGB16_565")
        }
        let stride = unsafe Int(image.stride)
        let size = unsafe PixelSize(width: Int(image.width), height: Int(image.height))
        try unsafe self.init(
            adopting: UnsafeRawBufferPointer(start: image.pixels, count: stride * size.height),
            size: size, format: format, planes: [PlanePosition(bytesPerRow: stride)],
            colorProfile: colorProfile
        ) { withExtendedLifetime(owner) {} }
    }
}

private func loadCairo() throws(PixelError) {
    guard let problem = unsafe calotype_cairo_missing() else { return }
    throw .libraryUnavailable(reason: unsafe String(cString: problem))
}

/// A reference to a surface of cairo.
@safe
private final class SurfaceReference: Sendable {
    // Constant; cairo permits to read and to release a surface on any thread.
    nonisolated(unsafe) private let surface: UnsafeMutableRawPointer
    nonisolated(unsafe) let image: calotype_cairo_image

    init(_ surface: UnsafeMutableRawPointer) {
        unsafe self.surface = surface
        unsafe image = calotype_cairo_retain(surface)
    }

    deinit { if unsafe image.format >= 0 { unsafe calotype_cairo_release(surface) } }
}
