// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// The planes of recently decoded files, from which further sizes are resampled without a decode.
///
/// The planes of the least recently used file are evicted first. All are reserved in the memory budget.
///
/// Keeping planes costs up to a tenth of a decode. They are kept once further sizes of files are requested
/// while the planes would still be in memory.
///
/// A lock: every operation is short and calls no other code.
final class ReducedImages: Sendable {
    private struct Entry {
        /// A decoder makes others for larger sizes.
        var images: [ReducedImage] = []
        var reservations: [MemoryReservation] = []
        var lastUse: UInt64 = 0

        var byteCount: Int { images.reduce(0) { $0 + $1.byteCount } }
    }

    private struct State {
        var entries: [FileIdentity: Entry] = [:]
        var byteCount = 0
        var useCount: UInt64 = 0
        /// The hash values of the files of which sizes were made last, the last one last.
        var recentFiles: [Int] = []
        /// The share of recent sizes whose file was among ``recentFiles``.
        var furtherShare = 0.0

        mutating func evict(toByteCount limit: Int) -> [MemoryReservation] {
            var evicted: [MemoryReservation] = []
            while byteCount > limit,
                let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                entries[oldest.key] = nil
                byteCount -= oldest.value.byteCount
                evicted += oldest.value.reservations
            }
            return evicted
        }
    }

    /// The share of further sizes above which planes of all files are kept.
    private static let leastFurtherShare = 0.125
    /// The weight of one size in the share.
    private static let weight = 1.0 / 32

    /// The maximum size of the planes of one image, in bytes; 0 if none are kept.
    let imageByteLimit: Int
    private let byteLimit: Int
    private let budget: MemoryBudget
    private let state = Mutex(State())

    /// - Parameters:
    ///   - byteLimit: the maximum size of all planes, in bytes; 0 keeps none.
    ///   - budget: the budget of the planes, for which they are evicted too.
    init(byteLimit: Int, budget: MemoryBudget) {
        self.byteLimit = byteLimit
        imageByteLimit = min(byteLimit / 4, 4 << 20)
        self.budget = budget
        budget.attach { [weak self] byteCount in
            self?.state.withLock { $0.evict(toByteCount: max(0, $0.byteCount - byteCount)) } ?? []
        }
    }

    /// The size of all planes, in bytes.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Notes that sizes of a file are about to be made.
    ///
    /// - Returns: whether planes of the file are worth keeping.
    func noteSizes(_ count: Int, of file: FileIdentity) -> Bool {
        guard imageByteLimit > 0 else { return false }
        // As many files as there is room for, with the planes of 12 megapixels at a quarter.
        let maximumCount = max(1, byteLimit >> 20)
        let hash = file.hashValue
        return state.withLock { state in
            let index = state.recentFiles.firstIndex(of: hash)
            if let index { state.recentFiles.remove(at: index) }
            state.recentFiles.append(hash)
            if state.recentFiles.count > maximumCount { state.recentFiles.removeFirst() }
            let isFurther = index != nil || count > 1
            state.furtherShare +=
                ((isFurther ? 1 : 0) - state.furtherShare) * Self.weight
            return isFurther || state.furtherShare > Self.leastFurtherShare
        }
    }

    /// Returns the planes of a file; a size may be made of one of them, or of none.
    func images(of file: FileIdentity) -> [ReducedImage] {
        state.withLock { state in
            state.useCount += 1
            state.entries[file]?.lastUse = state.useCount
            return state.entries[file]?.images ?? []
        }
    }

    /// Keeps planes of a file, if there is memory for them.
    func insert(_ image: ReducedImage, of file: FileIdentity) {
        guard image.byteCount <= imageByteLimit,
            let reservation = budget.tryReserve(image.byteCount)
        else { return }
        // Reservations are returned to the budget outside of the lock.
        let unused = state.withLock { state -> [MemoryReservation] in
            var entry = state.entries[file] ?? Entry()
            guard !entry.images.contains(where: { $0.makesSizes(of: image) }) else {
                return [reservation]
            }
            state.useCount += 1
            entry.lastUse = state.useCount
            entry.images.append(image)
            entry.reservations.append(reservation)
            state.entries[file] = entry
            state.byteCount += image.byteCount
            return state.evict(toByteCount: byteLimit)
        }
        withExtendedLifetime(unused) {}
    }

    /// Removes all planes.
    func removeAll() { _ = state.withLock { $0.evict(toByteCount: 0) } }

    /// Removes the planes of a file.
    func removeAll(of file: FileIdentity) {
        let removed = state.withLock { state in
            let entry = state.entries.removeValue(forKey: file)
            state.byteCount -= entry?.byteCount ?? 0
            return entry
        }
        withExtendedLifetime(removed) {}
    }
}
