// SPDX-License-Identifier: Apache-2.0

/// Computes which images to prefetch for a scrolling view and at which level of detail.
struct ScrollPlan {
    struct Step: Hashable {
        let item: Int
        let lod: LOD
    }

    let layout: any ScrollLayout
    let visible: Range<Double>
    /// The velocity in pixels per second, positive towards the end of the content.
    let velocity: Double
    /// The deceleration in pixels per second squared; 0 if the content does not slow down.
    var deceleration = 0.0
    let policy: LODPolicy
    /// The time ahead that is considered.
    let lookAhead: Duration
    /// The time by which an image should be available before it becomes visible.
    let margin: Duration
    /// The number of concurrent loads.
    let width: Int

    var visibleItems: Range<Int> { layout.items(in: visible) }

    private var visibleLength: Double { visible.upperBound - visible.lowerBound }

    /// Returns the items that may become visible soon, without visible ones, the first to appear
    /// first.
    func candidates(_ maximumCount: Int) -> [Int] {
        let shown = visibleItems
        guard !policy.isResting(velocity) else {
            let near = layout.items(in: reach)
            return near.filter { !shown.contains($0) }
                .map { (item: $0, gap: gap(to: $0)) }
                .sorted { ($0.gap, $0.item) < ($1.gap, $1.item) }
                .prefix(maximumCount).map(\.item)
        }
        let ahead = layout.items(in: reach)
        return velocity > 0
            ? Array(ahead.filter { $0 >= shown.upperBound }.prefix(maximumCount))
            : Array(ahead.filter { $0 < shown.lowerBound }.reversed().prefix(maximumCount))
    }

    /// Returns whether an item is visible or may become visible.
    func isWanted(_ item: Int) -> Bool {
        let extent = layout.extent(of: item)
        return extent.overlaps(visible) || extent.overlaps(horizon)
    }

    /// The range that is visible, or will be within the time considered unless the content stops
    /// before; at rest, half a screen on each side.
    private var reach: Range<Double> {
        guard !policy.isResting(velocity) else {
            return visible.lowerBound - visibleLength / 2..<visible.upperBound + visibleLength / 2
        }
        var length = abs(velocity) * (lookAhead / .seconds(1))
        if deceleration > 0 {
            // Twice the distance of constant deceleration: the deceleration of most content
            // decreases.
            length = min(length, velocity * velocity / deceleration)
        }
        return velocity > 0
            ? visible.lowerBound..<visible.upperBound + length
            : visible.lowerBound - length..<visible.upperBound
    }

    /// The range that is visible or may become visible: at least a screen ahead, at rest on each
    /// side.
    private var horizon: Range<Double> {
        let before = visible.lowerBound - visibleLength
        let after = visible.upperBound + visibleLength
        guard !policy.isResting(velocity) else { return before..<after }
        return velocity > 0
            ? visible.lowerBound..<max(after, reach.upperBound)
            : min(before, reach.lowerBound)..<visible.upperBound
    }

    private func gap(to item: Int) -> Double {
        let extent = layout.extent(of: item)
        return max(extent.lowerBound - visible.upperBound, visible.lowerBound - extent.upperBound)
    }

    /// Returns which candidates to load now, in order.
    ///
    /// An item is deferred as long as that makes neither it nor a later one late: the content may
    /// stop or turn before.
    ///
    /// At rest the lowest level suffices: it is available at once when the content starts to move,
    /// and little is lost if it moves the other way.
    ///
    /// - Parameters:
    ///   - candidates: the items, the first to appear first.
    ///   - busy: the time for which running loads occupy the slots.
    ///   - had: returns the sharpest available level of an item.
    /// - Returns: the loads, without items that need none or whose image would be late.
    func steps(_ candidates: [Int], busy: Duration, had: (Int) -> LOD?) -> [Step] {
        var busy = busy
        var steps: [Step] = []
        var dueCount = 0
        for item in candidates {
            if policy.isResting(velocity) {
                if had(item) == nil { steps.append(Step(item: item, lod: .quarter)) }
                dueCount = steps.count
                continue
            }
            let gap = gap(to: item)
            guard
                let lod = policy.lod(
                    velocity: velocity, timeLeft: time(for: gap) - busy, shown: had(item))
            else { continue }
            let end = busy + policy.times[lod]
            let extent = layout.extent(of: item)
            let passed = gap + visibleLength + extent.upperBound - extent.lowerBound
            // It would have passed before its image is available.
            if end > time(for: passed) { continue }
            steps.append(Step(item: item, lod: lod))
            if time(for: gap) - end <= margin { dueCount = steps.count }
            busy += policy.times[lod] / width
        }
        return Array(steps.prefix(dueCount))
    }

    private func time(for distance: Double) -> Duration {
        .seconds(distance / max(abs(velocity), 1))
    }
}
