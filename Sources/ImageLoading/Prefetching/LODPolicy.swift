// SPDX-License-Identifier: Apache-2.0

/// Estimates of the load time at each level of detail, from measured loads.
///
/// Mean and mean deviation are smoothed like round-trip times in TCP.
///
/// - SeeAlso: RFC 6298, section 2.
public struct LoadTimes: Hashable, Sendable {
    private struct Measured: Hashable {
        var mean: Duration
        var deviation: Duration
    }

    private var measured: [LOD: Measured] = [:]
    private let first: Duration

    /// Creates estimates.
    ///
    /// - Parameter first: the estimate at full detail before the first measurement.
    public init(first: Duration = .milliseconds(40)) { self.first = first }

    /// Records the measured time of a load.
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

    /// The estimated load time, deviation included.
    ///
    /// A level without measurements is estimated at half the time of the next sharper one.
    public subscript(lod: LOD) -> Duration {
        if let known = measured[lod] { return known.mean + known.deviation }
        let others = LOD.allCases.filter { measured[$0] != nil }
        // The nearest measured level, so that one measurement covers all.
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

/// Chooses the level of detail for a view: the sharpest that arrives in time while content moves,
/// full detail at rest, and never a lower one than is shown.
///
/// It uses no clock: the caller passes the velocity and records load times.
public struct LODPolicy: Hashable, Sendable {
    /// The speed in pixels per second up to which content counts as resting.
    public var restingSpeed = 50.0
    /// The speed in pixels per second above which at most ``LOD/half`` is loaded.
    public var halfSpeed = 2000.0
    /// The speed in pixels per second above which at most ``LOD/quarter`` is loaded.
    public var quarterSpeed = 6000.0
    /// The estimated load times.
    public var times = LoadTimes()

    /// Creates a policy with the default values.
    public init() {}

    /// Returns whether content with a velocity counts as resting.
    public func isResting(_ velocity: Double) -> Bool { abs(velocity) <= restingSpeed }

    /// Returns the level of detail to request.
    ///
    /// A shown image is replaced only by full detail. A high speed alone selects a lower level only
    /// if that takes less than half of the time, because full detail is needed soon after.
    ///
    /// - Parameters:
    ///   - velocity: the velocity of the content in pixels per second, in either direction.
    ///   - timeLeft: the time until the item becomes visible, or until a visible item disappears;
    ///     ignored at rest.
    ///   - shown: the sharpest level that is available, `nil` for none.
    /// - Returns: the level, `nil` if `shown` suffices. If none arrives in time, the fastest one.
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

    /// Returns the sharpest level that is worth its load time at a speed.
    private func limit(_ speed: Double) -> LOD {
        let limit: LOD = speed > quarterSpeed ? .quarter : speed > halfSpeed ? .half : .exact
        return times[limit] * 2 <= times[.exact] ? limit : .exact
    }

    /// Returns whether a loaded image replaces the one that is shown.
    public func swaps(_ new: LOD, for shown: LOD?) -> Bool {
        guard let shown else { return true }
        return new > shown
    }
}
