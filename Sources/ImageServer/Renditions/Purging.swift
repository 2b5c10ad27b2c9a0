// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import ImageLoading
internal import LoadScheduling
internal import Logging
internal import ServiceLifecycle

/// Removes everything that was made of an original, on this server and on those that share its Redis.
struct Purging: Sendable {
    let originals: Originals
    let pipeline: ImagePipeline
    let tiles: TileImages
    let hot: HotRenditions
    let redis: RedisClient?
    let logger: Logger
    private let received = Counter(label: "calotype.purges.received")

    /// Removes what was made of an original, and publishes its path to the other servers.
    ///
    /// - Parameter request: the request, whose path is that of the original.
    /// - Returns: which of the other places may still have renditions; `nil` if none.
    /// - Throws: ``ServerError/notFound`` or ``ImageLoading/LoadError``.
    func purge(_ request: IncomingRequest) async throws -> String? {
        let identity = try await originals.identity(request.segments)
        var problems: [String] = []
        do throws(LoadError) {
            // First, because servers read again what they have not.
            try await pipeline.removeShared(of: identity.path)
        } catch {
            logger.warning(
                "renditions stay in the result bucket", metadata: ["error": "\(error)"])
            problems.append("the result bucket may have renditions")
        }
        try await removeHere(identity)
        if let redis {
            do throws(RedisError) {
                let message = "\(redis.token) \(request.encodedPath)"
                _ = try await redis.send(
                    .purge, ["PUBLISH", Self.channel(redis), message], redis.limits.purgeTimeout)
            } catch {
                problems.append("other servers were not reached")
            }
        }
        if problems.isEmpty { return nil }
        return problems.joined(separator: "; ") + "; repeat the request"
    }

    /// Removes what was made of an original here.
    private func removeHere(_ identity: FileIdentity) async throws {
        try await onDisk { [tiles] in try tiles.remove(identity) }
        try await pipeline.removeAll(of: identity.path)
        hot.removeAll(of: identity.path)
    }

    /// Removes what other servers have published, until the task is cancelled.
    func follow(_ redis: RedisClient) async {
        let (messages, sink) = AsyncStream<[UInt8]>.makeStream(
            bufferingPolicy: .bufferingOldest(1_024))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await redis.runSubscription(Self.channel(redis)) { message in
                    if case .dropped = sink.yield(message) { redis.countGap() }
                }
                sink.finish()
            }
            for await message in messages {
                guard let path = Self.path(message, besides: redis.token) else { continue }
                do {
                    try await removeHere(originals.identity(path.segments))
                } catch {
                    logger.debug("cannot purge", metadata: ["error": "\(error)"])
                }
                // Afterwards, so that an observer of the count finds nothing that was to be removed.
                received.increment()
            }
        }
    }

    /// Returns the path in a message; `nil` for an invalid one, and for one of this server.
    static func path(_ message: [UInt8], besides token: String) -> RequestPath? {
        let parts = message.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard message.count <= RequestAdmission.maximumPathByteCount + 64, parts.count == 2,
            !parts[0].elementsEqual(token.utf8)
        else { return nil }
        return RequestPath(String(decoding: parts[1], as: UTF8.self))
    }

    private static func channel(_ redis: RedisClient) -> String { redis.name("purge") }
}

/// Keeps the connections to Redis while the server runs, and follows the purges of other servers.
struct RedisService: Service, CustomStringConvertible {
    let redis: RedisClient
    let purging: Purging

    /// The name of the service; see ``Listener/description``.
    var description: String { "redis" }

    func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await redis.runCommands() }
                group.addTask { await purging.follow(redis) }
            }
        }
    }
}
