// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Common operations on the geometry of decoded images; `Effect` changes their colours.
///
/// Lengths are in pixels of the input of the operation.
public enum ImageOperation: ImageProcessor, Hashable {
    /// Crops the image to a size, or to its own size where that is smaller.
    ///
    /// `x` and `y` are the position of the crop: 0 is left or top, 0.5 the center, 1 right or bottom.
    case crop(PixelSize, x: Double = 0.5, y: Double = 0.5)
    /// Resizes the image; `DecodeOptions/box` does so while decoding, which is much faster.
    case resize(PixelSize, ResizeMode = .fit, ResamplingKernel = .lanczos3)
    /// Rotates and mirrors the image as one stored with this orientation is shown upright.
    case turn(Orientation)
    /// Makes pixels of at least half the lightness of white white, and all others black.
    case threshold
    /// Rounds the corners; `.infinity` makes the shorter sides semicircles.
    case roundCorners(radius: Double)

    public var identity: String {
        switch self {
        case .crop(let size, let x, let y): "crop(\(size),\(x),\(y))"
        case .resize(let box, let mode, let kernel):
            "resize(\(box),\(mode.rawValue),\(kernel.rawValue))"
        case .turn(let orientation): "turn(\(orientation.rawValue))"
        case .threshold: "threshold"
        case .roundCorners(let radius): "corners(\(radius))"
        }
    }

    public var acceptsYCbCr: Bool {
        switch self {
        case .resize: true
        case .crop, .turn, .threshold, .roundCorners: false
        }
    }

    public func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        guard !cancellation.isCancelled else { throw .cancelled }
        switch self {
        case .crop(let size, let x, let y):
            return crop(image, to: size, x: x, y: y)
        case .resize(let box, let mode, let kernel):
            return resize(image, into: box, mode: mode, kernel: kernel)
        case .turn(let orientation): return image.turned(orientation)
        case .threshold: return image.thresholded()
        case .roundCorners(let radius): return image.withRoundedCorners(radius: radius)
        }
    }

    private func crop(
        _ image: PixelBuffer, to wanted: PixelSize, x: Double, y: Double
    ) -> PixelBuffer {
        guard image.format.planeCount == 1 else {
            return crop(
                image.converted(to: image.format.withIntegerSamples), to: wanted, x: x, y: y)
        }
        func start(_ rest: Int, _ share: Double) -> Int {
            share > 0 ? Int((Double(rest) * min(share, 1)).rounded()) : 0
        }
        let width = min(max(wanted.width, 1), image.size.width)
        let height = min(max(wanted.height, 1), image.size.height)
        return image.cut(
            PixelRect(
                x: start(image.size.width - width, x), y: start(image.size.height - height, y),
                width: width, height: height))
    }

    private func resize(
        _ image: PixelBuffer, into box: PixelSize, mode: ResizeMode, kernel: ResamplingKernel
    ) -> PixelBuffer {
        let geometry = ResizeGeometry(
            of: image.size,
            into: PixelSize(width: max(box.width, 1), height: max(box.height, 1)),
            mode: mode, enlarging: true)
        let source =
            image.format == .yCbCr420
            ? image : image.converted(to: image.format.withIntegerSamples)
        return source.resized(geometry.region, to: geometry.size, kernel: kernel)
    }
}
