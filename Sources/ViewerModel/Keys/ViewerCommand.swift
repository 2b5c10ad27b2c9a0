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
    /// Opens the current image from the grid, or performs what a list announces.
    case open
    /// Changes between the grid and the current image.
    case grid
    /// Leaves the full screen, then the image, then the viewer.
    case leave
    /// Closes the viewer.
    case quit
    /// Fills the screen, or leaves it.
    case fullScreen = "full-screen"
    /// Shows a strip of the images before and after the current one.
    case filmstrip
    /// Shows the next images in turn.
    case slideshow
    /// Compares the current image with the next one, two or three.
    case compare
    /// Enlarges the image.
    case zoomIn = "zoom-in"
    /// Reduces the image.
    case zoomOut = "zoom-out"
    /// Fits the image into the window.
    case zoomFit = "zoom-fit"
    /// Shows one image pixel per device pixel.
    case zoomFull = "zoom-full"
    /// Pauses an animation, or continues it.
    case pause
    /// Pauses an animation at the next frame, or shows the next page or mip level.
    case nextFrame = "next-frame"
    /// Pauses an animation at the previous frame, or shows the previous page or mip level.
    case previousFrame = "previous-frame"
    /// Turns the image to the right, without loss.
    case turnRight = "turn-right"
    /// Turns the image to the left, without loss.
    case turnLeft = "turn-left"
    /// Moves the image to the trash.
    case trash
    /// Renames the image.
    case rename
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
    /// Lists the rejected images, which `open` then moves to the trash.
    case review
    /// Moves the image into a numbered folder.
    case move1 = "move-1", move2 = "move-2", move3 = "move-3", move4 = "move-4", move5 = "move-5"
    /// Moves the image into a numbered folder.
    case move6 = "move-6", move7 = "move-7", move8 = "move-8", move9 = "move-9"
    /// Copies the image into a numbered folder.
    case copy1 = "copy-1", copy2 = "copy-2", copy3 = "copy-3", copy4 = "copy-4", copy5 = "copy-5"
    /// Copies the image into a numbered folder.
    case copy6 = "copy-6", copy7 = "copy-7", copy8 = "copy-8", copy9 = "copy-9"
    /// Copies the image to the clipboard.
    case copy
    /// Opens the image in another program.
    case openWith = "open-with"
    /// Prints the image on a page.
    case print
    /// Makes the image the background of the desktop.
    case wallpaper
    /// Shows the properties, the metadata and the histogram.
    case info
    /// Shows how the image was decoded.
    case explain
    /// Shows the keys.
    case keys

    /// The rating that the command assigns, from −1 to 5; `nil` for other commands.
    package var rating: Int? {
        self == .reject ? -1 : number(after: "rate-")
    }

    /// The name of the folder into which the command moves an image; `nil` for other commands.
    package var moveFolder: String? { number(after: "move-").map { "\($0)" } }

    /// The name of the folder into which the command copies an image; `nil` for other commands.
    package var copyFolder: String? { number(after: "copy-").map { "\($0)" } }

    private func number(after prefix: String) -> Int? {
        rawValue.hasPrefix(prefix) ? Int(rawValue.dropFirst(prefix.count)) : nil
    }
}
