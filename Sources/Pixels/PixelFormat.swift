// SPDX-License-Identifier: Apache-2.0

/// The layout and meaning of the bytes of a ``PixelBuffer``.
///
/// A buffer is a list of planes. ``plane(_:)`` alone defines their number and their sample sizes.
public enum PixelFormat: String, Hashable, Sendable, CaseIterable {
    /// Alpha only, 8 bits.
    case alpha8
    /// Grey, 8 bits.
    case gray8
    /// Red, green, blue, 8 bits each, opaque.
    case rgb8
    /// Red, green, blue, alpha, 8 bits each; the colours are premultiplied by alpha.
    case rgba8
    /// Blue, green, red, alpha, 8 bits each, premultiplied: the order of cairo and of Wayland.
    ///
    /// For exchange with such libraries; other operations convert it to ``rgba8`` first.
    case bgra8
    /// Grey, 16 bits in native byte order.
    case gray16
    /// Red, green, blue, 16 bits each in native byte order, opaque.
    case rgb16
    /// Red, green, blue, alpha, 16 bits each in native byte order, premultiplied.
    case rgba16
    /// Red, green, blue, alpha, a half-precision float each, premultiplied.
    ///
    /// 1 corresponds to 65535 in ``rgba16``. Colours outside the profile's gamut are below 0 or
    /// above 1.
    case rgbaHalf
    /// Red, green and blue in 5, 6 and 5 bits of a native 16-bit integer, red in the highest.
    case rgb565
    /// Red, green and blue in 5 bits each of a native 16-bit integer, red above; bit 15 is 0.
    case rgb555
    /// Y′CbCr 4:2:0 as JFIF defines it, 8 bits each, full range.
    ///
    /// Three planes: Y′ has the size of the image. Cb and Cr have half as many columns and rows,
    /// rounded up; each sample is sited at the centre of its 2×2 pixels.
    case yCbCr420

    /// The sample layout of one plane of a format.
    public struct Plane: Hashable, Sendable {
        /// The number of interleaved samples per pixel.
        public var channelCount: Int
        /// The number of bytes per sample.
        public var bytesPerChannel: Int
        /// The number of image columns per column of the plane.
        public var horizontalSubsampling = 1
        /// The number of image rows per row of the plane.
        public var verticalSubsampling = 1

        /// The number of bytes per pixel of the plane.
        public var bytesPerPixel: Int { channelCount * bytesPerChannel }
    }

    /// The number of planes: 3 for ``yCbCr420``, otherwise 1.
    public var planeCount: Int { self == .yCbCr420 ? 3 : 1 }

    /// Returns the layout of the plane with an index from 0 to less than ``planeCount``.
    public func plane(_ index: Int) -> Plane {
        precondition(
            index >= 0 && index < planeCount,
            "no plane \(index): \(self) has \(planeCount) planes")
        return switch self {
        case .alpha8, .gray8: Plane(channelCount: 1, bytesPerChannel: 1)
        case .rgb8: Plane(channelCount: 3, bytesPerChannel: 1)
        case .rgba8, .bgra8: Plane(channelCount: 4, bytesPerChannel: 1)
        case .gray16: Plane(channelCount: 1, bytesPerChannel: 2)
        case .rgb16: Plane(channelCount: 3, bytesPerChannel: 2)
        case .rgba16, .rgbaHalf: Plane(channelCount: 4, bytesPerChannel: 2)
        // Packed: the channels share the bytes of one sample.
        case .rgb565, .rgb555: Plane(channelCount: 1, bytesPerChannel: 2)
        case .yCbCr420:
            index == 0
                ? Plane(channelCount: 1, bytesPerChannel: 1)
                : Plane(
                    channelCount: 1, bytesPerChannel: 1,
                    horizontalSubsampling: 2, verticalSubsampling: 2)
        }
    }

    /// Returns the size in samples of a plane of an image of `size` pixels.
    public func planeSize(_ index: Int, of size: PixelSize) -> PixelSize {
        let plane = plane(index)
        return PixelSize(
            width: (size.width + plane.horizontalSubsampling - 1) / plane.horizontalSubsampling,
            height: (size.height + plane.verticalSubsampling - 1) / plane.verticalSubsampling)
    }

    /// The number of interleaved samples per pixel of the first plane.
    public var channelCount: Int { plane(0).channelCount }

    /// The number of bytes per pixel of the first plane.
    public var bytesPerPixel: Int { plane(0).bytesPerPixel }

    /// Whether the format has an alpha channel.
    public var hasAlpha: Bool {
        switch self {
        case .alpha8, .rgba8, .bgra8, .rgba16, .rgbaHalf: true
        case .gray8, .gray16, .rgb8, .rgb16, .rgb565, .rgb555, .yCbCr420: false
        }
    }

    /// Whether samples have more than 8 bits.
    public var isDeep: Bool {
        switch self {
        case .gray16, .rgb16, .rgba16, .rgbaHalf: true
        case .alpha8, .gray8, .rgb8, .rgba8, .bgra8, .rgb565, .rgb555, .yCbCr420: false
        }
    }

    /// Whether samples are integers in bytes of their own, red first.
    var canBeResampled: Bool { ![.bgra8, .rgbaHalf, .rgb565, .rgb555].contains(self) }

    /// The equivalent single-plane format whose samples are integers in bytes of their own, red first.
    public var withIntegerSamples: PixelFormat {
        switch self {
        case .rgbaHalf: .rgba16
        case .bgra8: .rgba8
        case .rgb565, .rgb555, .yCbCr420: .rgb8
        case .alpha8, .gray8, .rgb8, .rgba8, .gray16, .rgb16, .rgba16: self
        }
    }

    /// The format with the same channels in 8 bits each.
    public var with8BitChannels: PixelFormat {
        switch self {
        case .gray16: .gray8
        case .rgb16: .rgb8
        case .bgra8, .rgba16, .rgbaHalf: .rgba8
        case .rgb565, .rgb555: .rgb8
        case .alpha8, .gray8, .rgb8, .rgba8, .yCbCr420: self
        }
    }
}
