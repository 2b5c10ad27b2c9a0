// SPDX-License-Identifier: Apache-2.0

/// The request rate of each client, on this server and over all servers.
struct ClientRateLimit: Sendable {
    /// The limit of this server.
    let local: RateLimiter
    /// The limit over all servers; `nil` for none.
    let shared: SharedRateLimit?

    /// - Parameters:
    ///   - rate: the number of requests per second.
    ///   - redis: where servers share the limit; `nil` for one of this server only.
    init(rate: Double, sharedIn redis: RedisClient?) {
        let burst = max(1, Int(rate * 10))
        local = RateLimiter(rate: rate, burst: burst)
        shared = redis.map { SharedRateLimit(redis: $0, rate: rate, burst: burst) }
    }

    /// Takes a token from a client's bucket here, then from the shared one.
    ///
    /// Without an answer about the shared one within a few milliseconds, the limit of this server decides.
    ///
    /// - Throws: ``ServerError/tooManyRequests(seconds:)``.
    func take(_ client: String) async throws(ServerError) {
        try local.take(client)
        guard let wait = await shared?.take(client), wait > 0 else { return }
        // A reply beyond an hour is not that of the script.
        throw .tooManyRequests(seconds: max(1, Int(min(wait, 3_600).rounded(.up))))
    }

    /// Takes more tokens for a request that costs more than others, without waiting.
    func charge(_ client: String, _ count: Double) {
        local.charge(client, count)
        shared?.charge(client, count)
    }
}
