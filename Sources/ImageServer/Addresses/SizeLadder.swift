// SPDX-License-Identifier: Apache-2.0

/// The sizes that pictures are made in, so that strangers cannot ask for endlessly many.
///
/// A box is enlarged until its longer side is a step, and keeps its proportions. Pictures for displays
/// are made in the size that was asked for, unless the steps were chosen by hand.
public struct SizeLadder: Sendable, Hashable {
    /// The lengths in pixels, the smallest first; `nil` for any.
    private let steps: [Int]?
    private let isForDisplays: Bool

    private init(_ steps: [Int]?, isForDisplays: Bool) {
        self.steps = steps
        self.isForDisplays = isForDisplays
    }

    /// - Parameter steps: lengths in pixels of at least 1; at least one.
    public init(steps: [Int]) {
        precondition(steps.contains { $0 > 0 }, "a ladder has steps")
        self.init(Array(Set(steps.filter { $0 > 0 })).sorted(), isForDisplays: true)
    }

    /// Makes each size that is asked for.
    public static let exact = SizeLadder(nil, isForDisplays: true)

    /// Four steps from each power of two to the next, from 16 on: 16, 20, 24, 28, 32, 40 and so on.
    public static let quarters = SizeLadder(
        (2..<28).flatMap { power in (4..<8).map { $0 << power } }, isForDisplays: false)

    /// The nearest step that is no smaller; the last one for what is larger than all.
    func step(for length: Double) -> Int {
        guard let steps else { return max(1, Int(min(length, 1e9).rounded())) }
        return steps.first { Double($0) >= length } ?? steps.last ?? 1
    }

    /// The same box with a step for its longer side, in device pixels.
    ///
    /// - Parameters:
    ///   - options: what is asked for.
    ///   - maximumSide: the largest width or height.
    ///   - isForDisplay: whether the picture goes into the memory of a display as it is.
    /// - Returns: what is made.
    func snapped(
        _ options: PictureOptions, maximumSide: Int, isForDisplay: Bool
    ) -> PictureOptions {
        if isForDisplay && !isForDisplays {
            return Self.exact.snapped(options, maximumSide: maximumSide, isForDisplay: true)
        }
        guard let longer = [options.width, options.height].compactMap({ $0 }).max() else {
            return options
        }
        let length = Double(longer) * (options.density ?? 1)
        let snapped = min(step(for: length), maximumSide)
        func side(_ side: Int?) -> Int? {
            side.map { max(1, Int((Double($0) * Double(snapped) / Double(longer)).rounded())) }
        }
        var result = options
        (result.width, result.height) = (side(options.width), side(options.height))
        result.density = nil
        return result
    }
}
