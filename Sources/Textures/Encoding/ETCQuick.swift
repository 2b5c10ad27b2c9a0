// SPDX-License-Identifier: Apache-2.0

/// Encodes blocks of ETC1 and ETC2 with the least effort: one division into halves with their means as base
/// colours, or a plane if that is nearer.
struct ETCQuick {
    /// Sums of red, green and blue; the last lane is 0.
    private typealias Sums = SIMD4<Int32>

    /// Three times the small and the large modifier of each table: those of the sum of three channels.
    private static let small = SIMD8<Float>(6, 15, 27, 39, 54, 72, 99, 141)
    private static let large = SIMD8<Float>(24, 51, 87, 126, 180, 240, 318, 549)

    /// A half of the block with its base colour.
    private struct Half {
        var code = Sums()
        var color = Sums()
        var table = 0
        /// The error of the sums of three channels, times 3.
        var error: Float = 0
    }

    private var texels = InlineArray<16, Sums>(repeating: Sums())
    /// The sum of the channels of each texel.
    private var sizes = InlineArray<16, Int32>(repeating: 0)
    private var squares: Int32 = 0
    /// The sums of the quadrants, row by row.
    private var quadrants = InlineArray<4, Sums>(repeating: Sums())
    /// The sums over the positions from the middle, times 2.
    private var (slopeX, slopeY) = (Sums(), Sums())

    /// Returns a block as an integer whose highest byte is stored first.
    static func encoded(_ texels: TexelBlock, isETC1: Bool) -> UInt64 {
        let block = ETCQuick(texels)
        let (word, error) = block.halves()
        guard !isETC1, let plane = block.planar(below: error) else { return word }
        return plane
    }

    private init(_ block: TexelBlock) {
        var squares = Sums()
        for y in 0..<4 {
            var row = InlineArray<4, Sums>(repeating: Sums())
            for x in 0..<4 {
                var texel = Sums(truncatingIfNeeded: block[y * 4 + x])
                texel.w = 0
                row[x] = texel
                texels[y * 4 + x] = texel
                sizes[y * 4 + x] = texel.x &+ texel.y &+ texel.z
                squares &+= texel &* texel
            }
            let (left, right) = (row[0] &+ row[1], row[2] &+ row[3])
            quadrants[y & 2] &+= left
            quadrants[y & 2 | 1] &+= right
            slopeX &+= (row[3] &- row[0]) &* 3 &+ row[2] &- row[1]
            slopeY &+= (left &+ right) &* Int32(y * 2 - 3)
        }
        self.squares = squares.wrappedSum()
    }

    // MARK: - Halves

    /// Returns the block of two halves and its error, without the limits of samples.
    private func halves() -> (word: UInt64, error: Float) {
        let side = (quadrants[0] &+ quadrants[2], quadrants[1] &+ quadrants[3])
        let stacked = (quadrants[0] &+ quadrants[1], quadrants[2] &+ quadrants[3])
        let (across, down) = (side.0 &- side.1, stacked.0 &- stacked.1)
        let isFlipped = (down &* down).wrappedSum() > (across &* across).wrappedSum()
        let sums = isFlipped ? stacked : side
        var (a, b) = (Half(), Half())
        (a.code, b.code) = (Self.code(sums.0, 31), Self.code(sums.1, 31))
        let difference = b.code &- a.code
        let isDifferential = difference.max() <= 3 && difference.min() >= -4
        if isDifferential {
            a.color = a.code &<< 3 | a.code &>> 2
            b.color = b.code &<< 3 | b.code &>> 2
        } else {
            (a.code, b.code) = (Self.code(sums.0, 15), Self.code(sums.1, 15))
            (a.color, b.color) = (a.code &* 17, b.code &* 17)
        }
        var word: UInt64 = isFlipped ? 1 << 32 : 0
        if isDifferential { word |= 1 << 33 }
        for channel in 0..<3 {
            let shift = UInt64(56 - channel * 8)
            let (first, second) = (UInt64(a.code[channel]), UInt64(b.code[channel]))
            word |=
                isDifferential
                ? first << (shift + 3) | ((second &- first) & 7) << shift
                : first << (shift + 4) | second << shift
        }
        word |= choose(&a, isFlipped, isSecond: false) | choose(&b, isFlipped, isSecond: true)
        word |= UInt64(a.table) << 37 | UInt64(b.table) << 34
        let products = (sums.0 &* a.color &+ sums.1 &* b.color).wrappedSum()
        let colors = (a.color &* a.color &+ b.color &* b.color).wrappedSum()
        let error = Float(squares - 2 * products + 8 * colors) + (a.error + b.error) / 3
        return (word, error)
    }

