// SPDX-License-Identifier: Apache-2.0

internal import CGStreamerInterop
public import Pixels

extension PixelFormat {
    /// The name of the format in the caps of GStreamer; `nil` if GStreamer lacks it.
    ///
    /// GStreamer takes `RGBA` and `BGRA` as straight alpha, and these formats are premultiplied: equal for
    /// opaque images only. ``Pixels/PixelFormat/yCbCr420`` is `I420` in full range, with `colorimetry=1:4:0:0`.
    public var gstreamerName: String? {
        switch self {
        case .gray8: "GRAY8"
        case .gray16: "GRAY16_LE"
        case .rgb8: "RGB"
        case .rgba8: "RGBA"
        case .bgra8: "BGRA"
        case .rgb565: "RGB16"
        case .rgb555: "RGB15"
        case .yCbCr420: "I420"
        case .alpha8, .rgb16, .rgba16, .rgbaHalf: nil
        }
    }
}

extension PixelBuffer {
    /// Returns a `GstBuffer` with the memory of this image and a `GstVideoMeta`, without a copy.
    ///
    /// The caller owns one reference, for `gst_buffer_unref`; the memory is kept until the last reference to
    /// the `GstMemory` is gone, and is read-only. The caps are `video/x-raw` with the name of the format,
    /// the width and the height.
    ///
    /// - Throws: ``Pixels/PixelError/unsupported(reason:)`` for a format without a
    ///   ``Pixels/PixelFormat/gstreamerName``,
    ///   ``Pixels/PixelError/libraryUnavailable(reason:)`` without GStreamer, or before `gst_init`.
    @unsafe
    public func gstreamerBuffer() throws(PixelError) -> OpaquePointer {
        guard let name = format.gstreamerName else {
            throw .unsupported(
                reason: "GStreamer has no format for \(format); convert to rgb8 or gray8")
        }
        let planes = (0..<format.planeCount).map { plane in
            let layout = layout(ofPlane: plane)
            return PlanePosition(offset: layout.offset, bytesPerRow: layout.bytesPerRow)
        }
        return try unsafe gstreamerBuffer(name, size, planes)
    }

    /// Returns a `GstBuffer` of the format `NV12` with a `GstVideoMeta`: a copy of the luma of this image,
    /// followed by rows of alternating Cb and Cr, in full range (`colorimetry=1:4:0:0`).
    ///
    /// Encoders and displays in hardware take this format. An image of another format than
    /// ``Pixels/PixelFormat/yCbCr420`` is converted first.
    ///
    /// - Throws: ``Pixels/PixelError/libraryUnavailable(reason:)`` without GStreamer, or before `gst_init`.
    @unsafe
    public func gstreamerNV12Buffer() throws(PixelError) -> OpaquePointer {
        let rows = converted(to: .yCbCr420).withInterleavedChroma()
        let layout = rows.layout(ofPlane: 0)
        let planes = [0, layout.bytesPerRow * size.height].map {
            PlanePosition(offset: layout.offset + $0, bytesPerRow: layout.bytesPerRow)
        }
        return try unsafe rows.gstreamerBuffer("NV12", size, planes)
    }

    /// Returns the rows of luma and those of alternating Cb and Cr, one below the other as grey.
    private func withInterleavedChroma() -> PixelBuffer {
        let chroma = layout(ofPlane: 1).size
        var result = MutablePixelBuffer(
            size: PixelSize(width: chroma.width * 2, height: size.height + chroma.height),
            format: .gray8)
        for y in 0..<size.height {
            result.withMutableRow(y) { target in
                let luma = row(y)
                for x in luma.indices { target[x] = luma[x] }
            }
        }
        for y in 0..<chroma.height {
            result.withMutableRow(size.height + y) { target in
                let (first, second) = (row(y, plane: 1), row(y, plane: 2))
                for x in first.indices {
                    target[x * 2] = first[x]
                    target[x * 2 + 1] = second[x]
                }
            }
        }
        return result.finish()
    }

    /// Returns a `GstBuffer` with the memory of this image, which contains a frame.
    ///
    /// - Parameters:
    ///   - name: the format of the frame.
    ///   - size: the size of the frame.
    ///   - planes: the planes of the frame, at most three.
    /// - Returns: one reference.
    /// - Throws: ``Pixels/PixelError``.
    @unsafe
    private func gstreamerBuffer(
        _ name: String, _ size: PixelSize, _ planes: [PlanePosition]
    ) throws(PixelError) -> OpaquePointer {
        try loadGStreamer()
        let owner = unsafe retainMemory()
        let buffer = unsafe withMemory { memory in
            unsafe name.withCString { name in
                var layout = unsafe calotype_gst_layout()
                unsafe layout.format = name
                unsafe layout.width = UInt32(size.width)
                unsafe layout.height = UInt32(size.height)
                unsafe layout.plane_count = UInt32(planes.count)
                let none = PlanePosition(offset: 0, bytesPerRow: 0)
                let all = planes + Array(repeating: none, count: 3 - planes.count)
                unsafe layout.offsets = (all[0].offset, all[1].offset, all[2].offset, 0)
                unsafe layout.strides = (
                    Int32(all[0].bytesPerRow), Int32(all[1].bytesPerRow), Int32(all[2].bytesPerRow),
                    0
                )
                return unsafe calotype_gst_buffer(
                    memory.baseAddress, memory.count, &layout, owner
                ) { owner in
                    if let owner = unsafe owner { unsafe PixelBuffer.releaseMemory(owner) }
                }
            }
        }
        guard let buffer = unsafe buffer else {
            unsafe PixelBuffer.releaseMemory(owner)
            throw .unsupported(reason: "this version of GStreamer has no format \(name)")
        }
        return OpaquePointer(buffer)
    }

