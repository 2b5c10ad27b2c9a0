// SPDX-License-Identifier: Apache-2.0

/// An image in sealed shared memory: other processes can map it, and no process can change it.
///
/// A process sends ``descriptor`` with the size and the format, for example over a Unix socket; the
/// receiver maps the same memory with ``init(descriptor:size:format:colorProfile:)``.
///
/// Shape: the memory contains the planes as a ``PixelBuffer`` describes them, from its first byte.
public struct SharedPixels: Sendable {
    /// The image, whose pixels are in the shared memory.
    public let image: PixelBuffer

    private let shared: SharedDescriptor

    /// The file descriptor of the memory, which is open as long as a copy of this value exists.
    public var descriptor: Int32 { shared.number }

    /// Copies an image into shared memory and seals it.
    ///
    /// - Parameter image: the image.
    /// - Throws: ``PixelError/memoryUnavailable(byteCount:)``.
    public init(_ image: PixelBuffer) throws(PixelError) {
        let image = image.withAlignedRows
        let byteCount = image.byteCount
        guard let shared = SharedDescriptor(byteCount: byteCount) else {
            throw .memoryUnavailable(byteCount: byteCount)
        }
        try Self.write(image.bytes, to: shared)
        // Possible only after the writable mapping has ended.
        guard shared.seal() else { throw .memoryUnavailable(byteCount: byteCount) }
        try self.init(shared, image.size, image.format, image.colorProfile)
    }

    /// Maps an image that another process has shared.
    ///
    /// - Parameters:
    ///   - descriptor: the file descriptor of the memory, which may be closed afterwards.
    ///   - size: the size in pixels.
    ///   - format: the format of the planes and samples.
    ///   - colorProfile: the colour space of the samples.
    /// - Throws: ``PixelError/notSealed(reason:)`` if a process can still change the memory, or if it is
    ///   smaller than the image; ``PixelError/invalidLayout(reason:)`` for an empty size.
    public init(
        descriptor: Int32, size: PixelSize, format: PixelFormat,
        colorProfile: ColorProfile = .sRGB
    ) throws(PixelError) {
        guard !size.isEmpty else {
            throw .invalidLayout(reason: "invalid image size \(size): at least 1x1 is required")
        }
        guard let shared = SharedDescriptor(duplicating: descriptor) else {
            throw .notSealed(reason: "descriptor \(descriptor) cannot be duplicated")
        }
        guard shared.isSealed else {
            throw .notSealed(reason: "the memory is not sealed against writing and shrinking")
        }
        try self.init(shared, size, format, colorProfile)
    }

    private init(
        _ shared: SharedDescriptor, _ size: PixelSize, _ format: PixelFormat,
        _ colorProfile: ColorProfile
    ) throws(PixelError) {
        let needed = PixelBuffer.byteCount(of: size, format)
        guard needed <= shared.byteCount else {
            throw .notSealed(
                reason: "\(shared.byteCount) bytes; the image needs \(needed)")
        }
        guard let mapping = MemoryMapping(shared.number, byteCount: needed) else {
            throw .memoryUnavailable(byteCount: needed)
        }
        self.shared = shared
        image = PixelBuffer(mapping, size: size, format: format, colorProfile: colorProfile)
    }

    private static func write(
        _ bytes: Span<UInt8>, to shared: SharedDescriptor
    ) throws(PixelError) {
        guard
            let mapping = MemoryMapping(shared.number, byteCount: bytes.count, isWritable: true)
        else { throw .memoryUnavailable(byteCount: bytes.count) }
        mapping.write(bytes)
    }
}
