// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// What is often done with a decoded picture.
///
/// Lengths are in pixels of the picture as it comes from the step before.
public enum ImageOperation: ImageProcessor, Hashable {
    /// Keeps a part of that size, or as much of it as there is.
    ///
    /// `x` and `y` say where the part lies: 0 at the left or top, 0.5 in the middle, 1 at the right
    /// or bottom.
    case crop(PixelSize, x: Double = 0.5, y: Double = 0.5)
    /// Changes the size; `DecodeOptions/box` does it while decoding, which is faster by far.
    case resize(PixelSize, ResizeMode = .fit, ResamplingKernel = .lanczos3)
    /// Turns and mirrors as a picture that is stored so is to be shown upright.
    case turn(Orientation)
    /// Makes what is at least half as light as white white, the rest black.
    case threshold
    /// Cuts the corners off along quarters of a circle; `.infinity` makes the shorter sides round.
    case roundCorners(radius: Double)
    /// Weighs each pixel's surroundings by a Gaussian of that standard deviation.
    case blur(sigma: Double)
    /// Moves all colours towards one by `amount`, from 0 to 1.
    case tint(SRGBColor, amount: Double)

    public var identity: String {
        switch self {
        case .crop(let size, let x, let y): "crop(\(size),\(x),\(y))"
        case .resize(let box, let mode, let kernel):
            "resize(\(box),\(mode.rawValue),\(kernel.rawValue))"
        case .turn(let orientation): "turn(\(orientation.rawValue))"
        case .threshold: "threshold"
        case .roundCorners(let radius): "corners(\(radius))"
        case .blur(let sigma): "blur(\(sigma))"
        case .tint(let color, let amount):
            "tint(\(color.red),\(color.green),\(color.blue),\(color.alpha),\(amount))"
        }
    }

    public func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        guard !cancellation.isCancelled else { throw .cancelled }
        switch self {
        case .crop(let size, let x, let y):
            return image.cropped(to: size, x: x, y: y)
        case .resize(let box, let mode, let kernel):
            return image.resized(into: box, mode: mode, kernel: kernel)
        case .turn(let orientation): return image.turned(orientation)
        case .threshold: return image.thresholded()
        case .roundCorners(let radius): return image.withRoundedCorners(radius: radius)
        case .blur(let sigma):
            guard
                let blurred = image.blurred(sigma: sigma, isCancelled: { cancellation.isCancelled })
            else { throw .cancelled }
            return blurred
        case .tint(let color, let amount): return image.tinted(color, amount: amount)
        }
    }
}

extension PixelBuffer {
    fileprivate func cropped(to wanted: PixelSize, x: Double, y: Double) -> PixelBuffer {
        guard format.planeCount == 1 else {
            return converted(to: format.withWholeSamples).cropped(to: wanted, x: x, y: y)
        }
        func start(_ rest: Int, _ share: Double) -> Int {
            share > 0 ? Int((Double(rest) * min(share, 1)).rounded()) : 0
        }
        let width = min(max(wanted.width, 1), size.width)
        let height = min(max(wanted.height, 1), size.height)
        return cut(
            PixelRect(
                x: start(size.width - width, x), y: start(size.height - height, y),
                width: width, height: height))
    }

    fileprivate func resized(
        into box: PixelSize, mode: ResizeMode, kernel: ResamplingKernel
    ) -> PixelBuffer {
        let geometry = ResizeGeometry(
            of: size, into: PixelSize(width: max(box.width, 1), height: max(box.height, 1)),
            mode: mode, enlarging: true)
        let source =
            format == .yCbCr420 ? self : converted(to: format.withWholeSamples)
        return source.resized(geometry.region, to: geometry.size, kernel: kernel)
    }
}
