// SPDX-License-Identifier: Apache-2.0

/// How urgent an image is; of equal urgency the older request goes first.
public enum LoadPriority: Int, Comparable, Sendable, CaseIterable {
    case background
    /// What scrolling is about to reveal.
    case prefetch
    /// What is looked at now.
    case visible

    /// Orders the cases as they are declared.
    public static func < (one: LoadPriority, other: LoadPriority) -> Bool {
        one.rawValue < other.rawValue
    }
}
