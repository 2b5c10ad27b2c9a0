// SPDX-License-Identifier: Apache-2.0

/// Whether images made from an original may be stored, and until when they are fresh.
package struct Storability: Hashable, Sendable {
    package var isAllowed: Bool
    /// The end of freshness in seconds since 1970; 0 if the original is checked each time, as files
    /// are.
    package var freshUntil: Int
    /// Whether the request had fields on which the response may depend.
    package var dependsOnFields: Bool

    package init(isAllowed: Bool = true, freshUntil: Int = 0, dependsOnFields: Bool = false) {
        self.isAllowed = isAllowed
        self.freshUntil = freshUntil
        self.dependsOnFields = dependsOnFields
    }

    /// The time until which a stored image may be found by the name of the original alone.
    package var answersByNameUntil: Int { dependsOnFields ? 0 : freshUntil }
}