    /// Returns the nearest code to the mean of eight texels.
    @inline(__always)
    private static func code(_ sum: Sums, _ last: Float) -> Sums {
        (SIMD4<Float>(sum) * (last / 2040)).nearestIntegers
    }

    /// Chooses the table of a half; returns the bits of its indices.
    @inline(__always)
    private func choose(_ half: inout Half, _ isFlipped: Bool, isSecond: Bool) -> UInt64 {
        let base = half.color.x &+ half.color.y &+ half.color.z
        var offsets = InlineArray<8, Int32>(repeating: 0)
        var errors = SIMD8<Float>()
        var squares: Float = 0
        let first = isSecond ? (isFlipped ? 8 : 2) : 0
        for index in 0..<8 {
            let place = first &+ (isFlipped ? index : index &>> 1 &* 4 &+ index & 1)
            offsets[index] = sizes[place] &- base
            let size = Float(abs(offsets[index]))
            squares += size * size
            let (small, large) = (Self.small - size, Self.large - size)
            let (near, far) = (small * small, large * large)
            errors += near.replacing(with: far, where: far .< near)
        }
        var least = Float.infinity
        for table in 0..<8 where errors[table] < least {
            (least, half.table) = (errors[table], table)
        }
        half.error = least - squares
        let modifiers = ETCBlocks.modifiers[half.table]
        let limit = 3 &* (modifiers.x &+ modifiers.y)
        var bits: UInt64 = 0
        for index in 0..<8 {
            let place = first &+ (isFlipped ? index : index &>> 1 &* 4 &+ index & 1)
            let bit = UInt64(place & 3) &* 4 &+ UInt64(place &>> 2)
            let isNegative: UInt64 = offsets[index] < 0 ? 1 : 0
            let isLarge: UInt64 = abs(offsets[index]) &* 2 > limit ? 1 : 0
            bits |= (isLarge | isNegative << 16) << bit
        }
        return bits
    }

    // MARK: - Planar

    /// Returns the block of the nearest plane; `nil` if its error is not less than another one.
    private func planar(below limit: Float) -> UInt64? {
        let sum = quadrants[0] &+ quadrants[1] &+ quadrants[2] &+ quadrants[3]
        let total = SIMD4<Float>(sum)
        let (dx, dy) = (SIMD4<Float>(slopeX), SIMD4<Float>(slopeY))
        // The error of the nearest plane that is not rounded.
        let explained = (total * total / 16 + (dx * dx + dy * dy) / 80).sum()
        guard Float(squares) - explained < limit else { return nil }
        let plane = ETCEncoder.plane(mean: total / 16, dx: dx / 40, dy: dy / 40)
        let colors = InlineArray<3, Sums> { corner in
            let code = plane[corner]
            return Sums(
                code.x &<< 2 | code.x &>> 4, code.y &<< 1 | code.y &>> 6,
                code.z &<< 2 | code.z &>> 4, 0)
        }
        let (stepX, stepY) = (colors[1] &- colors[0], colors[2] &- colors[0])
        var errors = Sums()
        for y in 0..<4 {
            var value = colors[0] &* 4 &+ 2 &+ stepY &* Int32(y)
            value.w = 0
            for x in 0..<4 {
                var decoded = value &>> 2
                decoded = decoded.replacing(with: 0, where: decoded .< 0)
                decoded = decoded.replacing(with: 255, where: decoded .> 255)
                let missing = decoded &- texels[y * 4 + x]
                errors &+= missing &* missing
                value &+= stepX
            }
        }
        return Float(errors.wrappedSum()) < limit ? ETCEncoder.word(plane) : nil
    }
}
