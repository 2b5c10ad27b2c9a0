// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Shared memory into which a worker writes the pixels of a result.
///
/// Its size is fixed before the worker receives it, so that no access of the host is out of bounds.
/// A small result is copied out of the buffer that every worker has; a larger one has memory of its own,
/// which is sealed before it is read. In both cases the worker cannot change what the host has received.
final class ReceivedPixels {
    private let buffer: MemoryMapping
    private let shared: SharedDescriptor?
    private let byteCount: Int
    /// The offset of the next image.
    private var position = 0
    private var mapping: MemoryMapping?

    /// Allocates memory for `byteCount` bytes, unless the worker's buffer suffices or no pixels are
    /// expected.
    init(_ byteCount: Int?, buffer: MemoryMapping) throws(CodecError) {
        self.buffer = buffer
        self.byteCount = byteCount ?? 0
        guard let byteCount, byteCount > ControlPage.bufferByteCount else {
            shared = nil
            return
        }
        guard let shared = SharedDescriptor(byteCount: byteCount) else {
            throw .sandboxUnavailable(reason: "no shared memory of \(byteCount) bytes")
        }
        self.shared = shared
    }

    /// The descriptors that are sent to the worker.
    var descriptors: [Int32] { shared.map { [$0.number] } ?? [] }

    /// Returns the next image that the worker has written.
    ///
    /// - Parameters:
    ///   - reader: the description of the image.
    ///   - isOnly: whether the memory contains no other image; the result then owns the memory instead
    ///     of a copy.
    /// - Returns: the image.
    /// - Throws: ``WireError`` if the image does not fit in the memory, or the worker still has the
    ///   memory mapped.
    func image(
        _ reader: inout WireReader, isOnly: Bool = true
    ) throws(WireError) -> PixelBuffer {
        let size = try PixelSize(imageFrom: &reader)
        let format = try reader.value(PixelFormat.self)
        let profile = try reader.value(ColorProfile.self)
        let needed = PixelBuffer.byteCount(of: size, format)
        guard needed <= byteCount - position else {
            throw WireError(reason: "an image of \(size) pixels does not fit in \(byteCount) bytes")
        }
        defer { position += needed }
        guard let shared else {
            return PixelBuffer(
                copying: buffer, at: ControlPage.pageByteCount + position, size: size,
                format: format, colorProfile: profile)
        }
        if let mapping {
            return PixelBuffer(
                copying: mapping, at: position, size: size, format: format, colorProfile: profile)
        }
        guard shared.seal() else {
            throw WireError(reason: "the worker has not unmapped its result")
        }
        let mappedByteCount = isOnly ? needed : byteCount
        guard let mapping = MemoryMapping(shared.number, byteCount: mappedByteCount) else {
            throw WireError(reason: "the result cannot be mapped")
        }
        guard isOnly else {
            self.mapping = mapping
            return PixelBuffer(
                copying: mapping, at: position, size: size, format: format, colorProfile: profile)
        }
        return PixelBuffer(mapping, size: size, format: format, colorProfile: profile)
    }

    /// Returns the planes that the worker has written after the images.
    ///
    /// - Throws: ``WireError``.
    func planes(_ reader: inout WireReader) throws(WireError) -> ReducedPlanes? {
        guard try reader.value(Bool.self) else { return nil }
        let (least, most) = (try reader.value(Double.self), try reader.value(Double.self))
        guard least < most, try reader.number() == 3 else {
            throw WireError(reason: "planes are not described")
        }
        var planes: [ReducedPlanes.Plane] = []
        for _ in 0..<3 {
            planes.append(
                ReducedPlanes.Plane(
                    try image(&reader, isOnly: false),
                    horizontalScale: try reader.value(), verticalScale: try reader.value()))
        }
        return ReducedPlanes(planes, least..<most)
    }
}
