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
    /// The number of places, 12×8 pixels, of which the word has the middle.
    private static let count = 96
    private static let modes: InlineArray<4, Mode> = [.direct, .four, .horizontal, .vertical]

    // By place. Inline arrays would be copied.
    private(set) var stored = [UInt8](repeating: 0, count: count)
    /// The modes of pixels whose weight is a mean, and `direct` for all others.
    private var means = [Mode](repeating: .direct, count: count)
    /// The squared errors of each pixel for the weights from 0 to 8, weight by weight.
    private var errors = [Int32](repeating: 0, count: count * 9)
    /// The least of these errors.
    private var least = [Int32](repeating: 0, count: count)
    /// The places next to the word whose weights are means of stored weights of the word.
    private var edges: [Int] = []
    /// The indices of the errors of the mean of four or two weights, by the sum of these.
    private let fours = (0...32).map { ($0 + 2) >> 2 * count }
    private let twos = (0...16).map { ($0 + 1) >> 1 * count }

    /// The place of a pixel, from two before the word on.
    @inline(__always)
    static func place(_ x: Int, _ y: Int) -> Int { (y + 2) * width + x + 2 }

    // MARK: - State

    /// Sets the stored weight of a pixel within two pixels of the word.
    mutating func set(_ x: Int, _ y: Int, _ weight: UInt8) { stored[Self.place(x, y)] = weight }

    /// Sets the modes of the words around the word, row by row.
    mutating func setModes(_ modes: InlineArray<9, Mode>) {
        edges.removeAll(keepingCapacity: true)
        for x in 0..<8 {
            setEdge(x, -1, modes[1], unless: .horizontal)
            setEdge(x, 4, modes[7], unless: .horizontal)
        }
        for y in 0..<4 {
            setEdge(-1, y, modes[3], unless: .vertical)
            setEdge(8, y, modes[5], unless: .vertical)
        }
    }

    /// Sets the mode of a pixel next to the word; a mean in the other direction does not depend on the word.
    private mutating func setEdge(_ x: Int, _ y: Int, _ mode: Mode, unless other: Mode) {
        guard (x ^ y) & 1 == 1 else { return }
        let place = Self.place(x, y)
        means[place] = mode == other ? .direct : mode
        if means[place] != .direct { edges.append(place) }
    }

    /// Adds the squared errors of eight pixels in one channel for each weight.
    ///
    /// - Parameters:
    ///   - totals: the sums, by weight.
    ///   - wanted: the samples of the image.
    ///   - a: the first colour.
    ///   - b: the second colour.
    @inline(__always)
    static func addErrors(
        to totals: inout InlineArray<9, SIMD8<Int32>>, _ wanted: SIMD8<Int16>,
        _ a: SIMD8<Int16>, _ b: SIMD8<Int16>
    ) {
        let (missing, range) = (wanted &- a, b &- a)
        var product = SIMD8<Int16>()
        for weight in 0..<9 {
            let rest = missing &- product &>> 3
            totals[weight] &+= SIMD8<Int32>(
                truncatingIfNeeded: SIMD8<UInt16>(truncatingIfNeeded: rest &* rest))
            product &+= range
        }
    }

    /// Sets the squared errors of the eight pixels of a row of the word, or above or below it.
    mutating func setErrors(row y: Int, _ totals: borrowing InlineArray<9, SIMD8<Int32>>) {
        let start = Self.place(0, y)
        var minimum = totals[0]
        for weight in 0..<9 {
            let total = totals[weight]
            minimum.replace(with: total, where: total .< minimum)
            for lane in 0..<8 { errors[weight * Self.count + start + lane] = total[lane] }
        }
        for lane in 0..<8 { least[start + lane] = minimum[lane] }
    }

    /// Sets the squared errors of the four pixels on the left of the word and those on the right.
    mutating func setEdgeErrors(_ totals: borrowing InlineArray<9, SIMD8<Int32>>) {
        for lane in 0..<8 {
            let place = Self.place(lane < 4 ? -1 : 8, lane & 3)
            var minimum = totals[0][lane]
            for weight in 0..<9 {
                errors[weight * Self.count + place] = totals[weight][lane]
                minimum = min(minimum, totals[weight][lane])
            }
            least[place] = minimum
        }
    }

    // MARK: - Choice

    /// Chooses the mode with the least error and the weights that the word stores.
    ///
    /// - Parameter present: the mode of the word.
    /// - Returns: the mode.
    mutating func choose(_ present: Mode) -> Mode {
        setMode(present)
        var bestMode = present
        var best = (error: total(present), stored: stored)
        for index in 0..<4 {
            let mode = Self.modes[index]
            setMode(mode)
            // No choice of weights can have less than the least error of each pixel.
            guard setNearest(mode) < best.error else { continue }
            if descend(mode) { _ = descend(mode) }
            let error = total(mode)
            if error < best.error {
                best = (error, stored)
                bestMode = mode
            }
        }
        stored = best.stored
        return bestMode
    }

    /// Stores the best of 0 and 8 for each pixel.
    mutating func storeNearest() {
        setMode(.direct)
        _ = setNearest(.direct)
    }

    private mutating func setMode(_ mode: Mode) {
        for y in 0..<4 {
            for x in Swift.stride(from: 1 - y & 1, to: 8, by: 2) {
                means[Self.place(x, y)] = mode
            }
        }
    }

    /// Returns the sum of the stored weights whose mean is the weight of a pixel.
    @inline(__always)
    private func sum(_ place: Int, _ mode: Mode) -> Int {
        let stored = stored.span
        var sum = 0
        if mode != .vertical {
            sum &+= unsafe Int(stored[unchecked: place &- 1]) &+ Int(stored[unchecked: place &+ 1])
        }
        if mode != .horizontal {
            sum &+=
                unsafe Int(stored[unchecked: place &- Self.width])
                &+ Int(stored[unchecked: place &+ Self.width])
        }
        return sum
    }

    /// Returns the error of a pixel whose weight is a mean.
    @inline(__always)
    private func meanError(_ place: Int, _ mode: Mode) -> Int {
        let sum = sum(place, mode)
        return Int(errors[(mode == .four ? fours[sum] : twos[sum]) + place])
    }

    /// Returns the error of the pixels that depend on the word.
    private func total(_ mode: Mode) -> Int {
        var total = edges.reduce(0) { $0 + meanError($1, means[$1]) }
        for y in 0..<4 {
            for x in 0..<8 {
                let place = Self.place(x, y)
                total +=
                    mode == .direct || (x ^ y) & 1 == 0
                    ? Int(errors[Int(stored[place]) * Self.count + place]) : meanError(place, mode)
            }
        }
        return total
    }

    /// Whether a pixel can store 0 and 8 only, since its low bit is a flag: that of the first pixel and of (4, 2).
    @inline(__always)
    private static func isFlag(_ x: Int, _ y: Int, _ mode: Mode) -> Bool {
        x == 0 && y == 0 || (x == 4 && y == 2 && mode != .four)
    }

    /// Stores the best weight for each pixel by itself.
    ///
    /// - Returns: a lower bound of the error of the pixels that depend on the word.
    private mutating func setNearest(_ mode: Mode) -> Int {
        var bound = edges.reduce(0) { $0 + Int(least[$1]) }
        for y in 0..<4 {
            for x in 0..<8 {
                let place = Self.place(x, y)
                guard mode == .direct || (x ^ y) & 1 == 0 else {
                    bound += Int(least[place])
                    continue
                }
                func error(_ weight: Int) -> Int32 { errors[weight * Self.count + place] }
                var (lowest, result) = (error(0), UInt8(0))
                if mode != .direct, !Self.isFlag(x, y, mode) {
                    if error(3) < lowest { (lowest, result) = (error(3), 3) }
                    if error(5) < lowest { (lowest, result) = (error(5), 5) }
                }
                if error(8) < lowest { (lowest, result) = (error(8), 8) }
                stored[place] = result
                bound += Int(lowest)
            }
        }
        return bound
    }

    /// Tries all weights of each pixel of which others can be means.
    ///
    /// - Returns: whether one has changed.
    private mutating func descend(_ mode: Mode) -> Bool {
        // The nearest weights of a word without means are best.
        if mode == .direct && edges.isEmpty { return false }
        var hasChanged = false
        for y in 0..<4 {
            for x in Swift.stride(from: y & 1, to: 8, by: 2) {
                let place = Self.place(x, y)
                let before = stored[place]
                let errors = choiceErrors(place)
                var (lowest, result) = (Int32.max, before)
                func consider(_ lane: Int, _ weight: UInt8) {
                    guard errors[lane] < lowest || (errors[lane] == lowest && weight == before)
                    else { return }
                    (lowest, result) = (errors[lane], weight)
                }
                consider(0, 0)
                if mode != .direct, !Self.isFlag(x, y, mode) {
                    consider(1, 3)
                    consider(2, 5)
                }
                consider(3, 8)
                stored[place] = result
                hasChanged = hasChanged || result != before
            }
        }
        return hasChanged
    }

    /// Returns the errors of a pixel and of its neighbours that are means if it stores 0, 3, 5 or 8.
    @inline(__always)
    private func choiceErrors(_ place: Int) -> SIMD4<Int32> {
        precondition(
            place >= 2 * Self.width && place + 2 * Self.width < Self.count
                && stored.count == Self.count && means.count == Self.count
                && errors.count == Self.count * 9)
        let (errors, means) = (errors.span, means.span)
        let count = Self.count
        let own = unsafe Int(stored.span[unchecked: place])
        func four(_ start: Int, _ indices: Span<Int>, _ sum: Int) -> SIMD4<Int32> {
            unsafe SIMD4(
                errors[unchecked: indices[unchecked: sum] &+ start],
                errors[unchecked: indices[unchecked: sum &+ 3] &+ start],
                errors[unchecked: indices[unchecked: sum &+ 5] &+ start],
                errors[unchecked: indices[unchecked: sum &+ 8] &+ start])
        }
        var result = unsafe SIMD4(
            errors[unchecked: place], errors[unchecked: 3 &* count &+ place],
            errors[unchecked: 5 &* count &+ place], errors[unchecked: 8 &* count &+ place])
        func add(_ neighbor: Int, unless other: Mode) {
            let mode = unsafe means[unchecked: neighbor]
            guard mode != .direct, mode != other else { return }
            let rest = sum(neighbor, mode) &- own
            result &+= four(neighbor, mode == .four ? fours.span : twos.span, rest)
        }
        add(place &- 1, unless: .vertical)
        add(place &+ 1, unless: .vertical)
        add(place &- Self.width, unless: .horizontal)
        add(place &+ Self.width, unless: .horizontal)
        return result
    }
}
