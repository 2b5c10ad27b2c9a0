// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import LoadScheduling

extension HTTPLoader {
    /// A longer body of unknown length gets address space for the maximum length, so that it is not
    /// copied as it grows.
    private static let shortByteCount = 1 << 20
    private static let longestReservedByteCount = 1 << 30
    /// The maximum length of an unused body that is read so that the connection can be reused.
    private static let drainedByteCount = 64 << 10

    /// Sends one request and reads the response to its end.
    ///
    /// - Parameters:
    ///   - hop: the URL and the fields.
    ///   - conditions: the fields of a conditional request.
    ///   - prefix: the start of the body from an earlier attempt.
    ///   - room: the reservation in the body budget.
    ///   - delivery: receives the bytes of an image.
    ///   - watchdog: receives the activities.
    /// - Returns: the response, or the error and the prefix to resume from.
    func transfer(
        _ hop: HTTPLoadRequest, _ conditions: HTTPFields, _ prefix: BodyPrefix?,
        _ room: BodyRoom, _ delivery: BodyDelivery, _ watchdog: Watchdog
    ) async -> FetchAttempt {
        var download = Download(url: hop.url, prefix: prefix)
        do throws(LoadError) {
            let requestDate = clock.date()
            let response = try await transport.send(
                HTTPRequest(hop, conditions, resuming: prefix))
            watchdog.noteActivity()
            let responseDate = clock.date()
            var head = response.head
            switch head.status.code {
            case 200:
                delivery.restart()
                try download.begin(head.headerFields, responseDate)
            case 206 where prefix != nil && download.goOn(head.headerFields):
                head = HTTPResponse(status: .ok, headerFields: download.fields)
            case 206 where prefix != nil, 416 where prefix != nil:
                return FetchAttempt(outcome: .mismatch, prefix: nil)
            default:
                try await drain(response)
                let fetched = FetchedResponse(
                    head: head, bytes: [], requestDate: requestDate, responseDate: responseDate)
                return FetchAttempt(outcome: .response(fetched), prefix: prefix)
            }
            try await receive(response.body, &download, room, delivery, watchdog)
            let fetched = FetchedResponse(
                head: head, bytes: download.takeBytes(), requestDate: requestDate,
                responseDate: responseDate, room: room)
            return FetchAttempt(outcome: .response(fetched), prefix: nil)
        } catch {
            let prefix = download.prefix(after: error)
            if prefix == nil { download.drop() }
            room.shrink(to: prefix?.bytes.count ?? 0)
            return FetchAttempt(outcome: .failure(error), prefix: prefix)
        }
    }

    /// Receives the body of a response, or the rest of it after the bytes that were received before.
    private func receive(
        _ body: any AsyncSequence<[UInt8], LoadError> & Sendable, _ download: inout Download,
        _ room: BodyRoom, _ delivery: BodyDelivery,
        _ watchdog: Watchdog
    ) async throws(LoadError) {
        try check(download.expectedByteCount ?? 0, download.url)
        room.shrink(to: download.bytes.count)
        try await room.take(download.bytes.count)
        // Address space only; memory is allocated as bytes are written.
        download.bytes.reserveCapacity(
            min(download.expectedByteCount ?? 0, Self.longestReservedByteCount))
        let mediaType = download.fields.mediaType
        for try await piece in body {
            watchdog.noteActivity()
            let byteCount = download.bytes.count + piece.count
            try check(byteCount, download.url)
            try await room.take(byteCount)
            watchdog.noteActivity()
            if byteCount > max(download.bytes.capacity, Self.shortByteCount) {
                download.bytes.reserveCapacity(reservedByteCount)
            }
            download.bytes += piece
            try delivery.receive(
                download.bytes, of: download.expectedByteCount, mediaType: mediaType)
        }
        guard !Task.isCancelled else { throw .cancelled }
        try download.checkEnd()
        try delivery.receive(
            download.bytes, of: download.expectedByteCount, mediaType: mediaType, isWhole: true)
    }

    /// The address space for a body of unknown length.
    private var reservedByteCount: Int {
        min(
            configuration.maximumBodyByteCount, configuration.bodyBudget.bodyByteLimit,
            Self.longestReservedByteCount)
    }

