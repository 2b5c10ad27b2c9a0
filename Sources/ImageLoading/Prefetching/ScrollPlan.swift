// SPDX-License-Identifier: Apache-2.0

/// Which pictures to prefetch for a view that scrolls, and how sharp: pure arithmetic.
struct ScrollPlan {
    struct Step: Hashable {
        let item: Int
        let lod: LOD
    }

    let layout: any ScrollLayout
    let visible: Range<Double>
    /// In pixels a second; positive towards the end of the content.
    let velocity: Double
    /// How fast the content slows down, in pixels a second for each second; 0 if it does not.
    var deceleration = 0.0
    let policy: LODPolicy
    /// How far ahead is looked.
    let lookAhead: Duration
    /// How long before it comes into view a picture is to be there.
    let margin: Duration
    /// Pictures that are loaded at the same time.
    let width: Int

    var visibleItems: Range<Int> { layout.items(in: visible) }

    private var visibleLength: Double { visible.upperBound - visible.lowerBound }

    /// Items that may come into view soon, those in view left out, the first to come first.
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

    /// Whether a picture of the item may still be of use: it is in view or may come there.
    func isWanted(_ item: Int) -> Bool {
        let extent = layout.extent(of: item)
        return extent.overlaps(visible) || extent.overlaps(horizon)
    }

    /// What is in view or will be within the time looked ahead, unless the content stops before; at
    /// rest half a screen to each side.
    private var reach: Range<Double> {
        guard !policy.isResting(velocity) else {
            return visible.lowerBound - visibleLength / 2..<visible.upperBound + visibleLength / 2
        }
        var length = abs(velocity) * (lookAhead / .seconds(1))
        if deceleration > 0 {
            // Twice as far as with that deceleration: most content slows down less and less.
            length = min(length, velocity * velocity / deceleration)
        }
        return velocity > 0
            ? visible.lowerBound..<visible.upperBound + length
            : visible.lowerBound - length..<visible.upperBound
    }

    /// What is in view or may come there: what is within reach and at least a screen, at rest to each
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

    /// What to load of the candidates now, in this order.
    ///
    /// An item waits as long as neither it nor one after it would be late for that: it may turn out
    /// that the content stops before, or turns.
    ///
    /// At rest the smallest rung will do: it is there at once when the content begins to move, and
    /// little is lost if it moves the other way.
    ///
    /// - Parameters:
    ///   - candidates: the first to come first.
    ///   - busy: for how long what is under way keeps the loads busy.
    ///   - had: the best that is there of an item.
    /// - Returns: nothing for an item that needs nothing, or whose picture would come too late.
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
            // It would have gone by before its picture is there.
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
