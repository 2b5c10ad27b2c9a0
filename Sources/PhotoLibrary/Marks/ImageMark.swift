// SPDX-License-Identifier: Apache-2.0

/// What a user has said about an image.
package struct ImageMark: Hashable, Sendable {
    package var isFavourite = false
    /// The rating in stars from 0 to 5; `nil` for that of the file.
    package var rating: Int?

    package init(isFavourite: Bool = false, rating: Int? = nil) {
        self.isFavourite = isFavourite
        self.rating = rating
    }

    /// Whether the user has said nothing.
    package var isEmpty: Bool { !isFavourite && rating == nil }
}

/// A change of marks; properties that are `nil` stay.
package struct MarkChange: Sendable {
    package var isFavourite: Bool?
    package var rating: Int?

    package init(isFavourite: Bool?, rating: Int?) {
        self.isFavourite = isFavourite
        self.rating = rating
    }

    func applied(to mark: ImageMark) -> ImageMark {
        ImageMark(isFavourite: isFavourite ?? mark.isFavourite, rating: rating ?? mark.rating)
    }
}
