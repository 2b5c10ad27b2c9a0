// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import Pixels

/// A message between host and worker.
///
/// A message has a head of 16 bytes – `magic`, the kind, the request number and the length of the body,
/// each a little-endian 32-bit integer – and the body. Descriptors are sent with the first byte.
/// The first message is the worker's hello: the ``WireLayout/fingerprint``, and its layers.
struct Message {
    enum Kind: UInt32, CaseIterable {
        // Sent by the host.
        case header = 1, metadata, image, rows, preview, frames, nextFrame, proceed, convert
        case metadataFields, metadataForWriting, encode, images, jpegTiles, makeIndex
        case gainMap, sizes
        // Sent by the worker.
        case hello = 100, answer, failure, rowsBegin, band
    }

    var kind: Kind
    var request: UInt32
    var body: [UInt8]
    /// The descriptors that were received with the message, owned by the receiver.
    var descriptors: [Int32] = []

    /// Three letters and the version of the head and of the hello message.
    static let magic: UInt32 = 0x4432_4C43
    static let headByteCount = 16

    /// The maximum length of the body of a message to a worker, or of a hello message, in bytes.
    static let maximumShortByteCount = 64 << 10

    init(_ kind: Kind, _ request: UInt32, _ body: [UInt8] = []) {
        self.kind = kind
        self.request = request
        self.body = body
    }

    /// The encoded head and body.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headByteCount + body.count)
        for number in [Self.magic, kind.rawValue, request, UInt32(body.count)] {
            for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
        }
        bytes += body
        return bytes
    }

    /// Receives a message.
    ///
    /// Host and worker take turns, so no other message can follow: the first read requests more bytes
    /// than a short message has, which then arrives in one piece.
    ///
    /// - Parameters:
    ///   - maximumByteCount: the maximum length of the body.
    ///   - receive: fills the bytes from an offset on and returns their number; 0 at the end of the
    ///     connection, for which the result is `nil`.
    /// - Throws: ``WireError``.
    init?(
        maximumByteCount: Int, receive: (_ bytes: inout [UInt8], _ place: Int) -> Int
    ) throws(WireError) {
        var bytes = [UInt8](repeating: 0, count: 1024)
        var count = 0
        var kind: Kind?
        var end = Self.headByteCount
        while count < end {
            let received = receive(&bytes, count)
            guard received > 0 else { return nil }
            count += received
            guard kind == nil, count >= Self.headByteCount else { continue }
            let bodyByteCount: Int
            (kind, bodyByteCount) = try Self.readHead(bytes)
            guard bodyByteCount <= maximumByteCount else {
                throw WireError(
                    reason:
                        "the message has \(bodyByteCount) bytes, at most \(maximumByteCount) are allowed"
                )
            }
            end += bodyByteCount
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        }
        guard let kind, count == end else { throw WireError(reason: "bytes follow the message") }
        self.init(
            kind, Self.number(2, of: bytes), Array(bytes[Self.headByteCount..<end]))
    }

    private static func readHead(
        _ bytes: [UInt8]
    ) throws(WireError) -> (kind: Kind, bodyByteCount: Int) {
        guard number(0, of: bytes) == magic else {
            throw WireError(reason: "the message is of another protocol version")
        }
        guard let kind = Kind(rawValue: number(1, of: bytes)) else {
            throw WireError(reason: "the message is of an unknown kind")
        }
        return (kind, Int(number(3, of: bytes)))
    }

    private static func number(_ index: Int, of head: [UInt8]) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(head[index * 4 + $1]) << (8 * $1) }
    }
}

/// The memory that host and worker share: a page with the limits of the worker and the number of the
/// cancelled request, and the buffer for small results after it.
///
/// The host never reads the page, which the worker can overwrite, and copies results out of the buffer.
@safe final class ControlPage: Sendable {
    // Mapped for the lifetime of the object, and accessed by atomic operations only.
    nonisolated(unsafe) private let page: UnsafeMutableRawPointer

    private enum Word: Int {
        case cancelledRequest, memoryMegabytes, seconds
    }

    init?(_ descriptor: Int32) {
        guard let page = unsafe calotype_map_control(descriptor) else { return nil }
        unsafe self.page = page
    }

    deinit { unsafe calotype_unmap_control(page) }

    static let pageByteCount = 4096
    /// The size of the buffer for results, in bytes.
    ///
    /// Larger results have shared memory of their own:
    /// allocating, sealing and freeing it costs more than an additional copy of a thumbnail.
    ///
    /// 1,024 × 1,024 pixels, and one more row and column for rounding of the aspect ratio.
    static let bufferByteCount = PixelBuffer.byteCount(
        of: PixelSize(width: 1025, height: 1025), .rgba8)
    static let byteCount = pageByteCount + bufferByteCount

    private subscript(word: Word) -> UInt32 {
        get { unsafe calotype_load(page.advanced(by: word.rawValue * 4)) }
        set { unsafe calotype_store(page.advanced(by: word.rawValue * 4), newValue) }
    }

    /// The number of the cancelled request; 0 if there is none.
    var cancelledRequest: UInt32 {
        get { self[.cancelledRequest] }
        set { self[.cancelledRequest] = newValue }
    }

    /// The maximum number of bytes that the worker allocates, in MiB.
    var memoryMegabytes: UInt32 {
        get { self[.memoryMegabytes] }
        set { self[.memoryMegabytes] = newValue }
    }

    /// The maximum processor time of the worker, in seconds.
    var seconds: UInt32 {
        get { self[.seconds] }
        set { self[.seconds] = newValue }
    }
}
