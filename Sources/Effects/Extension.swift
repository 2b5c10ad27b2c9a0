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
            guard let cover = blurredCover(of: source, box, isCancelled) else { return nil }
            guard source.format.hasAlpha else {
                return source.placed(at: (x: left, y: top), in: box, cover)
            }
            return Effect.overlay(
                Overlay(source, identity: "", placement: .origin(x: left, y: top))
            ).applied(to: cover.enlarged(to: box, PixelRect(box)), isCancelled: isCancelled)
        }
    }

    /// Returns the image that covers a box, blurred, at an eighth of the size.
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
        ).map { $0.converted(to: image.format) }
    }
}

extension PixelBuffer {
    /// Returns a part of the image after it was enlarged to a box.
    fileprivate func enlarged(to box: PixelSize, _ part: PixelRect) -> PixelBuffer {
        let region = SampleRegion(
            x: Double(part.x), y: Double(part.y), width: Double(part.width),
            height: Double(part.height)
        ).scaled(
            horizontally: Double(size.width) / Double(box.width),
            vertically: Double(size.height) / Double(box.height))
        return resized(region, to: part.size, kernel: .catmullRom)
    }

    /// Returns the opaque image in a box, beside it the parts of an image that is enlarged to the box.
    fileprivate func placed(
        at place: (x: Int, y: Int), in box: PixelSize, _ cover: PixelBuffer
    ) -> PixelBuffer {
        var result = MutablePixelBuffer(size: box, format: format, colorProfile: colorProfile)
        // At a sample of each plane.
        let right = (place.x + size.width) / 2 * 2
        let bottom = (place.y + size.height) / 2 * 2
        let height = bottom - place.y
        for part in [
            PixelRect(x: 0, y: 0, width: box.width, height: place.y),
            PixelRect(x: 0, y: place.y, width: place.x, height: height),
            PixelRect(x: right, y: place.y, width: box.width - right, height: height),
            PixelRect(x: 0, y: bottom, width: box.width, height: box.height - bottom),
        ] where !part.isEmpty {
            result.copy(cover.enlarged(to: box, part), to: (x: part.x, y: part.y))
        }
        result.copy(self, to: place)
        return result.finish()
    }
}
