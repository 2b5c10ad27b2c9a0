// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// A description of what an image shows in 128 bits: images that look alike differ in few of them.
///
/// It consists of two difference hashes (dHash) of the luma: whether it grows to the right at 8 × 8 places, and
/// whether it grows downwards. Other sizes and qualities of an image change few bits, as does a crop of a few per
/// cent; rotations and mirrored images are other images.
///
/// - SeeAlso: N. Krawetz, “Kind of Like That”, The Hacker Factor Blog, 2013.
package struct PerceptualHash: Hashable, Sendable {
    /// The largest distance of images that look alike, in bits.
    package static let nearDistance = 15
    /// The range of the luma, from 0 to 255, below which an image shows nothing that could be compared.
    private static let minimumContrast = 8
    /// The number of values in a row or column, one more than that of differences.
    private static let count = 9

    /// Each bit: whether the luma grows to the right.
    let across: UInt64
    /// Each bit: whether the luma grows downwards.
    let down: UInt64

    init(across: UInt64, down: UInt64) {
        self.across = across
        self.down = down
    }

    /// Describes an image; `nil` for one of a single colour, or smaller than 9 × 9 pixels.
    ///
    /// - Parameter image: an image of any format; some dozens of pixels a side are sufficient.
    package init?(_ image: PixelBuffer) {
        guard min(image.size.width, image.size.height) >= Self.count else { return nil }
        let source = image.converted(to: image.format.withIntegerSamples)
        let wide = Self.luma(source, PixelSize(width: Self.count, height: Self.count - 1))
        let high = Self.luma(source, PixelSize(width: Self.count - 1, height: Self.count))
        let all = wide.joined()
        guard let darkest = all.min(), let brightest = all.max(),
            Int(brightest) - Int(darkest) >= Self.minimumContrast
        else { return nil }
        across = Self.bits(wide.flatMap { row in zip(row, row.dropFirst()).map { $0 < $1 } })
        down = Self.bits(
            zip(high, high.dropFirst()).flatMap { upper, lower in
                zip(upper, lower).map { $0 < $1 }
            })
    }

    /// The number of bits in which two hashes differ, from 0 to 128.
    package func distance(to other: PerceptualHash) -> Int {
        (across ^ other.across).nonzeroBitCount + (down ^ other.down).nonzeroBitCount
    }

    private static func luma(_ image: PixelBuffer, _ size: PixelSize) -> [[UInt8]] {
        var resampler = RowResampler(
            from: image.size, image.format, to: size, kernel: .triangle,
            colorProfile: image.colorProfile)
        for y in 0..<image.size.height { resampler.append(image.row(y)) }
        let small = resampler.finish().converted(to: .gray8)
        return (0..<size.height).map { y in
            let row = small.row(y)
            return row.indices.map { row[$0] }
        }
    }

    private static func bits(_ values: [Bool]) -> UInt64 {
        values.reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    }
}

/// What was read from an image to compare it with others.
package enum ImageHash: Sendable {
    case known(PerceptualHash)
    /// The image shows nothing that could be compared, or cannot be read.
    case none
    /// Reading it again later may succeed.
    case postponed
}
