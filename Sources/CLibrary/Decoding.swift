// SPDX-License-Identifier: Apache-2.0

public import CCalotype
internal import EncodedImages
internal import Pixels

/// Decodes an image.
@c @implementation
public func calotype_decode(
    _ source: OpaquePointer!, _ options: UnsafePointer<calotype_decode_options>!,
    _ cancellation: OpaquePointer!, _ image: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        guard let image = unsafe image else { throw .argument("image is null") }
        unsafe image.pointee = nil
        let handle = unsafe try SourceHandle.borrowed(source, "source")
        var page = 0
        let options = unsafe try DecodeOptions(options, page: &page)
        let flag = unsafe try flag(cancellation)
        let decoded = try handle.decode(options, page: page, flag)
        unsafe image.pointee = ImageHandle(decoded).passed()
    }
}

/// Returns the flag of a cancellation; `nil` if the pointer is null.
func flag(_ cancellation: OpaquePointer?) throws(Failure) -> CancellationFlag? {
    unsafe try CancellationHandle.borrowed(ifNotNull: cancellation, "cancellation")?.flag
}

extension SourceHandle {
    func decode(
        _ options: DecodeOptions, page: Int, _ cancellation: CancellationFlag?
    ) throws(Failure) -> PixelBuffer {
        try naming { () throws(CodecError) in
            let page = try source.page(page)
            guard options.acceptsYCbCr else {
                return try page.image(options, cancellation: cancellation)
            }
            // Decoded as luma and chroma if possible, then converted.
            var planar = options
            planar.pixelFormat = nil
            let image = try page.image(planar, cancellation: cancellation)
            let format = options.pixelFormat ?? image.format.withIntegerSamples
            return image.format == format ? image : image.converted(to: format)
        }
    }
}

/// Decodes an image into memory of the caller.
@c @implementation
public func calotype_decode_into(
    _ source: OpaquePointer!, _ options: UnsafePointer<calotype_decode_options>!,
    _ cancellation: OpaquePointer!, _ pixels: UnsafePointer<calotype_pixels>!, _ byte_count: Int,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        let handle = unsafe try SourceHandle.borrowed(source, "source")
        let target = unsafe try CallerPixels(pixels)
        guard target.byteCount <= byte_count else {
            throw .argument("byte_count is \(byte_count); \(target.byteCount) are required")
        }
        target.copyRows(
            of: unsafe try handle.decode(options, cancellation, target.size, target.format))
    }
}

extension SourceHandle {
    /// Decodes an image for memory of the caller of a size and a format.
    func decode(
        _ options: UnsafePointer<calotype_decode_options>?, _ cancellation: OpaquePointer?,
        _ size: PixelSize, _ format: PixelFormat
    ) throws(Failure) -> PixelBuffer {
        var page = 0
        var options = unsafe try DecodeOptions(options, page: &page)
        options.box = size
        if options.mode != .fill { options.mode = .stretch }
        options.allowsEnlarging = true
        options.pixelFormat = format
        options.acceptsYCbCr = options.acceptsYCbCr && !format.isDeep && format != .yCbCr420
        let flag = unsafe try flag(cancellation)
        let decoded = try decode(options, page: page, flag)
        guard decoded.size == size, decoded.format == format else {
            throw .codec(.library(message: "the decoder returned \(decoded.size)"), file: nil)
        }
        return decoded
    }
}

/// Checks the size of memory of the caller.
func checkSides(_ size: PixelSize) throws(Failure) {
    guard !size.isEmpty, size.largestSide <= 1 << 20 else {
        throw .argument("invalid size \(size): sides of 1 to 1048576 are required")
    }
}

/// Pixels in memory of the caller, whose layout has been checked.
@safe struct CallerPixels {
    let size: PixelSize
    let format: PixelFormat
    private let data: UnsafeRawPointer
    private let bytesPerRow: Int
    /// The number of bytes from the first to the last sample.
    let byteCount: Int
    private let rowByteCount: Int

