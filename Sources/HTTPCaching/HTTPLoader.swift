// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import LoadScheduling
public import Logging

/// Loads images over HTTP, with an HTTP cache, redirects, retries and resumed downloads.
///
/// The loader does not coalesce equal requests; its caller does. `LoadResponse.swift` contains the
/// steps of a load.
public final class HTTPLoader: Sendable {
    /// Timeouts and limits of a loader.
    public struct Configuration: Sendable {
        /// The maximum time until the head of a response is received.
        public var responseTimeout: Duration = .seconds(30)
        /// The maximum time between two parts of a body.
        public var idleTimeout: Duration = .seconds(30)
        /// The maximum time for one URL, retries included, the wait for a connection excluded.
        ///
        /// Otherwise a server that sends a byte now and then would occupy a connection for ever.
        public var totalTimeout: Duration = .seconds(600)
        /// The maximum number of retries after errors that may be temporary.
        public var maximumRetryCount = 2
        /// The maximum delay before the first retry; it doubles with each further retry.
        ///
        /// The delay is a random part between half of it and the whole, so that clients do not
        /// retry in step.
        public var retryDelay: Duration = .milliseconds(500)
        /// The maximum delay before a retry; a longer `Retry-After` ends the load.
        public var maximumRetryDelay: Duration = .seconds(30)
        /// The maximum number of redirects of one load.
        public var maximumRedirectCount = 5
        /// The maximum number of bytes of a body; a longer one is rejected as soon as its length is
        /// known.
        public var maximumBodyByteCount = 256 << 20
        /// The memory budget for the bodies of all transfers; one body takes at most half of it.
        ///
        /// Several loaders can share a budget. Copies of a body are not charged: sending one to a
        /// sandbox takes as much again for a moment.
        public var bodyBudget = BodyBudget(byteLimit: 512 << 20)
        /// The number of bytes from the start of a body that consumers receive as they arrive, for
        /// previews.
        public var maximumPreviewByteCount = 16 << 20
        /// The number of requests that are started each second after the first ``startBurst``.
        public var startRate = 80.0
        /// The number of requests that are started without delay.
        public var startBurst = 25
        /// The maximum number of concurrent requests to one server.
        public var maximumConcurrentCountPerHost = 6
        /// The value of the `User-Agent` field.
        public var userAgent = "Calotype"
        /// Returns whether requests to a URL are allowed; called for each URL, those of redirects
        /// included.
        ///
        /// It receives the host name, not the resolved IP address.
        public var allows: @Sendable (HTTPURL) -> Bool = { _ in true }

        /// Creates a configuration with the default values.
        public init() {}
    }

    let transport: any HTTPTransport
    let store: ResponseCache?
    let codecs: CodecSet
    let configuration: Configuration
    let logger: Logger
    package let clock: LoaderClock
    let hosts: HostLimiter
    let starts: RateLimiter

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - transport: sends requests to servers.
    ///   - store: the HTTP cache; `nil` for none.
    ///   - codecs: the formats that are detected in bodies with another media type than `image/*`.
    ///   - configuration: timeouts and limits.
    ///   - logger: receives messages at `debug`.
    ///   - clock: the clock for timeouts and delays.
    ///   - date: returns the seconds since 1970.
    public init(
        transport: any HTTPTransport, store: ResponseCache?, codecs: CodecSet,
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

    /// Loads the image at a URL.
    ///
    /// - Parameters:
    ///   - request: the URL, the fields and the cache policy.
    ///   - receive: called in order with the events of the transfer; it must not block.
    /// - Returns: the complete response.
    /// - Throws: `LoadError`; a body over the limit is a
    ///   `CodecError/limitExceeded(_:needed:allowed:)` in `LoadError.decodingFailed(path:_:)`.
    public func load(
        _ request: HTTPLoadRequest,
        receive: @escaping @Sendable (HTTPLoadEvent) -> Void = { _ in }
    ) async throws(LoadError) -> LoadedResponse {
        try await image(for: request, receive)
    }

    /// Removes the stored responses for a URL, for example if the image is damaged.
    public func remove(_ url: HTTPURL) async { await store?.remove(url) }

    /// Closes the store; later loads use the network only.
    public func close() async { await store?.close() }

    /// Returns the seconds since 1970 by the system clock.
    public static func systemDate() -> Int { HTTPCaching.systemDate() }
}
