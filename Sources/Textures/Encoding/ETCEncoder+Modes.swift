// SPDX-License-Identifier: Apache-2.0

/// The modes that ETC2 added to ETC1.
extension ETCEncoder {
    // MARK: - Planar

    /// The stored colours of the planar mode at the origin, at x = 4 and at y = 4.
    typealias Plane = InlineArray<3, SIMD4<Int32>>

    /// Returns the nearest linear function of the position.
    func plane() -> Plane {
        // By least squares.
        let columns = Lanes(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3) - 1.5
        let rows = Lanes(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3) - 1.5
        let mean = channels.sum(Lanes(repeating: 1.0 / 16))
        let (dx, dy) = (channels.sum(columns) / 20, channels.sum(rows) / 20)
        return Self.plane(mean: mean, dx: dx, dy: dy)
    }

    /// Returns the codes of a plane from its mean and its change from texel to texel.
    static func plane(mean: SIMD4<Float>, dx: SIMD4<Float>, dy: SIMD4<Float>) -> Plane {
        [
            planarCode(mean - (dx + dy) * 1.5), planarCode(mean + dx * 2.5 - dy * 1.5),
            planarCode(mean - dx * 1.5 + dy * 2.5),
        ]
    }

    /// The largest code of each channel.
    static let lastPlanar = SIMD4<Int32>(63, 127, 63, 0)

    static func word(_ plane: Plane) -> UInt64 {
        let (origin, right, below) = (plane[0], plane[1], plane[2])
        let word = place(right.x >> 1, 34) | place(right.x & 1, 32) | place(right.y, 25)
        return word | place(right.z, 19) | place(below.x, 13) | place(below.y, 6)
            | place(below.z, 0) | 1 << 33 | planarOrigin(origin.x, origin.y, origin.z)
    }

    /// The bits of the colour at the origin: only the difference of blue overflows.
    private static func planarOrigin(_ red: Int32, _ green: Int32, _ blue: Int32) -> UInt64 {
        var word = place(red, 57) | place(green >> 6, 56) | place(green & 63, 49)
        word |= place(blue >> 5, 48) | place(blue >> 3 & 3, 43) | place(blue & 7, 39)
        if red >> 2 + signed((red & 3) << 1 | green >> 6) < 0 { word |= 1 << 63 }
        let low = green & 63
        if low >> 2 + signed((low & 3) << 1 | blue >> 5) < 0 { word |= 1 << 55 }
        return word | overflow(blue >> 3 & 3, blue >> 1 & 3, 45, 42)
    }

    private static func planarCode(_ color: SIMD4<Float>) -> SIMD4<Int32> {
        let last = SIMD4<Float>(lastPlanar)
        return (color * (last / 255)).limited(to: last).nearestIntegers
    }

    private static func signed(_ value: Int32) -> Int32 { value > 3 ? value - 8 : value }

    private static func place(_ value: Int32, _ bit: Int) -> UInt64 { UInt64(value) << UInt64(bit) }

    /// Makes the sum of a channel and its difference leave its range.
    ///
    /// - Parameters:
    ///   - value: the two lowest bits of the channel.
    ///   - difference: the two lowest bits of the difference.
    ///   - high: the position of the three highest bits of the channel.
    ///   - sign: the position of the highest bit of the difference.
    /// - Returns: the unused bits.
    private static func overflow(
        _ value: Int32, _ difference: Int32, _ high: Int, _ sign: Int
    ) -> UInt64 {
        value + difference >= 4 ? 7 << UInt64(high) : 1 << UInt64(sign)
    }

    // MARK: - Two colours

    private static let distances = (0..<8).map { Float(ETCBlocks.distances[$0]) }

