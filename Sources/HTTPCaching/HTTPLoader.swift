// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
internal import HTTPTypes
public import LoadScheduling
public import Logging

/// From an address to the bytes of a picture, by HTTP's rules: kept answers, redirects, repeated
/// tries and downloads that go on where they broke off.
///
/// Equal requests are not shared here, but by whoever asks. What is done step by step stands in
/// `LoadResponse.swift`.
public final class HTTPLoader: Sendable {
    public struct Configuration: Sendable {
        /// The time until the head of an answer comes.
        public var responseTimeout: Duration = .seconds(30)
        /// The time between two pieces of a body.
        public var idleTimeout: Duration = .seconds(30)
        /// The time that one address may take, further tries included; the wait for a place is not.
        ///
        /// A server that sends a byte now and then would keep its place for ever.
        public var totalTimeout: Duration = .seconds(600)
        /// Tries after the first, for what may go better the next time.
        public var maximumRetryCount = 2
        /// The longest time before the second try; it doubles with each further one.
        ///
        /// Between half of it and the whole is waited, so that clients do not come back all at once.
        public var retryDelay: Duration = .milliseconds(500)
        /// A server that asks for more patience than that is not asked again.
        public var maximumRetryDelay: Duration = .seconds(30)
        public var maximumRedirectCount = 5
        /// Bytes of a body; longer ones are refused as soon as that is known.
        public var maximumBodyByteCount = 256 << 20
        /// The account of the bodies of all transfers; one body takes at most half of it.
        ///
        /// Several loaders may share one. What is made of a body is not charged: handing it to a
        /// sandbox takes as much again for a moment.
        public var bodyBudget = BodyBudget(byteLimit: 512 << 20)
        /// Bytes from the start of a body that consumers get as they come, to show previews of.
        public var maximumPreviewByteCount = 16 << 20
        /// Requests that are started each second, once ``startBurst`` are used up.
        public var startRate = 80.0
        /// Requests that are started at once.
        public var startBurst = 25
        /// Requests to one server at a time.
        public var maximumConcurrentCountPerHost = 6
        public var userAgent = "Calotype"
        /// Whether an address may be asked; every one is, also those that redirects lead to.
        ///
        /// It sees the name of the host and not the number that the name stands for.
        public var allows: @Sendable (HTTPURL) -> Bool = { _ in true }

        public init() {}
    }

    let transport: any HTTPTransport
    let store: ResponseStore?
    let codecs: CodecSet
    let configuration: Configuration
    let logger: Logger
    package let clock: LoaderClock
    let hosts: HostLimiter
    let starts: RateLimiter

    /// - Parameters:
    ///   - transport: carries requests to servers.
    ///   - store: keeps answers; `nil` to keep none.
    ///   - codecs: the formats by which a picture is known that the server does not say to be one.
    ///   - configuration: how much it may take.
    ///   - logger: where it tells, at `debug`, what it does.
    ///   - clock: what it waits by.
    ///   - date: the seconds since 1970.
    public init(
        transport: any HTTPTransport, store: ResponseStore?, codecs: CodecSet,
        configuration: Configuration, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        date: @escaping @Sendable () -> Int = HTTPLoader.systemDate
    ) {
        self.transport = transport
        self.store = store
        self.codecs = codecs
        self.configuration = configuration
        self.logger = logger
        self.clock = LoaderClock(clock, date: date)
        hosts = HostLimiter(countPerHost: configuration.maximumConcurrentCountPerHost)
        starts = RateLimiter(
            rate: configuration.startRate, burst: configuration.startBurst, clock: self.clock)
    }

    /// The picture that an address leads to.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - receive: is told, in order, what comes from the server; it must not block.
    /// - Returns: the whole of it.
    /// - Throws: `LoadError`; a body over the limit is a
    ///   `CodecError/limitExceeded(_:needed:allowed:)` in `LoadError.decodingFailed(path:_:)`.
    public func load(
        _ request: HTTPLoadRequest,
        receive: @escaping @Sendable (HTTPLoadEvent) -> Void = { _ in }
    ) async throws(LoadError) -> LoadedResponse {
        try await picture(for: request, receive)
    }

    /// Forgets what is kept of an address, such as a picture that turned out to be damaged.
    public func remove(_ url: HTTPURL) async { await store?.remove(url) }

    /// Closes the store.
    public func close() async { await store?.close() }

    /// Seconds since 1970 by the clock of the system.
    public static func systemDate() -> Int { HTTPCaching.systemDate() }
}
