// SPDX-License-Identifier: Apache-2.0

/// What the bytes of a ``PixelBuffer`` mean.
///
/// A buffer is a list of planes, so that planar and deeper formats are further cases here and in
/// ``plane(_:)``; nothing else knows how many planes or bytes a format has.
public enum PixelFormat: String, Hashable, Sendable, CaseIterable {
    /// Coverage alone, 8 bits.
    case alpha8
    /// Grey, 8 bits.
    case gray8
    /// Red, green, blue, 8 bits each, opaque.
    case rgb8
    /// Red, green, blue, alpha, 8 bits each; the colours are premultiplied by alpha.
    case rgba8
    /// Grey, 16 bits in the machine's byte order.
    case gray16
    /// Red, green, blue, 16 bits each in the machine's byte order, opaque.
    case rgb16
    /// Red, green, blue, alpha, 16 bits each in the machine's byte order, premultiplied.
    case rgba16
    /// Red, green, blue, alpha, a half-precision number each, premultiplied: 1 is what 65535 is in
    /// ``rgba16``, and colours outside of the profile's primaries are below 0 or above 1.
    case rgbaHalf
    /// Red, green and blue in the 5, 6 and 5 bits of a 16-bit number, red in the highest.
    case rgb565
    /// Red, green and blue in 5 bits each of a 16-bit number, red in the highest; bit 15 is 0.
    case rgb555
    /// Luma, blue and red difference as JFIF defines them, 8 bits each over the full range.
    ///
    /// Three planes: that of Y is as large as the picture, those of Cb and Cr have half as many
    /// columns and rows, rounded up, each sample in the middle of the 2×2 pixels that it is for.
    case yCbCr420

    /// How one plane of a format lies in memory.
    public struct Plane: Hashable, Sendable {
        /// Interleaved samples a pixel.
        public var channelCount: Int
        public var bytesPerChannel: Int
        /// The plane has one column for this many columns of the picture, and one row for as many rows.
        public var horizontalSubsampling = 1
        public var verticalSubsampling = 1

        public var bytesPerPixel: Int { channelCount * bytesPerChannel }
    }

    public var planes: [Plane] { (0..<planeCount).map(plane) }

    public var planeCount: Int { self == .yCbCr420 ? 3 : 1 }

    /// How the plane of that number lies in memory; the first is 0.
    public func plane(_ index: Int) -> Plane {
        precondition(index >= 0 && index < planeCount, "\(self) has \(planeCount) planes")
        return switch self {
        case .alpha8, .gray8: Plane(channelCount: 1, bytesPerChannel: 1)
        case .rgb8: Plane(channelCount: 3, bytesPerChannel: 1)
        case .rgba8: Plane(channelCount: 4, bytesPerChannel: 1)
        case .gray16: Plane(channelCount: 1, bytesPerChannel: 2)
        case .rgb16: Plane(channelCount: 3, bytesPerChannel: 2)
        case .rgba16, .rgbaHalf: Plane(channelCount: 4, bytesPerChannel: 2)
        // Packed, so that only all channels together have a size.
        case .rgb565, .rgb555: Plane(channelCount: 1, bytesPerChannel: 2)
        case .yCbCr420:
            index == 0
                ? Plane(channelCount: 1, bytesPerChannel: 1)
                : Plane(
                    channelCount: 1, bytesPerChannel: 1,
                    horizontalSubsampling: 2, verticalSubsampling: 2)
        }
    }

    /// The columns and rows that a plane of a picture of `size` pixels has.
    public func planeSize(_ index: Int, of size: PixelSize) -> PixelSize {
        let plane = plane(index)
        return PixelSize(
            width: (size.width + plane.horizontalSubsampling - 1) / plane.horizontalSubsampling,
            height: (size.height + plane.verticalSubsampling - 1) / plane.verticalSubsampling)
    }

    /// The interleaved samples a pixel of the first plane.
    public var channelCount: Int { plane(0).channelCount }

    /// The bytes a pixel of the first plane.
    public var bytesPerPixel: Int { plane(0).bytesPerPixel }

    public var hasAlpha: Bool {
        switch self {
        case .alpha8, .rgba8, .rgba16, .rgbaHalf: true
        case .gray8, .gray16, .rgb8, .rgb16, .rgb565, .rgb555, .yCbCr420: false
        }
    }

    /// Whether a sample has more than 8 bits.
    public var isDeep: Bool {
        switch self {
        case .gray16, .rgb16, .rgba16, .rgbaHalf: true
        case .alpha8, .gray8, .rgb8, .rgba8, .rgb565, .rgb555, .yCbCr420: false
        }
    }

    /// Whether the bytes are samples of whole numbers, one after the other.
    var canBeResampled: Bool { ![.rgbaHalf, .rgb565, .rgb555].contains(self) }

    /// The format of one plane, and of whole numbers each in bytes of its own, that holds the same.
    public var withWholeSamples: PixelFormat {
        switch self {
        case .rgbaHalf: .rgba16
        case .rgb565, .rgb555, .yCbCr420: .rgb8
        case .alpha8, .gray8, .rgb8, .rgba8, .gray16, .rgb16, .rgba16: self
        }
    }

    /// The same channels with 8 bits each.
    public var with8BitChannels: PixelFormat {
        switch self {
        case .gray16: .gray8
        case .rgb16: .rgb8
        case .rgba16, .rgbaHalf: .rgba8
        case .rgb565, .rgb555: .rgb8
        case .alpha8, .gray8, .rgb8, .rgba8, .yCbCr420: self
        }
    }
}
