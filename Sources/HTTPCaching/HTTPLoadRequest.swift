// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import LoadScheduling

/// Asks for what an address leads to.
public struct HTTPLoadRequest: Sendable {
    /// What of the store is used.
    public enum CachePolicy: Sendable {
        /// What HTTP's rules for caches allow.
        case useProtocol
        /// Nothing; the answer is kept.
        case reload
        /// Nothing but the store, as long as the server did not forbid the use of old answers.
        case onlyIfCached
        /// Nothing; nor is anything kept.
        case noStore
    }

    public var url: HTTPURL
    /// Sent besides those that the loader needs; they go before its own.
    public var fields: HTTPFields
    public var cachePolicy: CachePolicy
    public var priority: LoadPriority
    /// Whether an old answer will do where the server lets one be shown while it is asked for a
    /// newer one: whoever gets it asks again, without accepting old ones.
    public var acceptsStale = true
    /// Goes with each request to a server; what is kept is the same without it.
    public var trace: TraceContext?
    /// Whether what comes may be kept, asked when it is there; what is kept is used in any case.
    package var mayKeep: @Sendable () -> Bool = { true }
    /// The hash of a body that turned out to be no picture, and is not taken from the store.
    package var refusedBody: UInt64?

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

/// What happens while an answer comes from a server; an answer from the store has no events.
public enum HTTPLoadEvent: Hashable, Sendable {
    /// Bytes of the body that are there, those of an earlier try included, and those that there will
    /// be, `nil` if the server does not say.
    case progress(receivedByteCount: Int, expectedByteCount: Int?)
    /// The next piece of the body, up to ``HTTPLoader/Configuration/maximumPreviewByteCount``.
    case bytes([UInt8])
    /// The pieces so far are of no use: the body begins anew.
    case restart
}

/// The whole of what an address leads to.
public struct LoadedResponse: Sendable {
    public enum Source: Hashable, Sendable {
        case network
        case store
        /// From the store, after the server had said that it is still right.
        case revalidated
        /// From the store, and maybe no longer right.
        case stale
    }

    /// Where it was found in the end.
    public let url: HTTPURL
    public let bytes: [UInt8]
    /// What the server says that it is, in lower case and without parameters.
    public let mediaType: String?
    /// Differs from that of other versions of what this address leads to.
    public let validator: String
    public let source: Source
    /// Whether and until when what is made of it may be used without asking for it again.
    package let storability: Storability
    /// Whether the server lets it be shown only while it is asked for a newer one.
    public let needsRevalidation: Bool
    /// The bytes in the account of bodies, unless they come from the store.
    package var room: BodyRoom?
}
