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
    let policy: LODPolicy
    let lookAhead: Duration
    /// Pictures that are loaded at the same time.
    let width: Int

    var visibleItems: Range<Int> { layout.items(in: visible) }

    private var visibleLength: Double { visible.upperBound - visible.lowerBound }

    /// Items that may come into view soon, those in view left out, the first to come first.
    func candidates(_ maximumCount: Int) -> [Int] {
        let shown = visibleItems
        guard !policy.isResting(velocity) else {
            let near = layout.items(in: horizon)
            return near.filter { !shown.contains($0) }
                .map { (item: $0, gap: gap(to: $0)) }
                .sorted { ($0.gap, $0.item) < ($1.gap, $1.item) }
                .prefix(maximumCount).map(\.item)
        }
        let ahead = layout.items(in: horizon)
        return velocity > 0
            ? Array(ahead.filter { $0 >= shown.upperBound }.prefix(maximumCount))
            : Array(ahead.filter { $0 < shown.lowerBound }.reversed().prefix(maximumCount))
    }

    /// Whether a picture of the item may still be of use: it is in view or may come there.
    func isWanted(_ item: Int) -> Bool {
        let extent = layout.extent(of: item)
        return extent.overlaps(visible) || extent.overlaps(horizon)
    }

    /// What is in view or may come there: at rest a screen to each side, else what comes within the
    /// time looked ahead and at least a screen.
    private var horizon: Range<Double> {
        let length = max(visibleLength, abs(velocity) * (lookAhead / .seconds(1)))
        if policy.isResting(velocity) {
            return visible.lowerBound - visibleLength..<visible.upperBound + visibleLength
        }
        return velocity > 0
            ? visible.lowerBound..<visible.upperBound + length
            : visible.lowerBound - length..<visible.upperBound
    }

    private func gap(to item: Int) -> Double {
        let extent = layout.extent(of: item)
        return max(extent.lowerBound - visible.upperBound, visible.lowerBound - extent.upperBound)
    }

    /// What to load of the candidates, in this order.
    ///
    /// - Parameters:
    ///   - candidates: the first to come first.
    ///   - busy: for how long what is under way keeps the loads busy.
    ///   - had: the best that is there of an item.
    /// - Returns: nothing for an item that needs nothing, or whose picture would come too late.
    func steps(_ candidates: [Int], busy: Duration, had: (Int) -> LOD?) -> [Step] {
        var busy = busy
        var steps: [Step] = []
        for item in candidates {
            let gap = gap(to: item)
            guard
                let lod = policy.lod(
                    velocity: velocity, timeLeft: time(for: gap) - busy, shown: had(item))
            else { continue }
            let end = busy + policy.times[lod]
            let extent = layout.extent(of: item)
            let passed = gap + visibleLength + extent.upperBound - extent.lowerBound
            // It would have gone by before its picture is there.
            if !policy.isResting(velocity), end > time(for: passed) { continue }
            steps.append(Step(item: item, lod: lod))
            busy += policy.times[lod] / width
        }
        return steps
    }

    private func time(for distance: Double) -> Duration {
        .seconds(distance / max(abs(velocity), 1))
    }
}