    /// Creates an image with the memory of a `GstBuffer`, without a copy.
    ///
    /// A reference to the buffer is kept, mapped for reading, until the last copy of the image is gone.
    /// Without a `GstVideoMeta`, the strides are the smallest multiples of 4.
    ///
    /// A buffer of `NV12` is refused, since its rows alternate Cb and Cr: a plane of
    /// ``Pixels/PixelFormat/yCbCr420`` contains one kind of sample, and decoders, the resampler, encoders and the
    /// sandbox read Cb and Cr as planes of their own. The element `videoconvert` converts it to `I420`, which
    /// copies half as many bytes as luma has.
    ///
    /// - Parameters:
    ///   - buffer: the buffer; one mapping must contain all of its planes.
    ///   - size: the size in pixels, from the caps.
    ///   - format: the format, from the caps. ``Pixels/PixelFormat/yCbCr420`` is `I420` in full range;
    ///     limited range must be converted before, for example by the element `videoconvert`.
    ///   - colorProfile: the colour space of the samples.
    /// - Throws: ``Pixels/PixelError/invalidLayout(reason:)`` if the buffer has another format or size or
    ///   is too small; ``Pixels/PixelError/libraryUnavailable(reason:)``.
    @unsafe
    public init(
        adoptingGStreamerBuffer buffer: OpaquePointer, size: PixelSize, format: PixelFormat,
        colorProfile: ColorProfile = .sRGB
    ) throws(PixelError) {
        try loadGStreamer()
        guard let mapped = unsafe MappedBuffer(UnsafeMutableRawPointer(buffer)) else {
            throw .invalidLayout(reason: "the buffer cannot be mapped for reading")
        }
        let planes = try mapped.planes(size, format)
        try unsafe self.init(
            adopting: mapped.memory, size: size, format: format, planes: planes,
            colorProfile: colorProfile
        ) { withExtendedLifetime(mapped) {} }
    }
}

private func loadGStreamer() throws(PixelError) {
    guard let problem = unsafe calotype_gst_missing() else { return }
    throw .libraryUnavailable(reason: unsafe String(cString: problem))
}

/// A reference to a buffer that is mapped for reading.
@safe
private final class MappedBuffer: Sendable {
    // Constant; GStreamer permits to unmap on any thread.
    nonisolated(unsafe) private let mapping: OpaquePointer
    nonisolated(unsafe) let memory: UnsafeRawBufferPointer
    nonisolated(unsafe) private let layout: calotype_gst_layout

    init?(_ buffer: UnsafeMutableRawPointer) {
        var bytes: UnsafeRawPointer?
        var count = 0
        var layout = unsafe calotype_gst_layout()
        guard let mapping = unsafe calotype_gst_map(buffer, &bytes, &count, &layout) else {
            return nil
        }
        unsafe self.mapping = mapping
        unsafe memory = UnsafeRawBufferPointer(start: bytes, count: count)
        unsafe self.layout = layout
    }

    deinit { unsafe calotype_gst_unmap(mapping) }

    /// The positions of the planes by the metadata of the buffer, or the default ones.
    func planes(_ size: PixelSize, _ format: PixelFormat) throws(PixelError) -> [PlanePosition] {
        guard let name = unsafe layout.format else { return Self.defaultPlanes(size, format) }
        let found = unsafe String(cString: name)
        let foundSize = unsafe PixelSize(width: Int(layout.width), height: Int(layout.height))
        guard found == format.gstreamerName, foundSize == size else {
            throw .invalidLayout(
                reason: "the buffer contains \(foundSize) pixels of \(found), "
                    + "not \(size) of \(format)")
        }
        let (offsets, strides) = unsafe (layout.offsets, layout.strides)
        return [
            PlanePosition(offset: offsets.0, bytesPerRow: Int(strides.0)),
            PlanePosition(offset: offsets.1, bytesPerRow: Int(strides.1)),
            PlanePosition(offset: offsets.2, bytesPerRow: Int(strides.2)),
        ].dropLast(3 - format.planeCount)
    }

    /// The layout of `gst_video_info_set_format`.
    private static func defaultPlanes(
        _ size: PixelSize, _ format: PixelFormat
    ) -> [PlanePosition] {
        var offset = 0
        return (0..<format.planeCount).map { plane in
            let samples = format.planeSize(plane, of: size)
            let stride = (samples.width * format.plane(plane).bytesPerPixel + 3) / 4 * 4
            // The height is rounded up to whole samples of chroma.
            let isLuma = format.planeCount > 1 && plane == 0
            let height = isLuma ? (samples.height + 1) / 2 * 2 : samples.height
            defer { offset += stride * height }
            return PlanePosition(offset: offset, bytesPerRow: stride)
        }
    }
}
