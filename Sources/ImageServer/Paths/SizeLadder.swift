// SPDX-License-Identifier: Apache-2.0

/// The sizes of renditions; a fixed set bounds the number of renditions that clients can request.
///
/// The longer side of a box is rounded up to a step, and the box keeps its proportions. Images in
/// display formats keep the requested size, unless the steps were set explicitly.
public struct SizeLadder: Sendable, Hashable {
    /// The steps in pixels in ascending order; `nil` for no rounding.
    private let steps: [Int]?
    private let isForDisplays: Bool

    private init(_ steps: [Int]?, isForDisplays: Bool) {
        self.steps = steps
        self.isForDisplays = isForDisplays
    }

    /// Creates a ladder with the given steps, which also applies to display formats.
    ///
    /// - Parameter steps: lengths in pixels of at least 1; at least one.
    public init(steps: [Int]) {
        precondition(steps.contains { $0 > 0 }, "a ladder needs at least one step")
        self.init(Array(Set(steps.filter { $0 > 0 })).sorted(), isForDisplays: true)
    }

    /// No rounding: renditions have the requested size.
    public static let exact = SizeLadder(nil, isForDisplays: true)

    /// Four steps per octave from 16 pixels on: 16, 20, 24, 28, 32, 40 and so on.
    public static let quarters = SizeLadder(
        (2..<28).flatMap { power in (4..<8).map { $0 << power } }, isForDisplays: false)

    /// Returns the smallest step of at least `length`, or the last step.
    func step(for length: Double) -> Int {
        guard let steps else { return max(1, Int(min(length, 1e9).rounded())) }
        return steps.first { Double($0) >= length } ?? steps.last ?? 1
    }

    /// Rounds the longer side of a box up to a step, in device pixels.
    ///
    /// - Parameters:
    ///   - options: the requested options.
    ///   - maximumSide: the largest width or height in pixels.
    ///   - isForDisplay: whether the format is a display's pixel format.
    /// - Returns: the options with the rounded box and no density.
    func snapped(
        _ options: RenditionOptions, maximumSide: Int, isForDisplay: Bool
    ) -> RenditionOptions {
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
        if !options.gravity.isPlain || !options.frame.isEmpty {
            result.lengthScale = Double(snapped) / Double(longer)
        }
        result.density = nil
        return result
    }
}
