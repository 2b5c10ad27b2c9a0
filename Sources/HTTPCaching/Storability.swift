// SPDX-License-Identifier: Apache-2.0

/// Whether what is made of an original may be kept, and until when it needs no look at the original.
package struct Storability: Hashable, Sendable {
    package var isAllowed: Bool
    /// In seconds since 1970; 0 if the original is looked at each time, as files are.
    package var freshUntil: Int
    /// Whether the request sent fields, which may have had a say in what the server answered.
    package var dependsOnFields: Bool

    package init(isAllowed: Bool = true, freshUntil: Int = 0, dependsOnFields: Bool = false) {
        self.isAllowed = isAllowed
        self.freshUntil = freshUntil
        self.dependsOnFields = dependsOnFields
    }

    /// Until when what is kept may be shown by the name of the original alone.
    package var answersByNameUntil: Int { dependsOnFields ? 0 : freshUntil }
}
