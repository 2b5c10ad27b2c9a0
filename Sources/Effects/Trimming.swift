// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Which borders of an image are removed.
public struct Trimming: Hashable, Sendable {
    /// The largest difference of a channel from the colour that is removed, from 0 to 255.
    public var threshold: Double
    /// The colour that is removed; `nil` for that of the top left pixel.
    public var color: SRGBColor?
    /// Whether as much is removed on the left as on the right.
    public var isHorizontallyEqual: Bool
    /// Whether as much is removed above as below.
    public var isVerticallyEqual: Bool

    /// Creates a description of the borders.
    ///
    /// - Parameters:
    ///   - threshold: the largest difference of a channel, from 0 to 255.
    ///   - color: the colour, in the colour space of the image; `nil` for that of the top left pixel.
    ///   - isHorizontallyEqual: whether as much is removed on the left as on the right.
    ///   - isVerticallyEqual: whether as much is removed above as below.
    public init(
        threshold: Double, color: SRGBColor? = nil, isHorizontallyEqual: Bool = false,
        isVerticallyEqual: Bool = false
    ) {
        self.threshold = threshold
        self.color = color
        self.isHorizontallyEqual = isHorizontallyEqual
        self.isVerticallyEqual = isVerticallyEqual
    }

    var text: String {
        "\(threshold),\(color?.text ?? ""),\(isHorizontallyEqual),\(isVerticallyEqual)"
    }

    /// Returns the part of the image within the borders; the image itself if all of it is border.
    func applied(to image: PixelBuffer) -> PixelBuffer {
        let image = image.unpacked
        guard let content = content(of: image), content != PixelRect(image.size) else {
            return image
        }
        return image.cut(content)
    }

    /// Returns the smallest rectangle that contains all other colours.
    private func content(of image: PixelBuffer) -> PixelRect? {
        let size = image.size
        let conversion = RowConversion(image.format, width: size.width)
        var row = PixelRow(repeating: .zero, count: size.width)
        conversion.unpack(image.row(0), 0..<1, into: &row)
        let removed = color?.premultiplied ?? row[0]
        let limit = Float(threshold / 255) + 1e-6
        var (left, right, top, bottom) = (size.width, 0, size.height, 0)
        for y in 0..<size.height {
            conversion.unpack(image.row(y), row.indices, into: &row)
            func isContent(_ x: Int) -> Bool {
                let difference = row[x] - removed
                return pointwiseMax(difference, -difference).max() > limit
            }
            guard let first = row.indices.first(where: isContent),
                let last = row.indices.last(where: isContent)
            else { continue }
            (left, right) = (min(left, first), max(right, last + 1))
            (top, bottom) = (min(top, y), y + 1)
        }
        guard left < right else { return nil }
        if isHorizontallyEqual {
            let margin = min(left, size.width - right)
            (left, right) = (margin, size.width - margin)
        }
        if isVerticallyEqual {
            let margin = min(top, size.height - bottom)
            (top, bottom) = (margin, size.height - margin)
        }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}
