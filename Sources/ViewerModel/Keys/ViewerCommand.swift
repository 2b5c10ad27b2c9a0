// SPDX-License-Identifier: Apache-2.0

/// A command of the viewer that a key performs.
package enum ViewerCommand: String, CaseIterable, Sendable {
    /// Shows the next image.
    case next
    /// Shows the previous image.
    case previous
    /// Moves up by a row.
    case up
    /// Moves down by a row.
    case down
    /// Moves up by a page.
    case pageUp = "page-up"
    /// Moves down by a page.
    case pageDown = "page-down"
    /// Shows the first image.
    case first
    /// Shows the last image.
    case last
    /// Opens the current image from the grid.
    case open
    /// Changes between the grid and the current image.
    case grid
    /// Leaves the full screen, then the image, then the viewer.
    case leave
    /// Closes the viewer.
    case quit
    /// Fills the screen, or leaves it.
    case fullScreen = "full-screen"
    /// Enlarges the image.
    case zoomIn = "zoom-in"
    /// Reduces the image.
    case zoomOut = "zoom-out"
    /// Fits the image into the window.
    case zoomFit = "zoom-fit"
    /// Shows one image pixel per device pixel.
    case zoomFull = "zoom-full"
    /// Moves the image to the trash.
    case trash
    /// Reverts the last change of a file.
    case undo
    /// Rejects the image: rating −1.
    case reject
    /// Removes the rating.
    case rate0 = "rate-0"
    /// Rates the image with one star.
    case rate1 = "rate-1"
    /// Rates the image with two stars.
    case rate2 = "rate-2"
    /// Rates the image with three stars.
    case rate3 = "rate-3"
    /// Rates the image with four stars.
    case rate4 = "rate-4"
    /// Rates the image with five stars.
    case rate5 = "rate-5"
    /// Shows how the image was decoded.
    case explain
    /// Shows the keys.
    case keys

    /// The rating that the command assigns, from −1 to 5; `nil` for other commands.
    package var rating: Int? {
        switch self {
        case .reject: -1
        case .rate0: 0
        case .rate1: 1
        case .rate2: 2
        case .rate3: 3
        case .rate4: 4
        case .rate5: 5
        default: nil
        }
    }

    /// The description in the list of keys.
    package var text: String {
        switch self {
        case .next: "next image"
        case .previous: "previous image"
        case .up: "row up; in an image, move up"
        case .down: "row down; in an image, move down"
        case .pageUp: "page up"
        case .pageDown: "page down"
        case .first: "first image"
        case .last: "last image"
        case .open: "open image"
        case .grid: "grid or image"
        case .leave: "leave full screen, image, viewer"
        case .quit: "quit"
        case .fullScreen: "full screen"
        case .zoomIn: "enlarge"
        case .zoomOut: "reduce"
        case .zoomFit: "fit into the window"
        case .zoomFull: "100 %"
        case .trash: "move to the trash"
        case .undo: "undo"
        case .reject: "reject"
        case .rate0: "remove the rating"
        case .rate1: "1 star"
        case .rate2: "2 stars"
        case .rate3: "3 stars"
        case .rate4: "4 stars"
        case .rate5: "5 stars"
        case .explain: "how the image was decoded"
        case .keys: "this list"
        }
    }
}
