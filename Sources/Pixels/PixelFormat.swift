// SPDX-License-Identifier: Apache-2.0

/// What the bytes of a ``PixelBuffer`` mean.
///
/// A buffer is a list of planes, so that planar and deeper formats are further cases here and
/// rows of `planes`; nothing else knows how many planes or bytes a format has.
public enum PixelFormat: String, Hashable, Sendable, CaseIterable {
    /// Coverage alone, 8 bits.
    case alpha8
    /// Grey, 8 bits.
    case gray8
    /// Red, green, blue, 8 bits each, opaque.
    case rgb8
    /// Red, green, blue, alpha, 8 bits each; the colours are premultiplied by alpha.
    case rgba8

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

    public var planes: [Plane] {
        switch self {
        case .alpha8, .gray8: [Plane(channelCount: 1, bytesPerChannel: 1)]
        case .rgb8: [Plane(channelCount: 3, bytesPerChannel: 1)]
        case .rgba8: [Plane(channelCount: 4, bytesPerChannel: 1)]
        }
    }

    /// The interleaved samples a pixel of the first plane.
    public var channelCount: Int { planes[0].channelCount }

    /// The bytes a pixel of the first plane.
    public var bytesPerPixel: Int { planes[0].bytesPerPixel }

    public var hasAlpha: Bool { self == .rgba8 || self == .alpha8 }
}
