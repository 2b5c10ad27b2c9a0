// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox

/// How a server divides memory, derived from `--memory`.
///
/// `Documentation/serving.md` states the same figures.
struct MemoryPlan {
    /// `--memory`: bytes of images, tiles and answers that are kept.
    let keptByteCount: Int
    /// `--source-limit`, if one was given.
    let sourceLimit: Int?

    /// Decodes under way have at least this much, so that a large image can be made by a small server.
    private static let leastWorkingByteCount = 256 << 20
    /// The program, its threads and what the allocator holds in reserve.
    private static let programByteCount = 64 << 20

    var tileByteCount: Int { keptByteCount / 4 }
    /// Answers that are kept as they were sent.
    var hotByteCount: Int { keptByteCount / 8 }
    /// The rest, but for a quarter that the tables of what is kept take.
    var imageByteCount: Int { keptByteCount / 4 * 3 - tileByteCount - hotByteCount }
    /// Answers that wait for their clients.
    var outgoingByteCount: Int { keptByteCount / 8 }
    /// Connections, at 64 KiB each.
    var connectionByteCount: Int { keptByteCount / 4 }
    /// Bodies from other servers.
    var bodyByteCount: Int { max(keptByteCount, 2 * (sourceLimit ?? 0)) }
    /// Pixels of decodes and encodes under way.
    private var workingByteCount: Int { max(keptByteCount, Self.leastWorkingByteCount) }
    /// All that holds pixels.
    var pixelByteCount: Int { imageByteCount + tileByteCount + workingByteCount }

    /// The maximum for the server's own process.
    func hostByteCount(loadsFromWeb: Bool) -> Int {
        Self.programByteCount + keptByteCount + workingByteCount + outgoingByteCount
            + connectionByteCount + (loadsFromWeb ? bodyByteCount : 0)
    }
}
