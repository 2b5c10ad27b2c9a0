// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

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
    /// The next piece of the body.
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
    /// The way to a newer answer where the server lets an old one be shown meanwhile.
    public let revalidation: HTTPRevalidation?
}

/// Asks the server whether an answer that has been shown is still right.
public struct HTTPRevalidation: Sendable {
    let loader: HTTPLoader
    let request: HTTPLoadRequest

    /// The answer as it is now; its ``LoadedResponse/validator`` tells whether it is another.
    ///
    /// The server is asked by the first who waits, once for all; that ends with the last of them.
    public func value() async throws(LoadError) -> LoadedResponse {
        let key = HTTPLoader.RevalidationKey(url: request.url, fields: request.fields)
        return try await loader.revalidations.value(for: key) { [loader, request] in
            do throws(LoadError) {
                return .success(try await loader.load(request, acceptsStale: false) { _ in })
            } catch {
                return .failure(error)
            }
        }
    }
}
