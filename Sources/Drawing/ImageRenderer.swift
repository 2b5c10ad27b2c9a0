// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Draws images in the smallest format that contains what is drawn.
///
/// A drawing is recorded first. Then the format is chosen, and the pixels are computed row by row.
public struct ImageRenderer: Sendable {
    /// The size of the drawing's coordinates.
    public let size: PixelSize
    /// The formats that may be chosen.
    public let format: ImageRendererFormat
    /// The fonts of texts; `nil` if none are drawn.
    public let fonts: FontCollection?

    /// The largest side in pixels, which is cairo's.
    public static let maximumSide = 32_767

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - size: the size of the drawing.
    ///   - format: the formats that may be chosen.
    ///   - fonts: the fonts of texts; `nil` if none are drawn.
    public init(
        size: PixelSize, format: ImageRendererFormat = ImageRendererFormat(),
        fonts: FontCollection? = nil
    ) {
        self.size = size
        self.format = format
        self.fonts = fonts
    }

    /// Returns a drawing as an image.
    ///
    /// - Parameter body: records the drawing.
    /// - Returns: the image; `PixelFormat/alpha8` only if it was requested.
    /// - Throws: the error of `body`, and ``DrawingError`` if a limit is exceeded.
    public func image(
        _ body: (inout DrawingContext) throws(DrawingError) -> Void
    ) throws(DrawingError) -> PixelBuffer {
        let context = try record(body)
        let plan = RenderPlan(context.layers, context.size, format.range, allowsTint: false)
        return try paint(context, plan)
    }

    /// Returns a drawing in the form that needs the least memory.
    ///
    /// - Parameter body: records the drawing.
    /// - Returns: the description of the drawing.
    /// - Throws: the error of `body`, and ``DrawingError`` if a limit is exceeded.
    public func contents(
        _ body: (inout DrawingContext) throws(DrawingError) -> Void
    ) throws(DrawingError) -> LayerContents {
        let context = try record(body)
        if format.range == .automatic, let contents = LayerContents(context) { return contents }
        let plan = RenderPlan(context.layers, context.size, format.range, allowsTint: true)
        let image = try paint(context, plan)
        return plan.tint.map { .mask(image, tint: $0) } ?? .pixels(image)
    }

    /// Returns the format and the bytes of ``contents(_:)`` without computing pixels.
    ///
    /// - Parameter body: records the drawing.
    /// - Returns: the format, its cost and the reason for it.
    /// - Throws: the error of `body`.
    public func plan(
        _ body: (inout DrawingContext) throws(DrawingError) -> Void
    ) throws(DrawingError) -> RenderPlan {
        let context = try record(body)
        if format.range == .automatic, let contents = LayerContents(context) {
            return RenderPlan(
                format: nil, byteCount: 0, tint: nil,
                reason: "\(contents.name) needs no pixels of its own")
        }
        return RenderPlan(context.layers, context.size, format.range, allowsTint: true)
    }

    private func record(
        _ body: (inout DrawingContext) throws(DrawingError) -> Void
    ) throws(DrawingError) -> DrawingContext {
        let scale = format.scale
        func side(_ value: Int) -> Double { (Double(value) * scale).rounded() }
        let (width, height) = (side(size.width), side(size.height))
        let sides = 1...Double(Self.maximumSide)
        guard sides.contains(width), sides.contains(height) else {
            throw .invalid(
                reason: "invalid size \(size) at scale \(scale); sides must be from 1 to "
                    + "\(Self.maximumSide) pixels")
        }
        var context = DrawingContext(
            size: PixelSize(width: Int(width), height: Int(height)), scale: scale, fonts: fonts)
        try body(&context)
        guard context.layers.count <= DrawingContext.maximumLayerCount else {
            throw .invalid(
                reason: "\(context.layers.count) layers; at most "
                    + "\(DrawingContext.maximumLayerCount) are allowed")
        }
        return context
    }

    private func paint(
        _ context: DrawingContext, _ plan: RenderPlan
    ) throws(DrawingError) -> PixelBuffer {
        guard plan.byteCount <= format.maximumByteCount else {
            throw .limitExceeded(needed: plan.byteCount, allowed: format.maximumByteCount)
        }
        for layer in context.layers {
            guard case .image(let content) = layer.content else { continue }
            let profile = content.image.colorProfile
            guard profile.isSRGB || profile.isDisplayP3 else {
                throw .invalid(
                    reason: "an image has a colour profile other than sRGB and Display P3; "
                        + "convert it first")
            }
        }
        var painter = Painter(context.layers, context.size, plan)
        return try painter.paint()
    }
}
