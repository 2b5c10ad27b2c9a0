// SPDX-License-Identifier: Apache-2.0

/// How long pictures take to load and decode, learnt from those that did.
///
/// The mean and the mean deviation, smoothed as those of a round trip are.
///
/// - SeeAlso: RFC 6298, section 2.
public struct LoadTimes: Hashable, Sendable {
    private struct Measured: Hashable {
        var mean: Duration
        var deviation: Duration
    }

    private var measured: [LOD: Measured] = [:]
    private let first: Duration

    /// - Parameter first: what an exact picture is taken to need before anything was measured.
    public init(first: Duration = .milliseconds(40)) { self.first = first }

    /// Takes in that a picture took so long.
    public mutating func note(_ duration: Duration, for lod: LOD) {
        guard var known = measured[lod] else {
            measured[lod] = Measured(mean: duration, deviation: duration / 2)
            return
        }
        let error = duration - known.mean
        known.deviation += ((error < .zero ? .zero - error : error) - known.deviation) / 4
        known.mean += error / 8
        measured[lod] = known
    }

    /// What a picture is expected to take, the usual deviation included.
    ///
    /// A rung that was not measured is taken to need half the time of the next sharper one.
    public subscript(lod: LOD) -> Duration {
        if let known = measured[lod] { return known.mean + known.deviation }
        let others = LOD.allCases.filter { measured[$0] != nil }
        // The nearest one, so that one measured rung speaks for all.
        guard let nearest = others.min(by: { lod.distance(to: $0) < lod.distance(to: $1) }),
            let known = measured[nearest]
        else { return first / lod.rawValue }
        return (known.mean + known.deviation) * nearest.rawValue / lod.rawValue
    }
}

extension LOD {
    fileprivate func distance(to other: LOD) -> Int {
        max(rawValue, other.rawValue) / min(rawValue, other.rawValue)
    }
}

/// Decides which rung of the ladder a view asks for: while content moves the best that is there in
/// time, at rest the exact one, and never a worse one than is shown already.
///
/// A value without a clock: who uses it says how fast the content moves and notes what loads took.
public struct LODPolicy: Hashable, Sendable {
    /// Slower content, in pixels a second, is as good as at rest.
    public var restingSpeed = 50.0
    /// For faster content, in pixels a second, nothing sharper than ``LOD/half`` is made.
    public var halfSpeed = 2000.0
    /// For faster content, in pixels a second, nothing sharper than ``LOD/quarter`` is made.
    public var quarterSpeed = 6000.0
    public var times = LoadTimes()

    public init() {}

    public func isResting(_ velocity: Double) -> Bool { abs(velocity) <= restingSpeed }

    /// The rung to ask for.
    ///
    /// What is shown is only exchanged for the exact one. The speed alone asks for a smaller one only
    /// if that takes less than half of the time: the exact one has to be made as well, soon after.
    ///
    /// - Parameters:
    ///   - velocity: of the content, in pixels a second in either direction.
    ///   - timeLeft: until the picture should be there: until the item comes into view, or for one
    ///     that is in view, until it leaves. It does not count at rest.
    ///   - shown: the best that is there, if anything.
    /// - Returns: `nil` if what is there will do. If nothing comes in time it is the rung that comes
    ///   first.
    public func lod(velocity: Double, timeLeft: Duration, shown: LOD?) -> LOD? {
        let chosen: LOD
        if isResting(velocity) {
            chosen = .exact
        } else {
            let limit = limit(abs(velocity))
            chosen =
                LOD.allCases.reversed().first { $0 <= limit && times[$0] <= timeLeft } ?? .quarter
        }
        if shown != nil, chosen != .exact { return nil }
        return swaps(chosen, for: shown) ? chosen : nil
    }

    /// The sharpest rung that is worth its time at a speed.
    private func limit(_ speed: Double) -> LOD {
        let limit: LOD = speed > quarterSpeed ? .quarter : speed > halfSpeed ? .half : .exact
        return times[limit] * 2 <= times[.exact] ? limit : .exact
    }

    /// Whether a picture that has come takes the place of what is shown.
    public func swaps(_ new: LOD, for shown: LOD?) -> Bool {
        guard let shown else { return true }
        return new > shown
    }
}
