// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import LoadScheduling
internal import Logging

/// A whole answer of a server.
struct FetchedResponse: Sendable {
    var head: HTTPResponse
    var bytes: [UInt8]
    /// In seconds since 1970.
    let requestDate: Int
    let responseDate: Int
    /// The bytes in the account of bodies.
    var room: BodyRoom?
}

/// The start of a body, from which a download can go on.
struct BodyPrefix: Equatable, Sendable {
    /// Those of the answer that began it.
    var fields: HTTPFields
    var bytes: [UInt8]
    let wholeByteCount: Int
    /// What the server has to compare in order to know that the rest belongs to it.
    let validator: String

    /// Fails if the server does not say all that it takes to go on, or if nothing came, or all.
    ///
    /// - Parameters:
    ///   - fields: those of the answer.
    ///   - bytes: what came of it.
    ///   - responseDate: when its head came.
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

    /// What a store has kept.
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

    /// For a store.
    var stored: StoredResponse {
        StoredResponse(
            status: 200, serializedFields: fields.serialized, mediaType: fields.mediaType,
            validator: validator, freshness: .unlimited, bytes: bytes)
    }
}

/// How one try ended.
struct FetchAttempt: Sendable {
    enum Outcome: Sendable {
        case response(FetchedResponse)
        /// The server's answer does not fit the start that was there: it is to be asked for all.
        case mismatch
        case failure(LoadError)
    }

    var outcome: Outcome
    /// What another try could go on from.
    let prefix: BodyPrefix?
    /// How long it took, without the wait for a place.
    var duration = Duration.zero
}

extension HTTPLoader {
    /// Asks a server, again if that may help, and goes on where an earlier try has ended.
    ///
    /// - Parameters:
    ///   - hop: the address and the fields.
    ///   - conditions: fields that ask whether what is kept is still right.
    ///   - receive: is told what comes.
    /// - Returns: the last answer, whatever its status.
    /// - Throws: why there was none, or none that could be used.
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
                error = .badResponse(url: "\(hop.url)", reason: "a part that does not fit")
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

    /// Keeps the start of a body for another time, or forgets the one that was kept.
    private func settle(
        _ prefix: BodyPrefix?, _ kept: BodyPrefix?, _ hop: HTTPLoadRequest, _ store: ResponseStore?
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

    /// The time before the next try: twice as long each time, and a random part of it.
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

    /// One try, within the limits of how many and how long.
    private func attempt(
        _ hop: HTTPLoadRequest, _ conditions: HTTPFields, _ prefix: BodyPrefix?,
        _ room: BodyRoom, _ delivery: BodyDelivery, within timeLeft: Duration
    ) async -> FetchAttempt {
        do throws(LoadError) {
            // The server's place first: who is cancelled while waiting for it has cost no start.
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
    /// Whether it may be gone the next time.
    fileprivate var mayPass: Bool {
        switch self {
        case .connectionFailed, .timedOut, .badStatus: true
        default: false
        }
    }
}
