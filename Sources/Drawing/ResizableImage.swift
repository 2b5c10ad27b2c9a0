// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// An image whose corners keep their size when it is resized: a nine-part image.
public struct ResizableImage: Sendable {
    /// How the edges and the centre fill their space.
    public enum Mode: String, Hashable, Sendable {
        /// Stretched.
        case stretch
        /// Repeated from the start of the space; the last copy is cut.
        case tile
    }

    /// The distances of the inner part from the edges of the image.
    public struct Insets: Hashable, Sendable {
        /// Distances in pixels, at least 0.
        public var top, left, bottom, right: Int

        /// Creates distances in pixels.
        public init(top: Int, left: Int, bottom: Int, right: Int) {
            self.top = top
            self.left = left
            self.bottom = bottom
            self.right = right
        }
    }

    /// The image.
    public let image: PixelBuffer
    /// The distances of the inner part.
    public let insets: Insets
    /// How the edges and the centre fill their space.
    public let mode: Mode

    /// Creates a resizable image.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - insets: the distances of the inner part from the edges, together less than the image.
    ///   - mode: how the edges and the centre fill their space.
    /// - Throws: ``DrawingError/invalid(reason:)`` if the insets leave no inner part.
    public init(
        _ image: PixelBuffer, insets: Insets, mode: Mode = .stretch
    ) throws(DrawingError) {
        let values = [insets.top, insets.left, insets.bottom, insets.right]
        guard values.allSatisfy({ (0...image.size.largestSide).contains($0) }),
            insets.left + insets.right < image.size.width,
            insets.top + insets.bottom < image.size.height
        else {
            throw .invalid(
                reason: "invalid insets \(values) of an image of \(image.size) pixels; they must "
                    + "leave at least one pixel")
        }
        self.image = image
        self.insets = insets
        self.mode = mode
    }
}

extension DrawingContext {
    /// Draws a resizable image in a rectangle; its corners have the size that they have in the image.
    ///
    /// - Throws: ``DrawingError/invalid(reason:)`` if there are too many copies.
    public mutating func draw(
        _ resizable: ResizableImage, in rect: SampleRegion
    ) throws(DrawingError) {
        let (image, insets) = (resizable.image, resizable.insets)
        let columns = Self.parts(
            image.size.width, insets.left, insets.right, rect.x, rect.width, resizable.mode)
        let rows = Self.parts(
            image.size.height, insets.top, insets.bottom, rect.y, rect.height, resizable.mode)
        guard columns.count * rows.count + layers.count <= Self.maximumLayerCount else {
            throw .invalid(
                reason: "a nine-part image needs \(columns.count * rows.count) copies of its parts")
        }
        for row in rows {
            for column in columns {
                let region = SampleRegion(
                    x: column.start, y: row.start, width: column.length, height: row.length)
                let target = SampleRegion(
                    x: column.place, y: row.place, width: column.size, height: row.size)
                let keepsSize = column.length == column.size && row.length == row.size
                draw(image, region, in: target, interpolates: !keepsSize)
            }
        }
    }

    /// A part of one axis of an image, and where it is drawn.
    private struct Part {
        let start, length, place, size: Double
    }

    /// Returns the parts of one axis; the ends shrink if the space is smaller than both.
    private static func parts(
        _ length: Int, _ before: Int, _ after: Int, _ place: Double, _ space: Double,
        _ mode: ResizableImage.Mode
    ) -> [Part] {
        let scale = min(1, space / Double(max(before + after, 1)))
        let (first, last) = (Double(before) * scale, Double(after) * scale)
        let (inner, target) = (Double(length - before - after), space - first - last)
        var parts = [Part(start: 0, length: Double(before), place: place, size: first)]
        switch mode {
        case .stretch:
            parts.append(
                Part(start: Double(before), length: inner, place: place + first, size: target))
        case .tile:
            var offset = 0.0
            while offset < target, parts.count <= maximumLayerCount {
                let size = min(inner, target - offset)
                parts.append(
                    Part(
                        start: Double(before), length: size, place: place + first + offset,
                        size: size))
                offset += inner
            }
        }
        parts.append(
            Part(
                start: Double(length - after), length: Double(after),
                place: place + space - last, size: last))
        return parts.filter { $0.size > 0 && $0.length > 0 }
    }
}
