// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import LoadScheduling

/// A complete response of a server.
struct FetchedResponse: Sendable {
    var head: HTTPResponse
    var bytes: [UInt8]
    /// The time of the request, in seconds since 1970.
    let requestDate: Int
    /// The time at which the head was received, in seconds since 1970.
    let responseDate: Int
    /// The reservation in the body budget.
    var room: BodyRoom?
}

/// The start of a body, from which a download can be resumed.
struct BodyPrefix: Equatable, Sendable {
    /// The fields of the response that started it.
    var fields: HTTPFields
    var bytes: [UInt8]
    let wholeByteCount: Int
    /// The strong validator for `If-Range`.
    let validator: String

    /// Creates a prefix; returns `nil` if the response cannot be resumed, or if no bytes or all
    /// were received.
    ///
    /// - Parameters:
    ///   - fields: the fields of the response.
    ///   - bytes: the bytes received.
    ///   - responseDate: the time at which the head was received.
    init?(fields: HTTPFields, bytes: [UInt8], responseDate: Int) {
        let units = (fields[.acceptRanges] ?? "").split(separator: ",").map {
            trimmed($0).lowercased()
        }
        guard units.contains("bytes"),
            let validator = fields.strongValidator(responseDate: responseDate),
            let wholeByteCount = fields.contentByteCount, !bytes.isEmpty,
            bytes.count < wholeByteCount
        else { return nil }
        self.fields = fields
        self.bytes = bytes
        self.wholeByteCount = wholeByteCount
        self.validator = validator
    }

    /// Creates a prefix from a stored partial response.
    init?(_ kept: StoredResponse) {
        let fields = kept.fields
        guard let wholeByteCount = fields.contentByteCount, kept.bytes.count < wholeByteCount else {
            return nil
        }
        self.fields = fields
        bytes = kept.bytes
        self.wholeByteCount = wholeByteCount
        validator = kept.validator
    }

    /// The partial response for the store.
    var stored: StoredResponse {
        StoredResponse(
            status: 200, serializedFields: fields.serialized, mediaType: fields.mediaType,
            validator: validator, freshness: .unlimited, bytes: bytes)
    }
}

/// The result of one attempt.
struct FetchAttempt: Sendable {
    enum Outcome: Sendable {
        case response(FetchedResponse)
        /// The response does not continue the prefix; the whole body must be requested.
        case mismatch
        case failure(LoadError)
    }

    var outcome: Outcome
    /// The prefix from which another attempt can resume.
    let prefix: BodyPrefix?
    /// The time that it took, without the wait for a connection.
    var duration = Duration.zero
}

extension HTTPLoader {
    /// Sends a request, retries it after temporary errors, and resumes interrupted downloads.
    ///
    /// - Parameters:
    ///   - hop: the URL and the fields.
    ///   - conditions: the fields of a conditional request.
    ///   - receive: receives the events.
    /// - Returns: the last response, whatever its status.
    /// - Throws: the error of the last attempt.
    func fetch(
        _ hop: HTTPLoadRequest, conditions: HTTPFields, _ receive: @escaping Receiver
    ) async throws(LoadError) -> FetchedResponse {
        let store = hop.cachePolicy == .noStore ? nil : store
        let keptPrefix = await store?.partial(for: hop.url, hop.fields).flatMap(BodyPrefix.init)
        var prefix = keptPrefix
        let room = BodyRoom(in: configuration.bodyBudget)
        defer { room.end() }
        let delivery = BodyDelivery(
            url: hop.url, codecs: codecs,
            maximumByteCount: configuration.maximumPreviewByteCount, receive)
        var retryCount = 0
        var mayRestart = true
        var timeLeft = configuration.totalTimeout
        while true {
            let attempt = await attempt(
                hop, conditions, prefix, room, delivery, within: timeLeft)
            prefix = attempt.prefix
            timeLeft -= attempt.duration
            var error: LoadError
            var retryAfter: Duration?
            switch attempt.outcome {
            case .response(let fetched):
                let status = fetched.head.status.code
                guard [408, 429, 500, 502, 503, 504].contains(status) else {
                    await settle(prefix, keptPrefix, hop, store)
                    return fetched
                }
                error = .badStatus(url: "\(hop.url)", code: status)
                retryAfter = self.retryAfter(fetched.head.headerFields)
                guard mayRetry(retryCount, retryAfter, timeLeft) else {
                    await settle(prefix, keptPrefix, hop, store)
                    return fetched
                }
            case .mismatch:
                error = .badResponse(
                    url: "\(hop.url)",
                    reason: "the partial response does not match the bytes received before")
                if mayRestart {
                    mayRestart = false
                    continue
                }
            case .failure(let failure): error = failure
            }
            if error.mayPass, mayRetry(retryCount, retryAfter, timeLeft) {
                do {
                    let delay = max(backOff(retryCount), retryAfter ?? .zero)
                    try await clock.sleep(delay)
                    timeLeft -= delay
                    retryCount += 1
                    continue
                } catch {
                    await settle(prefix, keptPrefix, hop, store)
                    throw .cancelled
                }
            }
            await settle(prefix, keptPrefix, hop, store)
            throw error
        }
    }

