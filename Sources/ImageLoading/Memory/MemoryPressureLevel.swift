// SPDX-License-Identifier: Apache-2.0

/// The memory pressure of the system.
public enum MemoryPressureLevel: Int, Comparable, Sendable, CaseIterable {
    case normal
    /// Programs begin to stall on memory.
    case warning
    /// Programs stall on memory much of the time, or the system is about to kill one.
    case critical

    /// Orders the cases as they are declared.
    public static func < (one: MemoryPressureLevel, other: MemoryPressureLevel) -> Bool {
        one.rawValue < other.rawValue
    }
}
