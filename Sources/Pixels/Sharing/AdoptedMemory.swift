// SPDX-License-Identifier: Apache-2.0

/// Memory of another library with the planes of an image, released with its last reference.
@safe
final class AdoptedMemory: Sendable {
    // Constant, and neither written nor released while this object exists, which the creator ensures.
    nonisolated(unsafe) private let start: UnsafeRawPointer
    let byteCount: Int
    let planes: [PlaneLayout]
    private let release: @Sendable () -> Void

    init(
        _ memory: UnsafeRawBufferPointer, _ start: UnsafeRawPointer, _ planes: [PlaneLayout],
        _ release: @escaping @Sendable () -> Void
    ) {
        unsafe self.start = start
        byteCount = memory.count
        self.planes = planes
        self.release = release
    }

    deinit { release() }

    var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
            let span = unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }
}

/// The position of a plane in memory of another library.
public struct PlanePosition: Hashable, Sendable {
    /// The offset of the first row in bytes.
    public var offset: Int
    /// The stride of the rows in bytes.
    public var bytesPerRow: Int

    /// Creates a position.
    ///
    /// - Parameters:
    ///   - offset: the offset of the first row in bytes.
    ///   - bytesPerRow: the stride of the rows in bytes.
    public init(offset: Int = 0, bytesPerRow: Int) {
        self.offset = offset
        self.bytesPerRow = bytesPerRow
    }
}

extension PixelBuffer {
    /// Creates an image in memory of another library, without a copy.
    ///
    /// The memory must contain the same bytes until `release` is called: with the last copy of the
    /// image, once, on any thread.
    ///
    /// - Parameters:
    ///   - memory: the memory; the address of samples with 2 bytes must be even.
    ///   - size: the size in pixels.
    ///   - format: the format of the planes and samples.
    ///   - planes: the positions of the planes in the memory.
    ///   - colorProfile: the colour space of the samples.
    ///   - release: releases the memory. If an error is thrown, the caller keeps the memory, and this
    ///     function is never called.
    /// - Throws: ``PixelError/invalidLayout(reason:)``.
    @unsafe
    public init(
        adopting memory: UnsafeRawBufferPointer, size: PixelSize, format: PixelFormat,
        planes: [PlanePosition], colorProfile: ColorProfile = .sRGB,
        release: @escaping @Sendable () -> Void
    ) throws(PixelError) {
        guard !size.isEmpty, size.largestSide <= 1 << 30 else {
            throw .invalidLayout(reason: "invalid image size \(size): at least 1x1 is required")
        }
        guard planes.count == format.planeCount else {
            throw .invalidLayout(
                reason: "\(planes.count) planes; \(format) has \(format.planeCount)")
        }
        let layouts = planes.indices.map { index in
            PlaneLayout(
                index, format, size, offset: planes[index].offset,
                bytesPerRow: planes[index].bytesPerRow)
        }
        guard let start = memory.baseAddress else {
            throw .invalidLayout(reason: "the address of the memory is null")
        }
        for (index, layout) in layouts.enumerated() {
            unsafe try layout.check(
                index, alignment: format.plane(index).bytesPerChannel, in: memory, at: start)
        }
        self.init(
            unsafe AdoptedMemory(memory, start, layouts, release), size: size, format: format,
            colorProfile: colorProfile)
    }

    /// Calls `body` with the memory of all planes, padding included.
    ///
    /// The address is the same for each call and for all copies of this image, and valid while one of them
    /// exists: consumers that keep a copy may keep the address. ``layout(ofPlane:)`` describes the bytes,
    /// which must not be changed.
    ///
    /// - Parameter body: receives the bytes.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    @unsafe
    public func withMemory<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe bytes.withUnsafeBytes(body)
    }

    /// Returns a pointer that keeps the memory until ``releaseMemory(_:)`` is called with it.
    @unsafe
    public func retainMemory() -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(ImageReference(image: self)).toOpaque()
    }

    /// Ends the use of the memory by a consumer in C; may be called on any thread.
    ///
    /// - Parameter reference: a result of ``retainMemory()``, which may be passed once.
    @unsafe
    public static func releaseMemory(_ reference: UnsafeMutableRawPointer) {
        unsafe Unmanaged<ImageReference>.fromOpaque(reference).release()
    }
}

/// An image that a consumer in C keeps by a pointer.
private final class ImageReference: Sendable {
    let image: PixelBuffer

    init(image: PixelBuffer) { self.image = image }
}

extension PlaneLayout {
    /// Checks that all rows lie in the memory and that its samples are aligned.
    fileprivate func check(
        _ plane: Int, alignment: Int, in memory: UnsafeRawBufferPointer,
        at start: UnsafeRawPointer
    ) throws(PixelError) {
        let rowByteCount = size.width * bytesPerPixel
        let (rows, isTooLarge) = bytesPerRow.multipliedReportingOverflow(by: size.height - 1)
        let count = memory.count
        guard bytesPerRow >= rowByteCount else {
            throw .invalidLayout(
                reason: "plane \(plane) has rows of \(bytesPerRow) bytes; "
                    + "at least \(rowByteCount) are required")
        }
        guard !isTooLarge, offset >= 0, offset <= count, rowByteCount <= count - offset,
            rows <= count - offset - rowByteCount
        else {
            throw .invalidLayout(
                reason: "plane \(plane) at byte \(offset) exceeds the memory of \(count) bytes")
        }
        let address = Int(bitPattern: start) &+ offset
        guard address % alignment == 0, bytesPerRow % alignment == 0 else {
            throw .invalidLayout(
                reason: "the rows of plane \(plane) are not aligned to \(alignment) bytes")
        }
    }
}
