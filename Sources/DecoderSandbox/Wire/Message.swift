// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import Pixels

/// What host and worker say to each other.
///
/// A message is 16 bytes, `magic`, its kind, the number of the request and the length of the body,
/// each 32 bits from the least on; then the body. Open files go with the first byte.
/// The first message is the worker's hello: the ``WireLayout/fingerprint``, and its layers.
struct Message {
    enum Kind: UInt32, CaseIterable {
        // The host asks.
        case header = 1, metadata, image, rows, preview, frames, nextFrame, proceed, convert
        case metadataFields, metadataForWriting, encode, images
        // The worker answers.
        case hello = 100, answer, failure, rowsBegin, band
    }

    var kind: Kind
    var request: UInt32
    var body: [UInt8]
    /// Open files that came along, owned by whoever received the message.
    var descriptors: [Int32] = []

    /// Three letters and the version of what every message begins with, and of the worker's first.
    static let magic: UInt32 = 0x4432_4C43
    static let headByteCount = 16

    /// The body of a message that a host sends, or that says little, is shorter than this.
    static let maximumShortByteCount = 64 << 10

    init(_ kind: Kind, _ request: UInt32, _ body: [UInt8] = []) {
        self.kind = kind
        self.request = request
        self.body = body
    }

    /// The head and the body, as they are sent.
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
    /// Host and worker speak in turns, so nothing can follow it yet: it is asked for more than a
    /// short message has, which then comes in one piece.
    ///
    /// - Parameters:
    ///   - maximumByteCount: how long the body may be.
    ///   - receive: fills bytes from a place on and says how many came; 0 if there will be no more,
    ///     and then there is no message.
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
                throw WireError(reason: "a message of \(bodyByteCount) bytes")
            }
            end += bodyByteCount
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        }
        guard let kind, count == end else { throw WireError(reason: "a message that goes on") }
        self.init(
            kind, Self.number(2, of: bytes), Array(bytes[Self.headByteCount..<end]))
    }

    private static func readHead(
        _ bytes: [UInt8]
    ) throws(WireError) -> (kind: Kind, bodyByteCount: Int) {
        guard number(0, of: bytes) == magic else {
            throw WireError(reason: "a message of another version")
        }
        guard let kind = Kind(rawValue: number(1, of: bytes)) else {
            throw WireError(reason: "a message of no kind")
        }
        return (kind, Int(number(3, of: bytes)))
    }

    private static func number(_ index: Int, of head: [UInt8]) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(head[index * 4 + $1]) << (8 * $1) }
    }
}

/// Memory that host and worker share: a page that says what the worker may use and which request is
/// called off, and a room for results behind it.
///
/// The host never reads what a worker may have written to the page, and copies what is in the room.
@safe final class ControlPage: Sendable {
    // Mapped for the whole life of the object, and only touched by atomic operations.
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
    /// Results that take no more than this go through the room, larger ones through memory of their
    /// own: taking, sealing and giving back pages costs more than one more copy of a thumbnail.
    ///
    /// 1,024 pixels square, and one more for a proportion that is rounded in another way.
    static let roomByteCount = PixelBuffer.byteCount(
        of: PixelSize(width: 1025, height: 1025), .rgba8)
    static let byteCount = pageByteCount + roomByteCount

    private subscript(word: Word) -> UInt32 {
        get { unsafe calotype_load(page.advanced(by: word.rawValue * 4)) }
        set { unsafe calotype_store(page.advanced(by: word.rawValue * 4), newValue) }
    }

    /// The number of the request whose answer nobody waits for any more; 0 is none.
    var cancelledRequest: UInt32 {
        get { self[.cancelledRequest] }
        set { self[.cancelledRequest] = newValue }
    }

    /// How much address space a worker may take.
    var memoryMegabytes: UInt32 {
        get { self[.memoryMegabytes] }
        set { self[.memoryMegabytes] = newValue }
    }

    /// How long a worker may compute in all.
    var seconds: UInt32 {
        get { self[.seconds] }
        set { self[.seconds] = newValue }
    }
}
