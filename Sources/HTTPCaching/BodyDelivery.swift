// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Synchronization

/// Sends the events of a body, over several attempts, to the consumer once it is known to be an
/// image.
///
/// The attempts are sequential; the lock only satisfies the compiler and is not held during
/// callbacks.
final class BodyDelivery: Sendable {
    private struct State {
        var deliveredByteCount = 0
        var isImage = false
    }

    private let url: HTTPURL
    private let codecs: CodecSet
    private let maximumByteCount: Int
    private let receive: @Sendable (HTTPLoadEvent) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - url: the URL of the body.
    ///   - codecs: the formats that are detected.
    ///   - maximumByteCount: the number of bytes from the start that the consumer receives.
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

    /// Restarts the body at its first byte.
    func restart() {
        let wasDelivered = state.withLock { state in
            defer { state = State() }
            return state.deliveredByteCount > 0
        }
        if wasDelivered { receive(.restart) }
    }

    /// Reports that more bytes were received.
    ///
    /// - Parameters:
    ///   - bytes: all bytes from the start.
    ///   - expectedByteCount: the length of the whole body.
    ///   - mediaType: the media type by `Content-Type`.
    ///   - isWhole: whether the body is complete.
    /// - Throws: `LoadError.badResponse(url:reason:)` if the body is not an image.
    func receive(
        _ bytes: [UInt8], of expectedByteCount: Int?, mediaType: String?, isWhole: Bool = false
    ) throws(LoadError) {
        if !state.withLock({ $0.isImage }) {
            let kind = ContentKind(bytes.span, mediaType: mediaType, isWhole: isWhole, codecs)
            switch kind {
            case .image: state.withLock { $0.isImage = true }
            case .other:
                throw .badResponse(
                    url: "\(url)", reason: "not an image: \(mediaType ?? "unknown format")")
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

/// Whether a body is an image: servers return HTML pages in place of missing images.
enum ContentKind: Equatable {
    case image
    case other
    /// More bytes are needed.
    case undecided

    /// The number of bytes in which every format is detected.
    private static let signatureByteCount = 4096

    init(_ bytes: Span<UInt8>, mediaType: String?, isWhole: Bool, _ codecs: CodecSet) {
        switch Self.page(bytes) {
        case true?: self = .other
        case nil: self = isWhole ? .other : .undecided
        case false?:
            if Self.mayBeImage(mediaType) || codecs.codec(for: bytes) != nil {
                self = .image
            } else {
                self = isWhole || bytes.count >= Self.signatureByteCount ? .other : .undecided
            }
        }
    }

    /// Returns whether servers use a media type for images.
    private static func mayBeImage(_ mediaType: String?) -> Bool {
        guard let mediaType else { return true }
        return mediaType.hasPrefix("image/")
            || ["application/octet-stream", "binary/octet-stream"].contains(mediaType)
    }

    /// Returns whether the bytes start like an HTML page, whatever the media type; `nil` if more
    /// are needed.
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
            // Setting the bit makes letters lower case and keeps `<`, `!` and spaces.
            guard (0..<count).allSatisfy({ bytes[start + $0] | 0x20 == opening[$0] | 0x20 }) else {
                continue
            }
            return count == opening.count ? true : nil
        }
        return false
    }
}
