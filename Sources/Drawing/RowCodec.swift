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
                pixels[x] = SIMD4<Float>(bytes) * (1 / 255)
            }
        case .rgba8:
            for x in 0..<count {
                let offset = (start + x) * 4
                let bytes = SIMD4(
                    source[offset], source[offset + 1], source[offset + 2], source[offset + 3])
                pixels[x] = SIMD4<Float>(bytes) * (1 / 255)
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
        @inline(__always) func bytes(_ pixel: SIMD4<Float>) -> SIMD4<UInt8> {
            SIMD4<UInt8>(
                truncatingIfNeeded: SIMD4<Int32>(
                    pixel.clamped(lowerBound: .zero, upperBound: .one) * 255 + 0.5))
        }
        switch self {
        case .alpha8: for x in pixels.indices { result[x] = bytes(pixels[x]).w }
        case .gray8: for x in pixels.indices { result[x] = bytes(pixels[x]).x }
        case .rgb8:
            for x in pixels.indices {
                let bytes = bytes(pixels[x])
                result[x * 3] = bytes.x
                result[x * 3 + 1] = bytes.y
                result[x * 3 + 2] = bytes.z
            }
        case .rgba8:
            for x in pixels.indices {
                let bytes = bytes(pixels[x])
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
