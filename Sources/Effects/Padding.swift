// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Margins of one colour around an image.
public struct Padding: Hashable, Sendable {
    /// The margins in pixels, at least 0.
    public var top, right, bottom, left: Int
    /// The colour, in the colour space of the image.
    public var color: SRGBColor

    /// Creates margins.
    ///
    /// - Parameters:
    ///   - top: the margin above the image in pixels; less than 0 is 0, as for all margins.
    ///   - right: the margin on the right.
    ///   - bottom: the margin below.
    ///   - left: the margin on the left.
    ///   - color: the colour, in the colour space of the image.
    public init(top: Int, right: Int, bottom: Int, left: Int, color: SRGBColor) {
        self.top = max(top, 0)
        self.right = max(right, 0)
        self.bottom = max(bottom, 0)
        self.left = max(left, 0)
        self.color = color
    }

    var isEmpty: Bool { top == 0 && right == 0 && bottom == 0 && left == 0 }

    var text: String { "\(top),\(right),\(bottom),\(left),\(color.text)" }

    /// The size of an image with its margins.
    func size(around size: PixelSize) -> PixelSize {
        PixelSize(width: left + size.width + right, height: top + size.height + bottom)
    }

    /// The format of an image with its margins.
    func format(around format: PixelFormat) -> PixelFormat {
        let colored = color.isGray ? format : format.withColors
        return color.alpha < 1 ? colored.withAlpha : colored
    }
}

/// Adds the margins of a ``Padding``.
final class PadStage: RowStage {
    private let padding: Padding
    private let color: SIMD4<Float>
    private let next: RowStage
    private var result: PixelRow
    private var hasBegun = false

    /// - Parameters:
    ///   - padding: the margins.
    ///   - size: the size of the image without margins.
    ///   - next: receives the rows of the image with margins.
    init(_ padding: Padding, _ size: PixelSize, _ next: RowStage) {
        self.padding = padding
        self.next = next
        color = padding.color.premultiplied
        result = PixelRow(repeating: .zero, count: padding.size(around: size).width)
    }

    override func append(_ row: inout PixelRow) {
        if !hasBegun {
            hasBegun = true
            appendMargin(padding.top)
        }
        for x in 0..<padding.left { result[x] = color }
        for x in row.indices { result[padding.left + x] = row[x] }
        for x in padding.left + row.count..<result.count { result[x] = color }
        next.append(&result)
    }

    override func finish() {
        appendMargin(padding.bottom)
        next.finish()
    }

    private func appendMargin(_ count: Int) {
        for _ in 0..<count {
            for x in result.indices { result[x] = color }
            next.append(&result)
        }
    }
}
