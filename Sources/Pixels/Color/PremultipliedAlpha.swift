// SPDX-License-Identifier: Apache-2.0

/// Premultiplied alpha, in whole numbers from 0 to 255.
public enum PremultipliedAlpha {
    /// `color × alpha ÷ 255`, rounded to the nearest.
    @inlinable
    public static func multiplied(_ color: UInt8, by alpha: UInt8) -> UInt8 {
        let product = UInt32(color) * UInt32(alpha) + 128
        return UInt8(truncatingIfNeeded: (product + product >> 8) >> 8)
    }

    /// `color × 255 ÷ alpha`, rounded to the nearest, at most 255; 0 where alpha is 0.
    @inlinable
    public static func divided(_ color: UInt8, by alpha: UInt8) -> UInt8 {
        guard alpha > 0 else { return 0 }
        return UInt8(min(255, (UInt32(color) * 255 + UInt32(alpha) / 2) / UInt32(alpha)))
    }

    /// Multiplies the colours of a row of RGBA pixels by their alpha.
    public static func multiply(_ row: inout MutableSpan<UInt8>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != 255 {
            let alpha = row[pixel + 3]
            for channel in pixel..<pixel + 3 {
                row[channel] = multiplied(row[channel], by: alpha)
            }
        }
    }

    /// Divides the colours of a row of premultiplied RGBA pixels by their alpha.
    public static func divide(_ row: inout MutableSpan<UInt8>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != 255 {
            let alpha = row[pixel + 3]
            for channel in pixel..<pixel + 3 {
                row[channel] = divided(row[channel], by: alpha)
            }
        }
    }
}
