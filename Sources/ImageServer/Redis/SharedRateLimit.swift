// SPDX-License-Identifier: Apache-2.0

/// The rates of clients over all servers: token buckets in Redis, by the clock of Redis.
///
/// A bucket is stored as the time at which it will be full again, in microseconds (GCRA). Without an
/// answer within a few milliseconds there is no limit here, and each server limits alone.
struct SharedRateLimit: Sendable {
    /// Takes a number of tokens from the bucket of a client, in one step.
    ///
    /// Arguments: the microseconds in which a token is added, the capacity, the number of tokens, and 1 to take
    /// them even if there are fewer, down to the negative capacity. Returns the microseconds until there are
    /// enough tokens; 0 if they have been taken.
    private static let script = """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local interval, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
        local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
        local later = full + ARGV[3] * interval
        local limit = now + capacity * interval
        if ARGV[4] == '1' then
            later = math.max(full, math.min(later, limit + capacity * interval))
        elseif later > limit then
            return math.ceil(later - limit)
        end
        if later > now then
            redis.call('SET', KEYS[1], string.format('%.0f', later),
                'PX', math.ceil((later - now) / 1000))
        end
        return 0
        """

    let redis: RedisClient
    /// Tokens per second.
    let rate: Double
    /// The capacity of a bucket.
    let burst: Int

    /// Takes a token.
    ///
    /// - Returns: the seconds until there is a token, 0 if it was taken; `nil` without an answer.
    func take(_ client: String) async -> Double? {
        guard
            let reply = try? await redis.send(
                .rate, arguments(client, 1, isForced: false), redis.limits.rateTimeout)
        else { return nil }
        guard case .integer(let wait) = reply, wait >= 0 else {
            redis.failed(.rate, .invalidReply)
            return nil
        }
        return Double(wait) / 1_000_000
    }

    /// Takes more tokens, without waiting.
    func charge(_ client: String, _ count: Double) {
        redis.post(.rate, arguments(client, count, isForced: true))
    }

    private func arguments(_ client: String, _ count: Double, isForced: Bool) -> [String] {
        [
            "EVAL", Self.script, "1", redis.name("rate", client), "\(1_000_000 / rate)", "\(burst)",
            "\(count)", isForced ? "1" : "0",
        ]
    }
}
