// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A larger box around an image.
public struct Extension: Hashable, Sendable {
    /// What fills the box beside the image.
    public enum Fill: Hashable, Sendable {
        /// A colour, in the colour space of the image.
        case color(SRGBColor)
        /// The image itself, enlarged to cover the box and blurred; the image is at even coordinates, or at
        /// the edge.
        case blurredImage
    }

    /// The size of the box in pixels; a side that is shorter than the image's is the image's.
    public var size: PixelSize
    /// The horizontal position of the image: 0 is left, 0.5 the centre, 1 right.
    public var x: Double
    /// The vertical position of the image: 0 is top, 0.5 the centre, 1 bottom.
    public var y: Double
    /// What fills the box beside the image.
    public var fill: Fill

    /// Creates a box.
    ///
    /// - Parameters:
    ///   - size: the size in pixels.
    ///   - x: the horizontal position of the image: 0 is left, 0.5 the centre, 1 right.
    ///   - y: the vertical position of the image: 0 is top, 0.5 the centre, 1 bottom.
    ///   - fill: what fills the box beside the image.
    public init(to size: PixelSize, x: Double = 0.5, y: Double = 0.5, fill: Fill) {
        self.size = size
        self.x = min(max(x, 0), 1)
        self.y = min(max(y, 0), 1)
        self.fill = fill
    }

    var text: String {
        switch fill {
        case .color(let color): "\(size),\(x),\(y),\(color.text)"
        case .blurredImage: "\(size),\(x),\(y),blurred"
        }
    }

    /// Returns the image in the box, or `nil` if it was cancelled.
    func applied(to image: PixelBuffer, _ isCancelled: () -> Bool) -> PixelBuffer? {
        let box = PixelSize(
            width: max(size.width, image.size.width), height: max(size.height, image.size.height))
        guard box != image.size else { return image }
        // The margin absorbs the rounding of a position that was divided by the free space.
        func start(_ free: Int, _ share: Double) -> Int {
            Int((Double(free) * share + 1e-6).rounded(.down))
        }
        let left = start(box.width - image.size.width, x)
        let top = start(box.height - image.size.height, y)
        switch fill {
        case .color(let color):
            let padding = Padding(
                top: top, right: box.width - image.size.width - left,
                bottom: box.height - image.size.height - top, left: left, color: color)
            return Effect.pad(padding).applied(to: image, isCancelled: isCancelled)
        case .blurredImage:
            // Between the edges, the image is at a sample of each plane, so that it can stay in planes.
            let left = x < 1 ? left / 2 * 2 : left
            let top = y < 1 ? top / 2 * 2 : top
            let isAligned = left % 2 == 0 && top % 2 == 0
            let source =
                isAligned && image.format == .yCbCr420
                ? image : image.converted(to: image.format.withIntegerSamples)
            guard let background = blurredCover(of: source, box, isCancelled) else { return nil }
            return source.format.hasAlpha
                ? Effect.overlay(
                    Overlay(source, identity: "", placement: .origin(x: left, y: top))
                ).applied(to: background, isCancelled: isCancelled)
                : background.with(source, at: (x: left, y: top))
        }
    }

    /// Returns the image enlarged to cover a box, blurred at an eighth of the size.
    private func blurredCover(
        of image: PixelBuffer, _ box: PixelSize, _ isCancelled: () -> Bool
    ) -> PixelBuffer? {
        let reduced = PixelSize(
            width: max(1, box.width / 8), height: max(1, box.height / 8))
        let geometry = ResizeGeometry(
            of: image.size, into: reduced, mode: .fill, enlarging: true)
        let sigma = Double(min(reduced.width, reduced.height)) / 20
        let copy = image.resized(geometry.region, to: geometry.size, kernel: .triangle)
        return Effect.blur(sigma: max(sigma, 1)).applied(
            to: copy.convertedFromYCbCr(), isCancelled: isCancelled
        ).map {
            $0.converted(to: image.format).resized(
                SampleRegion($0.size), to: box, kernel: .catmullRom)
        }
    }
}

extension PixelBuffer {
    /// Returns the image with a part replaced by an opaque image of the same format, at a sample of each
    /// plane.
    fileprivate func with(_ part: PixelBuffer, at place: (x: Int, y: Int)) -> PixelBuffer {
        var result = MutablePixelBuffer(self)
        result.copy(part, to: place)
        return result.finish()
    }
}
