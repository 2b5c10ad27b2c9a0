// SPDX-License-Identifier: Apache-2.0

internal import CSandbox

/// What host and worker say to each other.
///
/// A message is 16 bytes, `magic`, its kind, the number of the request and the length of the body,
/// each 32 bits from the least on; then the body. Open files go with the first byte.
struct Message {
    enum Kind: UInt32 {
        // The host asks.
        case header = 1, metadata, image, rows, preview, frames, nextFrame, proceed, convert
        // The worker answers.
        case hello = 100, answer, failure, rowsBegin, band
    }

    var kind: Kind
    var request: UInt32
    var body: [UInt8]
    /// Open files that came along, owned by whoever received the message.
    var descriptors: [Int32] = []

    /// Three letters and the version; a worker of another version is not talked to.
    static let magic: UInt32 = 0x4431_4C43
    static let headByteCount = 16

    /// The body of a message that a host sends, or that says little, is shorter than this.
    static let maximumShortByteCount = 64 << 10

    init(_ kind: Kind, _ request: UInt32, _ body: [UInt8] = []) {
        self.kind = kind
        self.request = request
        self.body = body
    }

    var head: [UInt8] {
        [Self.magic, kind.rawValue, request, UInt32(body.count)].flatMap { number in
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
    }

    /// Reads the start of a message; in place of the body, there are as many zeros.
    init(head: [UInt8], maximumByteCount: Int) throws(WireError) {
        func number(_ index: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(head[index * 4 + $1]) << (8 * $1) }
        }
        guard head.count == Self.headByteCount, number(0) == Self.magic else {
            throw WireError(reason: "a message of another version")
        }
        guard let kind = Kind(rawValue: number(1)) else {
            throw WireError(reason: "a message of no kind")
        }
        guard number(3) <= maximumByteCount else {
            throw WireError(reason: "a message of \(number(3)) bytes")
        }
        self.init(kind, number(2), [UInt8](repeating: 0, count: Int(number(3))))
    }
}

/// A page that host and worker share: what the worker may use, and which request is called off.
///
/// The host never reads what a worker may have written there.
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

    static let byteCount = 4096

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
