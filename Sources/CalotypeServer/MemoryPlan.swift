// SPDX-License-Identifier: Apache-2.0

/// How a server divides memory, derived from `--memory`.
///
/// `Documentation/serving.md` states the same figures.
struct MemoryPlan {
    /// The value of `--memory`: the bytes of cached images, tiles and responses.
    let keptByteCount: Int
    /// The value of `--source-limit`, if set.
    let sourceLimit: Int?

    /// The minimum for decodes in progress, so that a small server can decode a large image.
    private static let leastWorkingByteCount = 256 << 20
    /// The program, its threads and memory that the allocator holds in reserve.
    private static let programByteCount = 64 << 20

    var tileByteCount: Int { keptByteCount / 4 }
    /// Cached responses, ready to be sent.
    var hotByteCount: Int { keptByteCount / 8 }
    /// Images and the planes of decodes: the rest, less a quarter of the total for the tables of the caches.
    private var imageByteCount: Int { keptByteCount / 4 * 3 - tileByteCount - hotByteCount }
    /// The pipeline's limit of images; it keeps planes of a quarter of that beside them.
    var imageCacheByteCount: Int { imageByteCount / 5 * 4 }
    /// Responses that their clients have not read yet.
    var outgoingByteCount: Int { keptByteCount / 8 }
    /// Connections, at 64 KiB each.
    var connectionByteCount: Int { keptByteCount / 4 }
    /// Response bodies of origin servers.
    var bodyByteCount: Int { max(keptByteCount, 2 * (sourceLimit ?? 0)) }
    /// Renditions that are read from or written to a bucket.
    var bucketByteCount: Int { keptByteCount / 8 }
    /// Pixels of decodes and encodes in progress.
    private var workingByteCount: Int { max(keptByteCount, Self.leastWorkingByteCount) }
    /// All pixels: cached images, tiles, and decodes and encodes in progress.
    var pixelByteCount: Int { imageByteCount + tileByteCount + workingByteCount }

    /// The maximum memory of the server's own process.
    func hostByteCount(loadsFromWeb: Bool, usesBucket: Bool) -> Int {
        Self.programByteCount + keptByteCount + workingByteCount + outgoingByteCount
            + connectionByteCount + (loadsFromWeb ? bodyByteCount : 0)
            + (usesBucket ? bucketByteCount : 0)
    }
}