    /// Stores the prefix of a body, or removes the stored one.
    private func settle(
        _ prefix: BodyPrefix?, _ kept: BodyPrefix?, _ hop: HTTPLoadRequest, _ store: ResponseCache?
    ) async {
        guard let store, prefix != kept else { return }
        if let prefix, hop.mayKeep(), let variant = prefix.stored.variant(of: hop.fields) {
            await store.insertPartial(prefix.stored, for: hop.url, variant)
        } else if kept != nil {
            await store.removePartials(of: hop.url)
        }
    }

    private func mayRetry(
        _ retryCount: Int, _ retryAfter: Duration?, _ timeLeft: Duration
    ) -> Bool {
        retryCount < configuration.maximumRetryCount && retryAfter ?? .zero < timeLeft
            && retryAfter ?? .zero <= configuration.maximumRetryDelay
    }

    /// Returns the delay before the next attempt: exponential backoff with jitter.
    private func backOff(_ retryCount: Int) -> Duration {
        let longest = min(
            configuration.retryDelay * (1 << min(retryCount, 16)), configuration.maximumRetryDelay)
        return longest * Double.random(in: 0.5...1)
    }

    private func retryAfter(_ fields: HTTPFields) -> Duration? {
        guard let value = fields[.retryAfter] else { return nil }
        if let seconds = Int(value) { return .seconds(max(0, seconds)) }
        return HTTPDate.seconds(value).map { .seconds(max(0, $0 - clock.date())) }
    }

    /// Makes one attempt within the limits of rate, connections and time.
    private func attempt(
        _ hop: HTTPLoadRequest, _ conditions: HTTPFields, _ prefix: BodyPrefix?,
        _ room: BodyRoom, _ delivery: BodyDelivery, within timeLeft: Duration
    ) async -> FetchAttempt {
        do throws(LoadError) {
            // The host's slot first: a request that is cancelled while waiting for it takes no
            // token.
            try await hosts.enter(hop.url.authority, hop.priority)
        } catch {
            return FetchAttempt(outcome: .failure(error), prefix: prefix)
        }
        defer { hosts.leave(hop.url.authority) }
        do throws(LoadError) {
            try await starts.take(hop.priority)
        } catch {
            return FetchAttempt(outcome: .failure(error), prefix: prefix)
        }
        let start = clock.elapsed()
        let watchdog = Watchdog(
            responseTimeout: configuration.responseTimeout, idleTimeout: configuration.idleTimeout,
            totalTimeout: timeLeft, clock: clock)
        var attempt = await watchdog.watch {
            await self.transfer(hop, conditions, prefix, room, delivery, watchdog)
        }
        attempt.duration = clock.elapsed() - start
        if watchdog.hasTimedOut, case .failure(.cancelled) = attempt.outcome, !Task.isCancelled {
            attempt.outcome = .failure(.timedOut(url: "\(hop.url)"))
        }
        return attempt
    }
}

extension LoadError {
    /// Whether the error may be temporary.
    fileprivate var mayPass: Bool {
        switch self {
        case .connectionFailed, .timedOut, .badStatus: true
        default: false
        }
    }
}
