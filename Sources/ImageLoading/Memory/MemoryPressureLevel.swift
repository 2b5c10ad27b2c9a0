// SPDX-License-Identifier: Apache-2.0

/// The memory pressure of the system.
public enum MemoryPressureLevel: Int, Comparable, Sendable, CaseIterable {
    case normal
    /// Programs begin to stall on memory.
    case warning
    /// Programs stall on memory much of the time, or the system is about to kill one.
    case critical

    public static func < (one: MemoryPressureLevel, other: MemoryPressureLevel) -> Bool {
        one.rawValue < other.rawValue
    }
}

extension MemoryCache {
    /// The share of bytes that stays on ``MemoryPressureLevel/warning``.
    public static let shareAtWarning = 0.5
    /// The share of bytes that stays when the program goes to the background.
    public static let shareInBackground = 0.25

    /// Evicts half of the bytes on a warning, and everything when memory is critical.
    ///
    /// Images that consumers hold are still found. A return to normal changes nothing.
    public func respond(to level: MemoryPressureLevel) {
        switch level {
        case .normal: break
        case .warning: trim(toShare: Self.shareAtWarning)
        case .critical: trim(toShare: 0)
        }
    }

    /// Evicts three quarters of the bytes, because the program is in the background.
    public func enterBackground() { trim(toShare: Self.shareInBackground) }
}