    private func check(_ byteCount: Int, _ url: HTTPURL) throws(LoadError) {
        let allowed = configuration.maximumBodyByteCount
        guard byteCount <= allowed else {
            throw .decodingFailed(
                path: "\(url)", .limitExceeded(.byteCount, needed: byteCount, allowed: allowed))
        }
    }

    /// Reads a short body to its end and abandons a longer one.
    private func drain(_ response: HTTPTransportResponse) async throws(LoadError) {
        var byteCount = 0
        for try await piece in response.body {
            byteCount += piece.count
            if byteCount > Self.drainedByteCount { return }
        }
    }
}

/// A body that is being received.
private struct Download {
    let url: HTTPURL
    private let oldPrefix: BodyPrefix?
    private var responseDate = 0
    private var hasBegun = false
    private var isContinuing = false
    private(set) var fields: HTTPFields = [:]
    private(set) var expectedByteCount: Int?
    var bytes: [UInt8] = []

    init(url: HTTPURL, prefix: BodyPrefix?) {
        self.url = url
        oldPrefix = prefix
    }

    /// Starts a body at its first byte.
    mutating func begin(_ fields: HTTPFields, _ responseDate: Int) throws(LoadError) {
        self.fields = fields
        self.responseDate = responseDate
        expectedByteCount = fields.contentByteCount
        hasBegun = true
        let coding = fields[.contentEncoding].map { trimmed($0).lowercased() } ?? "identity"
        guard coding == "identity" || coding.isEmpty else {
            throw .badResponse(url: "\(url)", reason: "unexpected content coding: \(coding)")
        }
    }

    /// Resumes the body after the prefix.
    ///
    /// - Returns: whether the fields describe exactly the rest.
    mutating func goOn(_ fields: HTTPFields) -> Bool {
        guard let oldPrefix, let range = ContentRange(fields[.contentRange] ?? ""),
            range.first == oldPrefix.bytes.count, range.last == oldPrefix.wholeByteCount - 1,
            range.wholeByteCount ?? oldPrefix.wholeByteCount == oldPrefix.wholeByteCount,
            fields[.eTag] ?? oldPrefix.validator == oldPrefix.fields[.eTag] ?? oldPrefix.validator
        else { return false }
        self.fields = oldPrefix.fields.updated(by: fields)
        expectedByteCount = oldPrefix.wholeByteCount
        bytes = oldPrefix.bytes
        hasBegun = true
        isContinuing = true
        return true
    }

    /// Returns the body, copied if it is short and has excess capacity.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        guard bytes.count < bytes.capacity / 2, bytes.count <= Self.copiedByteCount else {
            return bytes
        }
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        copy.append(contentsOf: bytes)
        return copy
    }

    /// Releases the memory of an unused body.
    mutating func drop() {
        let isLarge = bytes.count > Self.copiedByteCount
        bytes = []
        if isLarge { returnFreedMemory() }
    }

    private static let copiedByteCount = 4 << 20

    /// Checks the length: some transports report a closed connection as the end of the body.
    func checkEnd() throws(LoadError) {
        guard let expectedByteCount, bytes.count != expectedByteCount else { return }
        throw .connectionFailed(
            url: "\(url)",
            reason: "connection closed after \(bytes.count) of \(expectedByteCount) bytes")
    }

    /// Returns the prefix from which another attempt can resume.
    func prefix(after error: LoadError) -> BodyPrefix? {
        guard hasBegun else { return oldPrefix }
        switch error {
        case .connectionFailed, .timedOut, .cancelled: break
        // The next attempt would receive the same bytes.
        default: return nil
        }
        if isContinuing, var prefix = oldPrefix {
            prefix.bytes = bytes
            return bytes.count < prefix.wholeByteCount ? prefix : nil
        }
        return BodyPrefix(fields: fields, bytes: bytes, responseDate: responseDate)
    }
}

extension HTTPRequest {
    fileprivate init(
        _ hop: HTTPLoadRequest, _ conditions: HTTPFields, resuming prefix: BodyPrefix?
    ) {
        var fields = hop.fields
        for field in conditions { fields.append(field) }
        for field in hop.trace?.fields ?? [:] { fields[field.name] = field.value }
        if let prefix {
            fields[.range] = "bytes=\(prefix.bytes.count)-"
            fields[.ifRange] = prefix.validator
        }
        self.init(
            method: .get, scheme: hop.url.scheme.rawValue, authority: hop.url.authority,
            path: hop.url.path, headerFields: fields)
    }
}
