// SPDX-License-Identifier: Apache-2.0

/// The weights that are stored for the pixels of a word of PVRTC with 2 bits per pixel, and for those up to two
/// pixels around it, on which the weights of its neighbours depend.
struct PVRTC2Weights {
    /// How a word determines the weights of its pixels.
    enum Mode: UInt8 {
        /// All are stored, as 0 or 8.
        case direct
        /// Every second one is the mean of four neighbours, of two in its row, or of two in its column.
        case four, horizontal, vertical
    }

    private static let width = 12
    private static let modes: InlineArray<4, Mode> = [.direct, .four, .horizontal, .vertical]
    private static let levels: InlineArray<6, UInt8> = [0, 8, 0, 3, 5, 8]

    // By the places of 12×8 pixels, of which the word has the middle. Inline arrays would be copied.
    private(set) var stored = [UInt8](repeating: 0, count: 96)
    private var modes = [Mode](repeating: .direct, count: 96)
    /// The squared errors of each pixel for the weights from 0 to 8.
    private var errors = [Int32](repeating: 0, count: 96 * 9)

    /// The place of a pixel, from two before the word on.
    @inline(__always)
    static func place(_ x: Int, _ y: Int) -> Int { (y + 2) * width + x + 2 }

    /// Sets the state of a pixel within two pixels of the word.
    mutating func set(_ x: Int, _ y: Int, _ weight: UInt8, _ mode: Mode) {
        let place = Self.place(x, y)
        stored[place] = weight
        modes[place] = mode
    }

    /// Sets the squared error of a pixel next to or in the word for each weight.
    mutating func setErrors(_ x: Int, _ y: Int, _ error: (Int32) -> Int32) {
        let start = Self.place(x, y) * 9
        for weight in 0..<9 { errors[start + weight] = error(Int32(weight)) }
    }

    /// Chooses the mode with the least error and the weights that the word stores.
    mutating func choose() -> Mode {
        var bestMode = modes[Self.place(0, 0)]
        var best = (error: total(), stored: stored)
        for index in 0..<4 {
            let mode = Self.modes[index]
            setNearest(mode)
            if descend(mode) { _ = descend(mode) }
            let error = total()
            if error < best.error {
                best = (error, stored)
                bestMode = mode
            }
        }
        stored = best.stored
        return bestMode
    }

    /// Returns the weight with which decoders mix a pixel.
    @inline(__always)
    private func weight(_ place: Int, isMean: Bool) -> Int {
        let mode = modes[place]
        if mode == .direct || !isMean { return Int(stored[place]) }
        return Self.mean(sum(place, mode), mode)
    }

    /// Returns the sum of the stored weights whose mean is the weight of a pixel.
    @inline(__always)
    private func sum(_ place: Int, _ mode: Mode) -> Int {
        var sum = 0
        if mode != .vertical { sum += Int(stored[place - 1]) + Int(stored[place + 1]) }
        if mode != .horizontal {
            sum += Int(stored[place - Self.width]) + Int(stored[place + Self.width])
        }
        return sum
    }

    @inline(__always)
    private static func mean(_ sum: Int, _ mode: Mode) -> Int {
        mode == .four ? (sum + 2) >> 2 : (sum + 1) >> 1
    }

    /// Returns the error of the pixels of the word and of those next to it.
    private func total() -> Int {
        var sum = 0
        for y in -1..<5 {
            // Corners do not depend on the word.
            for x in y == -1 || y == 4 ? 0..<8 : -1..<9 {
                let place = Self.place(x, y)
                sum += Int(errors[place * 9 + weight(place, isMean: (x ^ y) & 1 == 1)])
            }
        }
        return sum
    }

    /// Returns the weights that a word can store for one of its pixels.
    @inline(__always)
    private static func choices(_ x: Int, _ y: Int, _ mode: Mode) -> ClosedRange<Int> {
        // The low bits of pixels 0 and (4, 2) are flags.
        let isFlag = x == 0 && y == 0 || (x == 4 && y == 2 && mode != .four)
        return mode == .direct || isFlag ? 0...1 : 2...5
    }

    /// Stores the best weight for each pixel by itself.
    private mutating func setNearest(_ mode: Mode) {
        for y in 0..<4 {
            for x in 0..<8 {
                let place = Self.place(x, y)
                modes[place] = mode
                guard mode == .direct || (x ^ y) & 1 == 0 else { continue }
                var (least, result) = (Int32.max, UInt8(0))
                for choice in Self.choices(x, y, mode) {
                    let level = Self.levels[choice]
                    let error = errors[place * 9 + Int(level)]
                    if error < least { (least, result) = (error, level) }
                }
                stored[place] = result
            }
        }
    }

    /// Tries all weights of each pixel of which others can be means.
    ///
    /// - Returns: whether one has changed.
    private mutating func descend(_ mode: Mode) -> Bool {
        var hasChanged = false
        for y in 0..<4 {
            for x in Swift.stride(from: y & 1, to: 8, by: 2) {
                let place = Self.place(x, y)
                let before = stored[place]
                let means = means(around: place)
                var (least, result) = (error(place, before, means), before)
                for choice in Self.choices(x, y, mode) where Self.levels[choice] != before {
                    let error = error(place, Self.levels[choice], means)
                    if error < least { (least, result) = (error, Self.levels[choice]) }
                }
                stored[place] = result
                hasChanged = hasChanged || result != before
            }
        }
        return hasChanged
    }

    /// The neighbours of a pixel that are means of it and others: their places, modes, and the sums of the
    /// others.
    private struct Means {
        var count = 0
        var places = InlineArray<4, Int>(repeating: 0)
        var modes = InlineArray<4, Mode>(repeating: .direct)
        var sums = InlineArray<4, Int>(repeating: 0)
    }

    @inline(__always)
    private func means(around place: Int) -> Means {
        var result = Means()
        let neighbors: InlineArray<4, Int> = [
            place - 1, place + 1, place - Self.width, place + Self.width,
        ]
        let own = Int(stored[place])
        for index in 0..<4 {
            let mode = modes[neighbors[index]]
            guard mode != .direct, mode != (index < 2 ? .vertical : .horizontal) else { continue }
            result.places[result.count] = neighbors[index]
            result.modes[result.count] = mode
            result.sums[result.count] = sum(neighbors[index], mode) - own
            result.count += 1
        }
        return result
    }

    /// Returns the error of a pixel and of its neighbours if it stores a weight.
    @inline(__always)
    private func error(_ place: Int, _ weight: UInt8, _ means: borrowing Means) -> Int32 {
        var error = errors[place * 9 + Int(weight)]
        for index in 0..<means.count {
            let mean = Self.mean(means.sums[index] + Int(weight), means.modes[index])
            error += errors[means.places[index] * 9 + mean]
        }
        return error
    }
}
