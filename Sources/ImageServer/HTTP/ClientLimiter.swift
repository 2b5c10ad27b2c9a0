// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import NIOCore
internal import Synchronization

/// Bounds what each client asks for: a bucket of tokens that fills at a steady rate.
///
/// A lock: held for a look into a table.
final class ClientLimiter: Sendable {
    private struct Bucket {
        var tokenCount: Double
        var lastFill: ContinuousClock.Instant
    }

    /// So many clients are known at a time; those that have not asked for long are forgotten.
    private static let maximumCount = 1 << 16

    /// Requests that may be asked for each second.
    private let rate: Double
    /// Requests that may be asked for at once.
    private let burst: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    init(rate: Double, burst: Int) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Takes a token of a client's.
    ///
    /// - Parameters:
    ///   - client: its name, by ``name(of:)``.
    ///   - now: the time.
    /// - Throws: ``ServerError/tooManyRequests(seconds:)``.
    func take(_ client: String, now: ContinuousClock.Instant = .now) throws(ServerError) {
        let wait = buckets.withLock { buckets -> Double in
            if buckets.count >= Self.maximumCount { forget(&buckets, now) }
            var bucket = buckets[client] ?? Bucket(tokenCount: burst, lastFill: now)
            let passed = bucket.lastFill.duration(to: now) / .seconds(1)
            bucket.tokenCount = min(burst, bucket.tokenCount + max(passed, 0) * rate)
            bucket.lastFill = now
            let isThere = bucket.tokenCount >= 1
            if isThere { bucket.tokenCount -= 1 }
            buckets[client] = bucket
            return isThere ? 0 : (1 - bucket.tokenCount) / rate
        }
        guard wait == 0 else { throw .tooManyRequests(seconds: max(1, Int(wait.rounded(.up)))) }
    }

    /// Takes more tokens of a client for a request that has turned out to cost more than others.
    ///
    /// The client may owe tokens afterwards, at most as many as it may have.
    func charge(_ client: String, _ count: Double) {
        buckets.withLock { buckets in
            guard let tokenCount = buckets[client]?.tokenCount else { return }
            buckets[client]?.tokenCount = max(tokenCount - count, -burst)
        }
    }

    /// What tells clients apart: the address, and of IPv6 the half that a network is given, since
    /// the other half is for each client to choose.
    static func name(of address: SocketAddress?) -> String {
        let text = address?.ipAddress ?? ""
        var bytes = [UInt8](repeating: 0, count: 16)
        let isIPv6 = unsafe bytes.withUnsafeMutableBytes {
            unsafe inet_pton(AF_INET6, text, $0.baseAddress) == 1
        }
        guard isIPv6 else { return text }
        let network = bytes.prefix(8)
        // IPv4 in IPv6 (RFC 4291, section 2.5.5) has nothing in that half.
        return "\(network.allSatisfy { $0 == 0 } ? bytes[...] : network)"
    }

    /// Forgets those whose buckets are full again, or everybody.
    private func forget(_ buckets: inout [String: Bucket], _ now: ContinuousClock.Instant) {
        buckets = buckets.filter { _, bucket in
            bucket.tokenCount + (bucket.lastFill.duration(to: now) / .seconds(1)) * rate < burst
        }
        if buckets.count >= Self.maximumCount { buckets = [:] }
    }
}
