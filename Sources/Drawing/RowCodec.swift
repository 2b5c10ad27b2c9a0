// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension PixelBuffer {
    /// The image in a format that rows are read from: 8 bits, or half floats for deeper samples.
    var drawable: PixelBuffer {
        switch format {
        case .alpha8, .gray8, .rgb8, .rgba8, .rgbaHalf: self
        case .gray16, .rgb16, .rgba16: converted(to: .rgbaHalf)
        case .rgb565, .rgb555, .yCbCr420: converted(to: .rgb8)
        }
    }

    /// Whether each pixel is opaque because of the format.
    var isOpaque: Bool { !format.hasAlpha }

    /// Reads a part of a row of a ``drawable`` image as premultiplied pixels.
    func read(_ y: Int, from start: Int, count: Int, into row: inout [SIMD4<Float>]) {
        let source = self.row(y)
        precondition(start >= 0 && start + count <= size.width && count <= row.count)
        var pixels = row.mutableSpan
        func byte(_ index: Int) -> Float { Float(source[index]) * (1 / 255) }
        switch format {
        case .alpha8:
            for x in 0..<count { pixels[x] = SIMD4(0, 0, 0, byte(start + x)) }
        case .gray8:
            for x in 0..<count { pixels[x] = SIMD4(SIMD3(repeating: byte(start + x)), 1) }
        case .rgb8:
            for x in 0..<count {
                let offset = (start + x) * 3
                let bytes = SIMD4(source[offset], source[offset + 1], source[offset + 2], 255)
                pixels[x] = SIMD4<Float>(samples: bytes)
            }
        case .rgba8:
            for x in 0..<count {
                let offset = (start + x) * 4
                let bytes = SIMD4(
                    source[offset], source[offset + 1], source[offset + 2], source[offset + 3])
                pixels[x] = SIMD4<Float>(samples: bytes)
            }
        default:
            source.withSamples16 { samples in
                func half(_ index: Int) -> Float {
                    Float(Float16(bitPattern: samples[index]))
                }
                for x in 0..<count {
                    let offset = (start + x) * 4
                    pixels[x] = SIMD4(
                        half(offset), half(offset + 1), half(offset + 2), half(offset + 3))
                }
            }
        }
    }
}

extension PixelFormat {
    /// Writes a row of premultiplied pixels whose components are from 0 to 1; integers are rounded.
    func write(_ row: [SIMD4<Float>], into result: inout MutableSpan<UInt8>) {
        let pixels = row.span
        switch self {
        case .alpha8: for x in pixels.indices { result[x] = pixels[x].samples.w }
        case .gray8: for x in pixels.indices { result[x] = pixels[x].samples.x }
        case .rgb8:
            for x in pixels.indices {
                let bytes = pixels[x].samples
                result[x * 3] = bytes.x
                result[x * 3 + 1] = bytes.y
                result[x * 3 + 2] = bytes.z
            }
        case .rgba8:
            for x in pixels.indices {
                let bytes = pixels[x].samples
                for channel in 0..<4 { result[x * 4 + channel] = bytes[channel] }
            }
        default:
            precondition(self == .rgbaHalf, "no drawing has the format \(self)")
            for x in pixels.indices {
                for channel in 0..<4 {
                    result.storeSample16(
                        Float16(pixels[x][channel]).bitPattern, at: x * 4 + channel)
                }
            }
        }
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

    /// The components, clamped to 0...1, as samples of 8 bits, rounded to the nearest integer.
    @inline(__always)
    var samples: SIMD4<UInt8> {
        let positive = replacing(with: 0, where: self .< 0)
        let clamped = positive.replacing(with: 1, where: positive .> 1)
        let bits = unsafe unsafeBitCast(clamped * 255 + 8_388_608, to: SIMD4<UInt32>.self)
        return SIMD4<UInt8>(truncatingIfNeeded: bits)
    }
}
