// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// The position and the scale of an image in a view, in device pixels.
package struct ImagePlacement: Hashable, Sendable {
    /// The size of the image.
    package let image: PixelSize
    /// The size of the view.
    package private(set) var view: PixelSize
    /// The number of device pixels per image pixel.
    package private(set) var scale: Double
    /// The position of the image's left edge in the view.
    package private(set) var x = 0.0
    /// The position of the image's top edge in the view.
    package private(set) var y = 0.0
    /// Whether the image is fitted into the view, also when the view changes.
    package private(set) var isFitted = true

    /// The maximum scale.
    package static let maximumScale = 32.0

    /// Fits an image into a view; images that are smaller than the view are not enlarged.
    package init(_ image: PixelSize, in view: PixelSize) {
        self.image = image
        self.view = view
        scale = 1
        fit()
    }

    /// The scale at which the image fits into the view.
    package var fittingScale: Double {
        min(
            1, Double(view.width) / Double(image.width), Double(view.height) / Double(image.height))
    }

    /// Whether the image is displayed larger than it fits.
    package var isEnlarged: Bool { !isFitted && scale > fittingScale }

    /// The width of the displayed image.
    package var width: Double { Double(image.width) * scale }
    /// The height of the displayed image.
    package var height: Double { Double(image.height) * scale }

    /// Fits the image into the view.
    package mutating func fit() {
        isFitted = true
        scale = fittingScale
        clamp()
    }

    /// Changes the scale; the point of the image at a point of the view stays there.
    package mutating func zoom(to newScale: Double, atX px: Double, y py: Double) {
        let newScale = min(max(newScale, min(fittingScale, 0.1)), Self.maximumScale)
        let factor = newScale / scale
        x = px - (px - x) * factor
        y = py - (py - y) * factor
        scale = newScale
        isFitted = false
        clamp()
    }

    /// Moves the image; its edges do not enter a view that it covers.
    package mutating func pan(byX dx: Double, y dy: Double) {
        x += dx
        y += dy
        clamp()
    }

    /// Changes the size of the view; a fitted image stays fitted, and the centre of another stays.
    package mutating func resize(to newView: PixelSize) {
        x += Double(newView.width - view.width) / 2
        y += Double(newView.height - view.height) / 2
        view = newView
        if isFitted { fit() } else { clamp() }
    }

    /// The part of the image that is visible, in image pixels; never empty.
    package var visiblePart: PixelRect {
        func range(_ origin: Double, _ side: Int, _ viewSide: Int) -> Range<Int> {
            let first = min(max(0, Int((-origin / scale).rounded(.down))), side - 1)
            let end = Int(((Double(viewSide) - origin) / scale).rounded(.up))
            return first..<max(first + 1, min(end, side))
        }
        let columns = range(x, image.width, view.width)
        let rows = range(y, image.height, view.height)
        return PixelRect(
            x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }

    private mutating func clamp() {
        x = Self.clamped(x, width, Double(view.width))
        y = Self.clamped(y, height, Double(view.height))
    }

    /// Returns the origin of a side: centred if it fits, else without a gap at either end.
    private static func clamped(_ origin: Double, _ side: Double, _ viewSide: Double) -> Double {
        guard side > viewSide else { return ((viewSide - side) / 2).rounded() }
        return min(0, max(viewSide - side, origin))
    }
}
