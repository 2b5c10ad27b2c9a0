// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Synchronization

/// Decoded pictures within a limit of bytes; the one that was not used for longest goes first.
///
/// A lock: every operation is short, never awaits and runs nobody else's code.
final class MemoryCache: Sendable {
    /// A picture that takes more than one part in so many of the limit is not kept: it would push
    /// out all the small ones.
    static let largestShare = 4

    /// A place in the list of use, which is linked through `places` by index.
    fileprivate struct Place {
        var key: ImageKey
        var image: LoadedImage
        var newer: Int?
        var older: Int?
    }

    fileprivate struct State {
        var indices: [ImageKey: Int] = [:]
        var places: [Place?] = []
        var free: [Int] = []
        var newest: Int?
        var oldest: Int?
        var byteCount = 0
    }

    let byteLimit: Int
    private let state = Mutex(State())

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// What the pictures take now, padding included.
    var byteCount: Int { state.withLock { $0.byteCount } }

    func image(for key: ImageKey) -> LoadedImage? {
        state.withLock { state in
            guard let index = state.indices[key], let place = state.unlink(index) else {
                return nil
            }
            state.linkNewest(place, at: index)
            return place.image
        }
    }

    func insert(_ image: LoadedImage) {
        let key = image.key
        let byteCount = image.image.byteCount
        guard byteCount <= byteLimit / Self.largestShare else { return }
        state.withLock { state in
            if let index = state.indices[key] { state.remove(index) }
            while let oldest = state.oldest, state.byteCount + byteCount > byteLimit {
                state.remove(oldest)
            }
            let index = state.free.popLast() ?? state.places.endIndex
            if index == state.places.endIndex { state.places.append(nil) }
            state.indices[key] = index
            state.byteCount += byteCount
            state.linkNewest(Place(key: key, image: image), at: index)
        }
    }
}

extension MemoryCache.State {
    fileprivate mutating func linkNewest(_ place: MemoryCache.Place, at index: Int) {
        var place = place
        place.newer = nil
        place.older = newest
        places[index] = place
        if let newest { places[newest]?.newer = index } else { oldest = index }
        newest = index
    }

    fileprivate mutating func unlink(_ index: Int) -> MemoryCache.Place? {
        guard let place = places[index] else { return nil }
        if let newer = place.newer {
            places[newer]?.older = place.older
        } else {
            newest = place.older
        }
        if let older = place.older {
            places[older]?.newer = place.newer
        } else {
            oldest = place.newer
        }
        return place
    }

    fileprivate mutating func remove(_ index: Int) {
        guard let place = unlink(index) else { return }
        places[index] = nil
        free.append(index)
        indices[place.key] = nil
        byteCount -= place.image.image.byteCount
    }
}
