// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import NIOCore
internal import Synchronization

/// Limits the request rate of each client by a token bucket.
///
/// Lock: held for a table lookup.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokenCount: Double
        var lastFill: ContinuousClock.Instant
    }

    /// The maximum number of buckets; full ones are removed beyond it.
    private static let maximumCount = 1 << 16

    /// Requests per second.
    private let rate: Double
    /// The capacity of a bucket: the number of requests at once.
    private let burst: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameters:
    ///   - rate: the number of requests per second.
    ///   - burst: the number of requests at once.
    init(rate: Double, burst: Int) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Takes a token from a client's bucket.
    ///
    /// - Parameters:
    ///   - client: its name, by ``name(of:)``.
    ///   - now: the current time.
    /// - Throws: ``ServerError/tooManyRequests(seconds:)``.
    func take(_ client: String, now: ContinuousClock.Instant = .now) throws(ServerError) {
        let wait = buckets.withLock { buckets -> Double in
            if buckets.count >= Self.maximumCount { removeFull(&buckets, now) }
            var bucket = buckets[client] ?? Bucket(tokenCount: burst, lastFill: now)
            let passed = bucket.lastFill.duration(to: now) / .seconds(1)
            bucket.tokenCount = min(burst, bucket.tokenCount + max(passed, 0) * rate)
            bucket.lastFill = now
            let hasToken = bucket.tokenCount >= 1
            if hasToken { bucket.tokenCount -= 1 }
            buckets[client] = bucket
            return hasToken ? 0 : (1 - bucket.tokenCount) / rate
        }
        guard wait == 0 else { throw .tooManyRequests(seconds: max(1, Int(wait.rounded(.up)))) }
    }

    /// Takes more tokens for a request that costs more than others.
    ///
    /// The balance may become negative, at most by the capacity of a bucket.
    func charge(_ client: String, _ count: Double) {
        buckets.withLock { buckets in
            guard let tokenCount = buckets[client]?.tokenCount else { return }
            buckets[client]?.tokenCount = max(tokenCount - count, -burst)
        }
    }

    /// The name of a client: its IPv4 address, or the /64 prefix of its IPv6 address.
    ///
    /// Clients choose the other half of an IPv6 address themselves.
    static func name(of address: SocketAddress?) -> String {
        let text = address?.ipAddress ?? ""
        var bytes = [UInt8](repeating: 0, count: 16)
        let isIPv6 = unsafe bytes.withUnsafeMutableBytes {
            unsafe inet_pton(AF_INET6, text, $0.baseAddress) == 1
        }
        guard isIPv6 else { return text }
        let network = bytes.prefix(8)
        // IPv4-mapped addresses (RFC 4291, section 2.5.5) have a prefix of zeros.
        return "\(network.allSatisfy { $0 == 0 } ? bytes[...] : network)"
    }

    /// Removes all full buckets; removes all buckets if none is full.
    private func removeFull(_ buckets: inout [String: Bucket], _ now: ContinuousClock.Instant) {
        buckets = buckets.filter { _, bucket in
            bucket.tokenCount + (bucket.lastFill.duration(to: now) / .seconds(1)) * rate < burst
        }
        if buckets.count >= Self.maximumCount { buckets = [:] }
    }
}
