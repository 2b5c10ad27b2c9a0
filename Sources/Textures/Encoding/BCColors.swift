// SPDX-License-Identifier: Apache-2.0

/// Encodes the colours of a block of BC1 or BC3, with four colours.
struct BCColors {
    /// The two end points in 5, 6 and 5 bits.
    private struct Ends {
        var a, b: SIMD4<Int32>
    }
    private static let limit = SIMD4<Int32>(31, 63, 31, 0)

    private let texels: InlineArray<16, SIMD4<Int32>>

    static func encoded(_ texels: TexelBlock) -> UInt64 {
        let block = BCColors(
            texels: InlineArray {
                SIMD4(Int32(texels[$0].x), Int32(texels[$0].y), Int32(texels[$0].z), 0)
            })
        return block.word
    }

    private var word: UInt64 {
        var indices = InlineArray<16, UInt8>(repeating: 0)
        var ends = principalEnds
        var best = error(ends, &indices)
        if texels.indices.allSatisfy({ texels[$0] == texels[0] }) {
            let constant = Self.constants(texels[0])
            let error = error(constant, &indices)
            if error <= best { (best, ends) = (error, constant) }
        }
        for _ in 0..<8 where best > 0 {
            var changed = false
            _ = error(ends, &indices)
            if let solution = solution(indices) {
                var chosen = indices
                let error = error(solution, &chosen)
                if error < best { (best, ends, changed) = (error, solution, true) }
            }
            if !changed && !step(&ends, &best) { break }
        }
        _ = error(ends, &indices)
        return Self.word(ends, indices)
    }

    /// Tries the next values of each channel of both end points.
    private func step(_ ends: inout Ends, _ best: inout Int32) -> Bool {
        let start = best
        var indices = InlineArray<16, UInt8>(repeating: 0)
        for channel in 0..<3 {
            for (stepA, stepB) in Self.steps {
                var next = ends
                next.a[channel] += stepA
                next.b[channel] += stepB
                guard (0...Self.limit[channel]).contains(next.a[channel]),
                    (0...Self.limit[channel]).contains(next.b[channel])
                else { continue }
                let error = error(next, &indices)
                if error < best { (best, ends) = (error, next) }
            }
        }
        return best < start
    }

    /// The steps of both end points of a channel.
    static let steps: [(Int32, Int32)] = [
        (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1),
    ]

    // MARK: - Exact error

    @inline(__always)
    private static func widened(_ color: SIMD4<Int32>) -> SIMD4<Int32> {
        (color &<< SIMD4(3, 2, 3, 0)) | (color &>> SIMD4(2, 4, 2, 0))
    }

    /// Chooses the index of each texel.
    private func error(_ ends: Ends, _ indices: inout InlineArray<16, UInt8>) -> Int32 {
        let (a, b) = (Self.widened(ends.a), Self.widened(ends.b))
        let c = (a &* 2 &+ b) / 3
        let d = (a &+ b &* 2) / 3
        var sum: Int32 = 0
        for place in 0..<16 {
            let texel = texels[place]
            var least = Self.square(texel &- a)
            var index: UInt8 = 0
            let (second, third, fourth) = (
                Self.square(texel &- b), Self.square(texel &- c), Self.square(texel &- d)
            )
            if second < least { (least, index) = (second, 1) }
            if third < least { (least, index) = (third, 2) }
            if fourth < least { (least, index) = (fourth, 3) }
            indices[place] = index
            sum &+= least
        }
        return sum
    }

    @inline(__always)
    private static func square(_ difference: SIMD4<Int32>) -> Int32 {
        (difference &* difference).wrappedSum()
    }

    // MARK: - End points

    private var principalEnds: Ends {
        var mean = SIMD4<Float>()
        for place in 0..<16 { mean += SIMD4<Float>(texels[place]) }
        mean /= 16
        var axis = SIMD4<Float>(0.5, 1, 0.5, 0)
        for _ in 0..<6 {
            var sum = SIMD4<Float>()
            for place in 0..<16 {
                let offset = SIMD4<Float>(texels[place]) - mean
                sum += offset * (offset * axis).sum()
            }
            let length = (sum * sum).sum().squareRoot()
            guard length > 0.001 else { break }
            axis = sum / length
        }
        let length = (axis * axis).sum()
        var (least, most): (Float, Float) = (0, 0)
        for place in 0..<16 {
            let position = ((SIMD4<Float>(texels[place]) - mean) * axis).sum() / length
            least = min(least, position)
            most = max(most, position)
        }
        return Ends(
            a: Self.quantized(mean + axis * most), b: Self.quantized(mean + axis * least))
    }

    private static func quantized(_ color: SIMD4<Float>) -> SIMD4<Int32> {
        let scaled = color * SIMD4<Float>(31.0 / 255, 63.0 / 255, 31.0 / 255, 0)
        return scaled.limited(to: SIMD4<Float>(limit)).nearestIntegers
    }

    /// Returns the end points that are best for the indices; `nil` if they do not determine both.
    private func solution(_ indices: InlineArray<16, UInt8>) -> Ends? {
        let shares: InlineArray<4, Float> = [3, 0, 2, 1]
        var (aa, ab, bb): (Float, Float, Float) = (0, 0, 0)
        var (sumA, sumB) = (SIMD4<Float>(), SIMD4<Float>())
        for place in 0..<16 {
            let a = shares[Int(indices[place])]
            let b = 3 - a
            aa += a * a
            ab += a * b
            bb += b * b
            let texel = SIMD4<Float>(texels[place]) * 3
            sumA += texel * a
            sumB += texel * b
        }
        let determinant = aa * bb - ab * ab
        guard determinant > 0.5 else { return nil }
        return Ends(
            a: Self.quantized((sumA * bb - sumB * ab) / determinant),
            b: Self.quantized((sumB * aa - sumA * ab) / determinant))
    }

    /// Returns the end points whose third colour is nearest to a colour.
    private static func constants(_ color: SIMD4<Int32>) -> Ends {
        var ends = Ends(a: SIMD4(), b: SIMD4())
        for channel in 0..<3 {
            var least = Int32.max
            let nearest = quantized(SIMD4<Float>(color))[channel]
            func wide(_ value: Int32) -> Int32 {
                channel == 1 ? value << 2 | value >> 4 : value << 3 | value >> 2
            }
            for a in max(0, nearest - 3)...min(limit[channel], nearest + 3) {
                for b in max(0, nearest - 3)...min(limit[channel], nearest + 3) {
                    let error = abs((wide(a) * 2 + wide(b)) / 3 - color[channel])
                    if error < least {
                        least = error
                        (ends.a[channel], ends.b[channel]) = (a, b)
                    }
                }
            }
        }
        return ends
    }

    /// Returns the block; the first end point is the greater integer, which selects four colours.
    private static func word(_ ends: Ends, _ indices: InlineArray<16, UInt8>) -> UInt64 {
        func packed(_ color: SIMD4<Int32>) -> UInt64 {
            UInt64(color.x) << 11 | UInt64(color.y) << 5 | UInt64(color.z)
        }
        let (first, second) = (packed(ends.a), packed(ends.b))
        // The indices of exchanged end points differ in the lowest bit; equal ones have only the first.
        let flip: UInt64 = first < second ? 1 : 0
        var word = max(first, second) | min(first, second) << 16
        guard first != second else { return word }
        for place in 0..<16 {
            word |= (UInt64(indices[place]) ^ flip) << UInt64(32 + place * 2)
        }
        return word
    }
}
