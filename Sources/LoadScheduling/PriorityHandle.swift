// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The priority of a load, which its consumer can change at any time.
///
/// A consumer may raise or lower it before or during the load; all queued work of the load follows.
public final class PriorityHandle: Sendable {
    private struct State {
        var version: UInt64 = 0
        var lastNumber: UInt64 = 0
        var followers: [UInt64: @Sendable (LoadPriority) -> Void] = [:]
    }

    /// A lock: observers are called while it is held, so that the last value is the one that stays.
    ///
    /// They take locks of work further down, which never take one further up.
    private let state = Mutex(State())
    /// A lock of its own, because the priority is also read under locks of work further down.
    private let current: Mutex<LoadPriority>
    /// The priority of a constant one, which needs no observers.
    private let fixed: LoadPriority?

    /// Creates a handle with a priority that can change.
    public init(_ priority: LoadPriority = .visible) {
        current = Mutex(priority)
        fixed = nil
    }

    private init(fixed priority: LoadPriority) {
        current = Mutex(priority)
        fixed = priority
    }

    /// One that stays as it is, the same for all who ask for it.
    package static func fixed(_ priority: LoadPriority) -> PriorityHandle {
        allFixed[priority.rawValue]
    }

    private static let allFixed = LoadPriority.allCases.map { PriorityHandle(fixed: $0) }

    package var isFixed: Bool { fixed != nil }

    /// The current priority.
    public var priority: LoadPriority {
        get { fixed ?? current.withLock { $0 } }
        set { set(newValue, version: nil) }
    }

    /// Sets the priority unless a later version has been set.
    package func set(_ priority: LoadPriority, version: UInt64?) {
        guard !isFixed else { return assertionFailure("an urgency for all was set") }
        state.withLock { state in
            if let version {
                guard version > state.version else { return }
                state.version = version
            }
            guard priority != self.priority else { return }
            current.withLock { $0 = priority }
            for follower in state.followers.values { follower(priority) }
        }
    }

    /// Tells `body` the priority, now and whenever it changes, until ``unfollow(_:)``.
    package func follow(_ body: @escaping @Sendable (LoadPriority) -> Void) -> UInt64 {
        if isFixed {
            body(priority)
            return 0
        }
        return state.withLock { state in
            state.lastNumber += 1
            state.followers[state.lastNumber] = body
            body(priority)
            return state.lastNumber
        }
    }

    package func unfollow(_ number: UInt64) {
        state.withLock { $0.followers[number] = nil }
    }
}
