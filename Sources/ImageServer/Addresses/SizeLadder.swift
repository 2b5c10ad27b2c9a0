// SPDX-License-Identifier: Apache-2.0

/// The sizes that pictures are made in, so that strangers cannot ask for endlessly many.
///
/// A box is enlarged until its longer side is a step, and keeps its proportions.
public struct SizeLadder: Sendable, Hashable {
    /// The lengths in pixels, the smallest first; `nil` for any.
    private let steps: [Int]?

    private init(_ steps: [Int]?) { self.steps = steps }

    /// - Parameter steps: lengths in pixels of at least 1; at least one.
    public init(steps: [Int]) {
        precondition(steps.contains { $0 > 0 }, "a ladder has steps")
        self.steps = Array(Set(steps.filter { $0 > 0 })).sorted()
    }

    /// Makes each size that is asked for.
    public static let exact = SizeLadder(nil)

    /// Four steps from each power of two to the next, from 16 on: 16, 20, 24, 28, 32, 40 and so on.
    public static let quarters = SizeLadder(
        steps: (2..<28).flatMap { power in (4..<8).map { $0 << power } })

    /// The nearest step that is no smaller; the last one for what is larger than all.
    func step(for length: Double) -> Int {
        guard let steps else { return max(1, Int(min(length, 1e9).rounded())) }
        return steps.first { Double($0) >= length } ?? steps.last ?? 1
    }

    /// The same box with a step for its longer side, in device pixels.
    func snapped(_ options: PictureOptions, maximumSide: Int) -> PictureOptions {
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
