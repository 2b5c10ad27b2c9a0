// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// The parts of a view in which one to four images are displayed side by side.
package struct Panes: Hashable, Sendable {
    /// The parts, all of the same size, in the order of the images.
    package let rects: [PixelRect]

    private static let gap = 4

    /// Divides a view: into columns, four images into two rows of two.
    ///
    /// - Parameters:
    ///   - view: the size of the view.
    ///   - count: the number of images, from 1 to 4.
    ///   - isRightToLeft: whether the first image is at the right.
    package init(_ view: PixelSize, count: Int, isRightToLeft: Bool = false) {
        let columns = count == 4 ? 2 : max(1, count)
        let rows = count == 4 ? 2 : 1
        let width = max(1, (view.width - (columns - 1) * Self.gap) / columns)
        let height = max(1, (view.height - (rows - 1) * Self.gap) / rows)
        rects = (0..<columns * rows).map { index in
            let (row, column) = index.quotientAndRemainder(dividingBy: columns)
            let place = isRightToLeft ? columns - 1 - column : column
            return PixelRect(
                x: place * (width + Self.gap), y: row * (height + Self.gap), width: width,
                height: height)
        }
    }

    /// The size of each part.
    package var size: PixelSize { rects[0].size }

    /// Returns the part at a point, or the nearest one.
    package func index(atX x: Double, y: Double) -> Int {
        rects.indices.min { distance($0, x, y) < distance($1, x, y) } ?? 0
    }

    private func distance(_ index: Int, _ x: Double, _ y: Double) -> Double {
        let rect = rects[index]
        let dx = x - Double(rect.x) - Double(rect.width) / 2
        let dy = y - Double(rect.y) - Double(rect.height) / 2
        return dx * dx + dy * dy
    }
}

extension ImagePlacement {
    /// Returns the placement of another image in step: with the same enlargement of the fitted size, and
    /// the same point, relative to the size, in the middle of the view.
    package func inStep(for image: PixelSize) -> ImagePlacement {
        var other = ImagePlacement(image, in: view)
        guard !isFitted else { return other }
        let (middleX, middleY) = (Double(view.width) / 2, Double(view.height) / 2)
        other.zoom(
            to: scale / fittingScale * other.fittingScale, atX: middleX, y: middleY)
        other.pan(
            byX: middleX - (middleX - x) / width * other.width - other.x,
            y: middleY - (middleY - y) / height * other.height - other.y)
        return other
    }
}