    init(_ pointer: UnsafePointer<calotype_pixels>?) throws(Failure) {
        guard let pixels = unsafe try structure(pointer, \.struct_size, "pixels"),
            let data = unsafe pixels.data
        else { throw .argument("pixels is null") }
        guard let format = unsafe try PixelFormat(pixels.format) else {
            throw .argument("pixels->format is 0: the format of the memory is required")
        }
        guard format != .yCbCr420 else {
            throw .argument("pixels->format 8 has planes: use calotype_decode_into_planes")
        }
        size = unsafe PixelSize(width: Int(pixels.width), height: Int(pixels.height))
        self.format = format
        unsafe self.data = data
        bytesPerRow = unsafe Int(pixels.bytes_per_row)
        try checkSides(size)
        rowByteCount = size.width * format.bytesPerPixel
        let (rows, overflow) = bytesPerRow.multipliedReportingOverflow(by: size.height - 1)
        let (all, overflowOfSum) = rows.addingReportingOverflow(rowByteCount)
        guard bytesPerRow >= rowByteCount, !overflow, !overflowOfSum else {
            throw .argument(
                "invalid bytes_per_row \(bytesPerRow): at least \(rowByteCount) is required")
        }
        byteCount = all
    }

    /// Writes the rows of an image of the same size and format to the memory.
    func copyRows(of image: PixelBuffer) {
        let target = unsafe UnsafeMutableRawPointer(mutating: data)
        for y in 0..<size.height {
            let row = image.row(y)
            unsafe row.withUnsafeBytes { row in
                guard let first = row.baseAddress else { return }
                unsafe (target + y * bytesPerRow).copyMemory(from: first, byteCount: rowByteCount)
            }
        }
    }

    /// Returns a copy of the pixels.
    func image() -> PixelBuffer {
        var image = MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            let source = unsafe UnsafeRawBufferPointer(
                start: data + y * bytesPerRow, count: rowByteCount)
            image.withMutableRow(y) { row in
                unsafe row.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
            }
        }
        return image.finish()
    }
}

/// Returns the pixels of an image.
@c @implementation
public func calotype_image_pixels(
    _ image: OpaquePointer!, _ pixels: UnsafeMutablePointer<calotype_pixels>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        let handle = unsafe try ImageHandle.borrowed(image, "image")
        guard let pixels = unsafe pixels else { throw .argument("pixels is null") }
        let size = unsafe pixels.pointee.struct_size
        try unsafe checkSize(size, MemoryLayout<calotype_pixels>.size, "pixels")
        guard handle.image.format != .yCbCr420 else {
            throw .argument("the image has planes: use calotype_image_planes")
        }
        guard let format = handle.image.format.code else {
            throw .codec(.unsupported(feature: "pixels of \(handle.image.format)"), file: nil)
        }
        var result = unsafe calotype_pixels()
        unsafe result.struct_size = size
        unsafe result.data = handle.address
        unsafe result.bytes_per_row = handle.image.bytesPerRow
        unsafe result.width = UInt32(clamping: handle.image.size.width)
        unsafe result.height = UInt32(clamping: handle.image.size.height)
        unsafe result.format = format
        unsafe pixels.pointee = result
    }
}

/// Frees an image.
@c @implementation
public func calotype_image_release(_ image: OpaquePointer!) { unsafe Handle.release(image) }

/// Creates a cancellation.
@c @implementation
public func calotype_cancellation_create() -> OpaquePointer! {
    unsafe CancellationHandle().passed()
}

/// Cancels calls.
@c @implementation
public func calotype_cancellation_cancel(_ cancellation: OpaquePointer!) {
    unsafe (try? flag(cancellation))?.cancel()
}

/// Frees a cancellation.
@c @implementation
public func calotype_cancellation_release(_ cancellation: OpaquePointer!) {
    unsafe Handle.release(cancellation)
}
