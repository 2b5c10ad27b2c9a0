// SPDX-License-Identifier: Apache-2.0

/// The colours that a word can store, in the precision in which they are interpolated: red, green and
/// blue from 0 to 31, alpha from 0 to 15.
struct PVRTCQuantizer {
    /// One of the two colours of a word.
    enum End {
        /// The first, whose lowest bit states the mode of the word.
        case a
        case b
    }

    /// The nearest values of 3 and 4 bits, widened to 5, for each value of 5 bits.
    private static let nearest3 = nearest((0..<8).map { $0 << 2 | $0 >> 1 })
    private static let nearest4 = nearest((0..<16).map { $0 << 1 | $0 >> 3 })

    private static func nearest(_ values: [Int16]) -> [Int16] {
        (0..<32).map { target in
            values.min { abs($0 - target) < abs($1 - target) } ?? 0
        }
    }

    /// Returns the nearest colour that an end can store.
    ///
    /// - Parameters:
    ///   - color: the wanted colour, of any values.
    ///   - end: the end.
    ///   - isOpaque: whether alpha is 15 and the colours have the higher precision.
    /// - Returns: a colour that the end can store.
    static func quantized(
        _ color: SIMD4<Float>, _ end: End, isOpaque: Bool
    ) -> SIMD4<Int16> {
        let limited = color.limited(to: SIMD4(31, 31, 31, 15))
        var result = SIMD4<Int16>(truncatingIfNeeded: limited.nearestIntegers)
        if isOpaque {
            result.w = 15
            if end == .a { result.z = nearest4[Int(result.z)] }
        } else {
            result.x = nearest4[Int(result.x)]
            result.y = nearest4[Int(result.y)]
            result.z = (end == .a ? nearest3 : nearest4)[Int(result.z)]
            result.w = min(14, (result.w + 1) & ~1)
        }
        return result
    }

    /// Returns a colour whose channel has the next stored value.
    ///
    /// - Parameters:
    ///   - color: a colour that the end can store.
    ///   - channel: the index of the channel.
    ///   - step: 1, -1, or 0 for the same colour.
    ///   - end: the end.
    /// - Returns: `nil` at the end of the range.
    static func next(
        to color: SIMD4<Int16>, _ channel: Int, _ step: Int16, _ end: End
    ) -> SIMD4<Int16>? {
        if step == 0 { return color }
        let isOpaque = color.w == 15
        if channel == 3 && isOpaque { return nil }
        var wanted = SIMD4<Float>(color)
        for distance in 1...6 {
            wanted[channel] = Float(color[channel] + step * Int16(distance))
            let result = quantized(wanted, end, isOpaque: isOpaque)
            if result != color { return result }
        }
        return nil
    }

    /// Returns the ends of the principal axis of pixels of 8 bits per channel, in the precision of words.
    static func ends(of pixels: Span<SIMD4<Float>>) -> (low: SIMD4<Float>, high: SIMD4<Float>) {
        var mean = SIMD4<Float>()
        for place in pixels.indices { mean += pixels[place] }
        mean /= Float(pixels.count)
        var axis = SIMD4<Float>(1, 1, 1, 1)
        for _ in 0..<4 {
            var sum = SIMD4<Float>()
            for place in pixels.indices {
                let offset = pixels[place] - mean
                sum += offset * (offset * axis).sum()
            }
            let length = (sum * sum).sum().squareRoot()
            guard length > 0.001 else { break }
            axis = sum / length
        }
        var (least, most): (Float, Float) = (0, 0)
        for place in pixels.indices {
            let position = ((pixels[place] - mean) * axis).sum()
            least = min(least, position)
            most = max(most, position)
        }
        let length = (axis * axis).sum()
        let scale = SIMD4<Float>(31, 31, 31, 15) / 255
        return (
            (mean + axis * (least / length)) * scale, (mean + axis * (most / length)) * scale
        )
    }

    /// Returns the bits of a word's colours.
    static func bits(_ a: SIMD4<Int16>, _ b: SIMD4<Int16>) -> UInt32 {
        bits(a, .a) | bits(b, .b) << 16
    }

    private static func bits(_ color: SIMD4<Int16>, _ end: End) -> UInt32 {
        let (red, green, blue) = (UInt32(color.x), UInt32(color.y), UInt32(color.z))
        // The lowest bit of the first colour is the mode, which is 0.
        if color.w == 15 {
            let rest: UInt32 = end == .a ? (blue >> 1) << 1 : blue
            return 0x8000 | red << 10 | green << 5 | rest
        }
        let rest: UInt32 = end == .a ? (blue >> 2) << 1 : blue >> 1
        return (UInt32(color.w) >> 1) << 12 | (red >> 1) << 8 | (green >> 1) << 4 | rest
    }
}
