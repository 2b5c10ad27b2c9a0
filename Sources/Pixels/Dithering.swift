// SPDX-License-Identifier: Apache-2.0

/// The method that hides quantization steps in formats with few bits per channel.
public enum Dithering: String, Hashable, Sendable, CaseIterable {
    /// Rounds each sample to the nearest level; gradients show banding.
    case none
    /// Ordered dithering with an 8×8 Bayer matrix; each pixel depends on its position alone.
    case ordered
    /// Floyd–Steinberg error diffusion: finer, and slower.
    ///
    /// - SeeAlso: R. W. Floyd, L. Steinberg, “An Adaptive Algorithm for Spatial Grey Scale”, 1976.
    case errorDiffusion
}

/// Packs rows of 16-bit RGBA into ``PixelFormat/rgb565`` or ``PixelFormat/rgb555``.
struct Ditherer {
    private let dithering: Dithering
    private let greenBits: UInt16
    /// The diffused errors of the current row and the next, in 16ths of a 16-bit level, with one
    /// extra pixel at each end.
    private var errors: (current: [Int32], next: [Int32])

    init(_ dithering: Dithering, _ format: PixelFormat, width: Int) {
        self.dithering = dithering
        greenBits = format == .rgb555 ? 5 : 6
        let count = dithering == .errorDiffusion ? (width + 2) * 3 : 0
        errors = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
    }

    /// Packs the next row of an image, from the top.
    mutating func pack(_ samples: [UInt16], y: Int, into row: inout MutableSpan<UInt8>) {
        for x in 0..<samples.count / 4 {
            let red = level(samples, x, y, channel: 0, bits: 5)
            let green = level(samples, x, y, channel: 1, bits: greenBits)
            let blue = level(samples, x, y, channel: 2, bits: 5)
            row.storeSample16(red << (5 + greenBits) | green << 5 | blue, at: x)
        }
        if dithering == .errorDiffusion {
            swap(&errors.current, &errors.next)
            for index in errors.next.indices { errors.next[index] = 0 }
        }
    }

    private mutating func level(
        _ samples: [UInt16], _ x: Int, _ y: Int, channel: Int, bits: UInt16
    ) -> UInt16 {
        let top = (1 << Int32(bits)) - 1 as Int32
        let value = Int32(samples[x * 4 + channel])
        switch dithering {
        case .none:
            return UInt16((value * top + 32767) / 65535)
        case .ordered:
            let threshold = Int32(Self.pattern[y % 8 * 8 + x % 8])
            return UInt16((value * top + (threshold * 2 + 1) * 65535 / 128) / 65535)
        case .errorDiffusion:
            let index = (x + 1) * 3 + channel
            let target = value + (errors.current[index] + 8) >> 4
            let level = min(max((target * top + 32767) / 65535, 0), top)
            let error = target - level * 65535 / top
            errors.current[index + 3] += error * 7
            errors.next[index - 3] += error * 3
            errors.next[index] += error * 5
            errors.next[index + 3] += error
            return UInt16(level)
        }
    }

    /// The 8×8 Bayer matrix: each threshold below 64 once.
    ///
    /// - SeeAlso: B. E. Bayer, “An optimum method for two-level rendition of continuous-tone
    ///   images”, 1973.
    private static let pattern: [UInt8] = (0..<64).map { index in
        let (x, y) = (UInt8(index % 8), UInt8(index / 8))
        var value: UInt8 = 0
        for bit in 0..<3 as Range<UInt8> {
            let difference = (x ^ y) >> bit & 1
            value |= (difference << 1 | y >> bit & 1) << ((2 - bit) * 2)
        }
        return value
    }
}
