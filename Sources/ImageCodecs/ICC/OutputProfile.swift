// SPDX-License-Identifier: Apache-2.0

#if ICC
internal import CICC
#endif
package import EncodedImages
package import Pixels

/// The ICC profile of a device that displays images, such as a monitor.
package struct OutputProfile: Hashable, Sendable {
    /// The bytes of the profile.
    package let bytes: [UInt8]
    /// The description in the profile.
    package let name: String

    /// Reads a profile.
    ///
    /// - Throws: ``CodecError/malformed(reason:offset:)`` if it is damaged or not for RGB, and
    ///   ``CodecError/library(message:)`` without lcms2.
    package init(_ bytes: [UInt8]) throws(CodecError) {
        self.bytes = bytes
        name = ICCProfile(bytes)?.description.map { String($0.prefix(300)) } ?? ""
        #if ICC
        try unsafe requireLibrary(calotype_icc_missing())
        guard ICCTransform(toProfile: bytes) != nil else {
            throw .malformed(reason: "not an ICC profile for RGB", offset: 0)
        }
        #else
        throw .library(message: "colour conversion requires the trait ICC")
        #endif
    }

    /// Converts an image to the colours of the device.
    ///
    /// - Parameter image: the image in sRGB, or in extended sRGB as ``PixelFormat/rgbaHalf``.
    /// - Returns: the image with 8 bits, and with alpha only where it is not opaque.
    /// - Throws: ``CodecError/library(message:)``.
    package func converted(_ image: PixelBuffer) throws(CodecError) -> PixelBuffer {
        #if ICC
        guard let transform = ICCTransform(toProfile: bytes) else {
            throw .library(message: "the profile cannot be used")
        }
        let source = image.converted(to: .rgbaHalf)
        let size = image.size
        var result = MutablePixelBuffer(size: size, format: .rgba8)
        var straight = [Float](repeating: 0, count: size.width * 4)
        var isOpaque = true
        for y in 0..<size.height {
            HalfRow.read(source.row(y), dividedByAlpha: &straight)
            transform.convert(&straight)
            result.withMutableRow(y) { row in
                for pixel in stride(from: 0, to: straight.count, by: 4) {
                    let alpha = min(max(straight[pixel + 3], 0), 1)
                    isOpaque = isOpaque && alpha == 1
                    for channel in pixel..<pixel + 3 {
                        let value = min(max(straight[channel], 0), 1)
                        row[channel] = UInt8(value * alpha * 255 + 0.5)
                    }
                    row[pixel + 3] = UInt8(alpha * 255 + 0.5)
                }
            }
        }
        let converted = result.finish()
        return isOpaque ? converted.converted(to: .rgb8) : converted
        #else
        throw .library(message: "colour conversion requires the trait ICC")
        #endif
    }
}
