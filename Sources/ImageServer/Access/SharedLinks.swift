// SPDX-License-Identifier: Apache-2.0

internal import PhotoLibrary
internal import Synchronization

/// The links of guests, those requested last in memory.
///
/// Lock: held for a table lookup.
final class SharedLinks: Sendable {
    private struct State {
        /// The latest at the end.
        var recent: [(id: String, permission: Permission)] = []
        /// The number of links that were withdrawn.
        var withdrawnCount = 0
    }

    private static let maximumRecentCount = 16
    private static let maximumCount = 1_000

    private let store: LinkStore
    private let state = Mutex(State())

    init(_ store: LinkStore) { self.store = store }

    /// Returns what guests with a link may see; `nil` if it is unknown, was withdrawn or has expired.
    ///
    /// The time at which a link in memory expires is that of its signature.
    func permission(_ id: String) async throws -> Permission? {
        let (known, withdrawnCount) = state.withLock { state -> (Permission?, Int) in
            guard let index = state.recent.firstIndex(where: { $0.id == id }) else {
                return (nil, state.withdrawnCount)
            }
            let link = state.recent.remove(at: index)
            state.recent.append(link)
            return (link.permission, state.withdrawnCount)
        }
        if let known { return known }
        let goal = try await onDisk { [store] in store.goal(of: id, now: HTTPDate.now.seconds) }
        guard let goal, let permission = Permission(goal, of: id) else { return nil }
        state.withLock { state in
            // A link that was withdrawn meanwhile must not stay.
            guard state.withdrawnCount == withdrawnCount else { return }
            state.recent.removeAll { $0.id == id }
            if state.recent.count == Self.maximumRecentCount { state.recent.removeFirst() }
            state.recent.append((id, permission))
        }
        return permission
    }

    /// Stores a link.
    ///
    /// - Parameters:
    ///   - goal: what it shows.
    ///   - expires: the time of its end, in seconds since 1970.
    /// - Returns: the name of the link.
    /// - Throws: ``ServerError/forbidden(reason:)`` if there are too many, or an error of the store.
    func add(_ goal: SharedLink.Goal, expires: Int) async throws -> String {
        let id = try await onDisk { [store] in
            try store.add(
                goal, expires: expires, now: HTTPDate.now.seconds, limit: Self.maximumCount)
        }
        guard let id else {
            throw ServerError.forbidden(
                reason: "there are \(Self.maximumCount) links; withdraw one")
        }
        return id
    }

    /// The links that have not expired, the latest first.
    func all() async throws -> [SharedLink] {
        try await onDisk { [store] in store.links(now: HTTPDate.now.seconds) }
    }

    /// Withdraws a link.
    ///
    /// - Throws: ``ServerError/notFound`` if it is unknown, or an error of the store.
    func withdraw(_ id: String) async throws {
        let existed = try await onDisk { [store] in try store.remove(id) }
        state.withLock { state in
            state.withdrawnCount += 1
            state.recent.removeAll { $0.id == id }
        }
        guard existed else { throw ServerError.notFound }
    }
}

extension Permission {
    /// The permission of guests with a link; `nil` if no folder of its path is served.
    fileprivate init?(_ goal: SharedLink.Goal, of id: String) {
        switch goal {
        case .folder(let path):
            guard let folder = SharedFolder(path.split(separator: "/").map(String.init)) else {
                return nil
            }
            self = .folder(folder)
        case .images(let paths):
            self = .images(SharedImages(ImageSelection(id: id, paths: paths)))
        }
    }
}
