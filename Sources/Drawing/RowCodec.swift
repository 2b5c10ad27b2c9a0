// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import Pixels

extension PixelBuffer {
    /// The image in a format that rows are read from: 8 bits, or half floats for deeper samples.
    var drawable: PixelBuffer {
        switch format {
        case .alpha8, .gray8, .rgb8, .rgba8, .rgbaHalf: self
        case .gray16, .rgb16, .rgba16: converted(to: .rgbaHalf)
        case .bgra8: converted(to: .rgba8)
        case .rgb565, .rgb555, .yCbCr420: converted(to: .rgb8)
        }
    }

    /// Whether each pixel is opaque because of the format.
    var isOpaque: Bool { !format.hasAlpha }

    /// Reads a part of a row of a ``drawable`` image as premultiplied pixels.
    func read(_ y: Int, from start: Int, count: Int, into row: inout [SIMD4<Float>]) {
        let bytesPerPixel = format.bytesPerPixel
        let part = self.row(y).extracting(
            start * bytesPerPixel..<(start + count) * bytesPerPixel)
        RowConversion(format, width: count).unpack(part, 0..<count, into: &row)
    }
}

// The conversions of vectors of the standard library are not vectorized; a byte in the low bits of the
// float 2²³ adds its value.
extension SIMD4<Float> {
    /// Creates components from 0 to 1 from samples of 8 bits.
    @inline(__always)
    init(samples: SIMD4<UInt8>) {
        let bits = SIMD4<UInt32>(truncatingIfNeeded: samples) | 0x4B00_0000
        self = unsafe (unsafeBitCast(bits, to: SIMD4<Float>.self) - 8_388_608) * (1 / 255)
    }
}
