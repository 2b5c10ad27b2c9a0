// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import LoadScheduling

/// A request for the content of a URL.
public struct HTTPLoadRequest: Sendable {
    /// How the store is used.
    public enum CachePolicy: Sendable {
        /// Reads and writes the store as RFC 9111 allows.
        case useProtocol
        /// Does not read the store, and stores the response.
        case reload
        /// Reads the store only, stale responses included unless the server forbids them.
        case onlyIfCached
        /// Neither reads nor writes the store.
        case noStore
    }

    /// The URL that is loaded.
    public var url: HTTPURL
    /// The fields that are sent in addition to those of the loader; they override its defaults.
    public var fields: HTTPFields
    /// How the store is used.
    public var cachePolicy: CachePolicy
    /// The priority of the request among those that wait for a connection.
    public var priority: LoadPriority
    /// Whether a stale response is returned where `stale-while-revalidate` allows it.
    ///
    /// The caller then loads again with this set to `false`.
    public var acceptsStale = true
    /// The trace context that is sent to servers; it has no effect on caching.
    public var trace: TraceContext?
    /// Returns whether the response may be stored; called when it is complete.
    package var mayKeep: @Sendable () -> Bool = { true }
    /// The hash of a body that could not be decoded and is not read from the store again.
    package var refusedBody: UInt64?

    /// Creates a request.
    public init(
        url: HTTPURL, fields: HTTPFields = [:], cachePolicy: CachePolicy = .useProtocol,
        priority: LoadPriority = .visible
    ) {
        self.url = url
        self.fields = fields
        self.cachePolicy = cachePolicy
        self.priority = priority
    }
}

/// An event while a response is received from a server; a response from the store has none.
public enum HTTPLoadEvent: Hashable, Sendable {
    /// The number of bytes received, those of earlier attempts included, and the length of the
    /// body, `nil` if it is unknown.
    case progress(receivedByteCount: Int, expectedByteCount: Int?)
    /// The next part of the body, up to ``HTTPLoader/Configuration/maximumPreviewByteCount``.
    case bytes([UInt8])
    /// The body restarts at its first byte; earlier parts are invalid.
    case restart
}

/// A complete response.
public struct LoadedResponse: Sendable {
    /// Where the body is from.
    public enum Source: Hashable, Sendable {
        /// Received from a server.
        case network
        /// Read from the store, still fresh.
        case store
        /// Read from the store after the server confirmed it.
        case revalidated
        /// Read from the store although it is stale.
        case stale
    }

    /// The URL after redirects.
    public let url: HTTPURL
    /// The body.
    public let bytes: [UInt8]
    /// The media type by `Content-Type`, in lower case and without parameters.
    public let mediaType: String?
    /// Identifies this version of the content among all versions for the URL.
    public let validator: String
    /// Where the body is from.
    public let source: Source
    /// Whether derived images may be stored, and until when they are fresh.
    package let storability: Storability
    /// Whether the caller must load again because the response is stale.
    public let needsRevalidation: Bool
    /// The reservation in the body budget, `nil` if the body is from the store.
    package var room: BodyRoom?
}