    /// Returns blocks in which each texel has one of two colours, one or both of which vary by a distance.
    func painted() -> [UInt64] {
        let second = clusters()
        let count = second.sum()
        guard count > 0, count < 16 else { return [] }
        let a = channels.sum(1 - second) / (16 - count)
        let b = channels.sum(second) / count
        return [modeT(a, b), modeT(b, a), modeH(a, b)].compactMap { $0 }
    }

    /// Divides the texels into two clusters; those of the second are 1.
    private func clusters() -> Lanes {
        let mean = channels.sum(Lanes(repeating: 1.0 / 16))
        let offsets = channels.minus(mean)
        var axis = SIMD4<Float>(1, 1, 1, 0)
        for _ in 0..<4 {
            let along = offsets.red * axis.x + offsets.green * axis.y + offsets.blue * axis.z
            let next = offsets.sum(along)
            let length = max(next.max(), -next.min())
            guard length > 0.001 else { return Lanes(repeating: 0) }
            axis = next / length
        }
        let along = offsets.red * axis.x + offsets.green * axis.y + offsets.blue * axis.z
        var second = Lanes(repeating: 0).replacing(with: 1, where: along .> 0)
        for _ in 0..<3 {
            let count = second.sum()
            guard count > 0, count < 16 else { break }
            let a = channels.minus(channels.sum(1 - second) / (16 - count)).squares
            let b = channels.minus(channels.sum(second) / count).squares
            second = Lanes(repeating: 0).replacing(with: 1, where: b .< a)
        }
        return second
    }

