// SPDX-License-Identifier: Apache-2.0

/// How short memory is.
public enum MemoryPressureLevel: Int, Comparable, Sendable, CaseIterable {
    case normal
    /// Programs begin to wait for memory.
    case warning
    /// Programs wait for memory much of the time, or one is about to be ended for want of it.
    case critical

    public static func < (one: MemoryPressureLevel, other: MemoryPressureLevel) -> Bool {
        one.rawValue < other.rawValue
    }
}
