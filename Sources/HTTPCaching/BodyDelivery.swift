// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Synchronization

/// Tells the consumer what comes of a body, over several tries, once it is clear that it is a picture.
///
/// A lock: the tries follow one another, and the lock only says so to the compiler. The consumer is
/// called without it.
final class BodyDelivery: Sendable {
    private struct State {
        var deliveredByteCount = 0
        var isPicture = false
    }

    private let url: HTTPURL
    private let codecs: CodecSet
    private let maximumByteCount: Int
    private let receive: @Sendable (HTTPLoadEvent) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - url: where the body comes from.
    ///   - codecs: the formats by which a picture is known.
    ///   - maximumByteCount: the bytes that the consumer gets, from the start.
    ///   - receive: the consumer.
    init(
        url: HTTPURL, codecs: CodecSet, maximumByteCount: Int,
        _ receive: @escaping @Sendable (HTTPLoadEvent) -> Void
    ) {
        self.url = url
        self.codecs = codecs
        self.maximumByteCount = maximumByteCount
        self.receive = receive
    }

    /// The body begins anew.
    func restart() {
        let wasDelivered = state.withLock { state in
            defer { state = State() }
            return state.deliveredByteCount > 0
        }
        if wasDelivered { receive(.restart) }
    }

    /// More bytes are there, or the last ones.
    ///
    /// - Parameters:
    ///   - bytes: all from the beginning.
    ///   - expectedByteCount: how many there will be.
    ///   - mediaType: what the server says that they are.
    ///   - isWhole: whether no more will come.
    /// - Throws: `LoadError.badResponse(url:reason:)` for what is no picture.
    func receive(
        _ bytes: [UInt8], of expectedByteCount: Int?, mediaType: String?, isWhole: Bool = false
    ) throws(LoadError) {
        if !state.withLock({ $0.isPicture }) {
            let kind = ContentKind(bytes.span, mediaType: mediaType, isWhole: isWhole, codecs)
            switch kind {
            case .picture: state.withLock { $0.isPicture = true }
            case .other:
                throw .badResponse(
                    url: "\(url)", reason: "no picture, but \(mediaType ?? "something else")")
            case .undecided: return
            }
        }
        let first = state.withLock { state in
            defer { state.deliveredByteCount = bytes.count }
            return state.deliveredByteCount
        }
        guard first < bytes.count else { return }
        let end = min(bytes.count, maximumByteCount)
        if first < end { receive(.bytes(Array(bytes[first..<end]))) }
        receive(
            .progress(receivedByteCount: bytes.count, expectedByteCount: expectedByteCount))
    }
}

/// Whether a body is a picture: servers answer with pages of text where a picture was.
enum ContentKind: Equatable {
    case picture
    case other
    /// More bytes will tell.
    case undecided

    /// As many bytes tell every format.
    private static let signatureByteCount = 4096

    init(_ bytes: Span<UInt8>, mediaType: String?, isWhole: Bool, _ codecs: CodecSet) {
        switch Self.page(bytes) {
        case true?: self = .other
        case nil: self = isWhole ? .other : .undecided
        case false?:
            if Self.mayBePicture(mediaType) || codecs.codec(for: bytes) != nil {
                self = .picture
            } else {
                self = isWhole || bytes.count >= Self.signatureByteCount ? .other : .undecided
            }
        }
    }

    /// Whether a server says that of pictures.
    private static func mayBePicture(_ mediaType: String?) -> Bool {
        guard let mediaType else { return true }
        return mediaType.hasPrefix("image/")
            || ["application/octet-stream", "binary/octet-stream"].contains(mediaType)
    }

    /// Whether it is a page of HTML, whatever it is said to be; `nil` if too few bytes are there.
    private static func page(_ bytes: Span<UInt8>) -> Bool? {
        var start = 0
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { start = 3 }
        while start < bytes.count, [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(bytes[start]) {
            start += 1
        }
        guard start < bytes.count else { return nil }
        for opening in ["<!doctype html", "<html"] {
            let opening = Array(opening.utf8)
            let count = min(opening.count, bytes.count - start)
            // In lower case, which leaves what is no letter in these words as it is.
            guard (0..<count).allSatisfy({ bytes[start + $0] | 0x20 == opening[$0] | 0x20 }) else {
                continue
            }
            return count == opening.count ? true : nil
        }
        return false
    }
}