    /// Returns the block with the colour `first`, and with `second` as it is, lighter and darker.
    private func modeT(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> UInt64? {
        var (first, second) = (Self.code(first, 15), Self.code(second, 15))
        var best: (error: Float, word: UInt64)?
        for _ in 0...effort.refinementCount {
            let squares = channels.minus(first * 17).squares
            let differences = channels.minus(second * 17)
            let (middles, sums) = (differences.squares, differences.sum)
            let sizes = sums.replacing(with: -sums, where: sums .< 0)
            var (least, number) = (Float.infinity, 0)
            for (index, distance) in Self.distances.enumerated() {
                let far = middles + 3 * distance * distance - sizes * (2 * distance)
                var errors = squares.replacing(with: middles, where: middles .< squares)
                errors.replace(with: far, where: far .< errors)
                let error = errors.sum()
                if error < least { (least, number) = (error, index) }
            }
            guard least < best?.error ?? .infinity else { break }
            let distance = Self.distances[number]
            let far = middles + 3 * distance * distance - sizes * (2 * distance)
            let usesFar = far .< middles
            let near = middles.replacing(with: far, where: usesFar)
            let isSecond = near .< squares
            var shift = Lanes(repeating: 0).replacing(with: distance, where: usesFar)
            shift.replace(with: -shift, where: sums .< 0)
            var word = Self.wordT(SIMD4<Int32>(first), SIMD4<Int32>(second), number)
            for place in 0..<16 where isSecond[place] {
                // The lighter one is 1, the colour itself 2, the darker one 3.
                let index: UInt64 = shift[place] == 0 ? 2 : shift[place] > 0 ? 1 : 3
                word |= Self.index(index, place)
            }
            best = (least, word)
            let mask = Lanes(repeating: 0).replacing(with: 1, where: isSecond)
            let count = mask.sum()
            if count < 16 { first = Self.code(channels.sum(1 - mask) / (16 - count), 15) }
            if count > 0 {
                let mean = (channels.sum(mask) - (shift * mask).sum()) / count
                second = Self.code(mean, 15)
            }
        }
        return best?.word
    }

    /// Returns the block with two colours that are each lighter or darker.
    private func modeH(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> UInt64? {
        var (first, second) = (Self.code(first, 15), Self.code(second, 15))
        var best: (error: Float, word: UInt64)?
        for _ in 0...effort.refinementCount {
            let (a, b) = (channels.minus(first * 17), channels.minus(second * 17))
            let (squaresA, squaresB) = (a.squares, b.squares)
            let (sumsA, sumsB) = (a.sum, b.sum)
            let sizesA = sumsA.replacing(with: -sumsA, where: sumsA .< 0)
            let sizesB = sumsB.replacing(with: -sumsB, where: sumsB .< 0)
            var (least, number) = (Float.infinity, 0)
            for (index, distance) in Self.distances.enumerated() {
                let errorsA = squaresA - sizesA * (2 * distance)
                let errorsB = squaresB - sizesB * (2 * distance)
                let error =
                    errorsA.replacing(with: errorsB, where: errorsB .< errorsA).sum()
                    + 48 * distance * distance
                if error < least { (least, number) = (error, index) }
            }
            guard least < best?.error ?? .infinity else { break }
            let distance = Self.distances[number]
            let isSecond = squaresB - sizesB * (2 * distance) .< squaresA - sizesA * (2 * distance)
            let sums = sumsA.replacing(with: sumsB, where: isSecond)
            let isDarker = sums .< 0
            best = (
                least,
                Self.wordH(
                    SIMD4<Int32>(first), SIMD4<Int32>(second), number, isSecond, isDarker)
            )
            let shift = Lanes(repeating: distance).replacing(with: -distance, where: isDarker)
            let mask = Lanes(repeating: 0).replacing(with: 1, where: isSecond)
            let count = mask.sum()
            guard count > 0, count < 16 else { break }
            let other = 1 - mask
            first = Self.code((channels.sum(other) - (shift * other).sum()) / (16 - count), 15)
            second = Self.code((channels.sum(mask) - (shift * mask).sum()) / count, 15)
        }
        return best?.word
    }

    private static func wordT(
        _ first: SIMD4<Int32>, _ second: SIMD4<Int32>, _ distance: Int
    ) -> UInt64 {
        var word = place(first.x >> 2, 59) | place(first.x & 3, 56) | 1 << 33
        word |= overflow(first.x >> 2, first.x & 3, 61, 58)
        word |= place(first.y, 52) | place(first.z, 48)
        word |= place(second.x, 44) | place(second.y, 40) | place(second.z, 36)
        return word | UInt64(distance >> 1) << 34 | UInt64(distance & 1) << 32
    }

    private static func wordH(
        _ first: SIMD4<Int32>, _ second: SIMD4<Int32>, _ distance: Int,
        _ isSecond: SIMDMask<SIMD16<Int32>>, _ isDarker: SIMDMask<SIMD16<Int32>>
    ) -> UInt64 {
        func order(_ color: SIMD4<Int32>) -> Int32 { color.x << 8 | color.y << 4 | color.z }
        // The order of the colours is the lowest bit of the distance.
        let isOrdered = order(first) >= order(second)
        let swaps = isOrdered != (distance & 1 == 1)
        let (a, b) = swaps ? (second, first) : (first, second)
        var word = place(a.x, 59) | place(a.y >> 1, 56) | place(a.y & 1, 52) | 1 << 33
        word |= place(a.z >> 3, 51) | place(a.z & 7, 47)
        if a.x + signed(a.y >> 1) < 0 { word |= 1 << 63 }
        word |= overflow((a.y & 1) << 1 | a.z >> 3, a.z >> 1 & 3, 53, 50)
        word |= place(b.x, 43) | place(b.y, 39) | place(b.z, 35)
        word |= UInt64(distance >> 2) << 34 | UInt64(distance >> 1 & 1) << 32
        for place in 0..<16 {
            let index: UInt64 =
                (isSecond[place] != swaps ? 2 : 0) | (isDarker[place] ? 1 : 0)
            word |= Self.index(index, place)
        }
        return word
    }

    /// The two bits of an index, which are stored column by column.
    private static func index(_ index: UInt64, _ place: Int) -> UInt64 {
        let bit = UInt64((place & 3) * 4 + place >> 2)
        return (index & 1) << bit | (index >> 1) << (bit + 16)
    }
}
