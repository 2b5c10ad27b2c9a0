// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
internal import Pixels

/// Memory into which a worker writes the pixels of a result.
///
/// Its size is fixed before the worker gets it, so that no access of the host can fall behind its end.
/// A small result is copied out of the room that the worker always has; memory of its own is sealed
/// afterwards. Either way the worker cannot change what the host has taken for good.
final class ReceivedPixels {
    private let room: MemoryMapping
    private let shared: SharedDescriptor?
    private let byteCount: Int
    /// Where the next picture is.
    private var position = 0
    private var mapping: MemoryMapping?

    /// Takes memory for `byteCount` bytes, unless the room is enough or no pixels are expected.
    init(_ byteCount: Int?, room: MemoryMapping) throws(CodecError) {
        self.room = room
        self.byteCount = byteCount ?? 0
        if let byteCount, byteCount > ControlPage.roomByteCount {
            shared = try SharedDescriptor(byteCount: byteCount)
        } else {
            shared = nil
        }
    }

    /// What goes to the worker.
    var descriptors: [Int32] { shared.map { [$0.number] } ?? [] }

    /// The next picture that the worker reports to have written; the only one keeps the memory instead
    /// of a copy.
    func image(
        _ reader: inout WireReader, isOnly: Bool = true
    ) throws(WireError) -> PixelBuffer {
        let size = try PixelSize(pictureFrom: &reader)
        let format = try reader.value(PixelFormat.self)
        let profile = try reader.value(ColorProfile.self)
        let needed = PixelBuffer.byteCount(of: size, format)
        guard needed <= byteCount - position else {
            throw WireError(reason: "a picture of \(size) pixels in \(byteCount) bytes")
        }
        defer { position += needed }
        guard let shared else {
            return PixelBuffer(
                copying: room, at: ControlPage.pageByteCount + position, size: size,
                format: format, colorProfile: profile)
        }
        if let mapping {
            return PixelBuffer(
                copying: mapping, at: position, size: size, format: format, colorProfile: profile)
        }
        guard calotype_seal(shared.number) == 0 else {
            throw WireError(reason: "a result that is still being written")
        }
        let mappedByteCount = isOnly ? needed : byteCount
        guard let mapping = MemoryMapping(shared.number, byteCount: mappedByteCount) else {
            throw WireError(reason: "a result that cannot be mapped")
        }
        guard isOnly else {
            self.mapping = mapping
            return PixelBuffer(
                copying: mapping, at: position, size: size, format: format, colorProfile: profile)
        }
        return PixelBuffer(mapping, size: size, format: format, colorProfile: profile)
    }
}
