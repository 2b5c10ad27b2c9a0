// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageLoading

@Suite("The plan of prefetching") struct ScrollPlanTests {
    private let carousel = GridLayout(itemCount: 100, rowLength: 100)

    private func plan(
        _ visible: Range<Double>, velocity: Double, layout: (any ScrollLayout)? = nil,
        deceleration: Double = 0, margin: Duration = .seconds(1), width: Int = 2
    ) -> ScrollPlan {
        ScrollPlan(
            layout: layout ?? carousel, visible: visible, velocity: velocity,
            deceleration: deceleration, policy: LODPolicy(), lookAhead: .seconds(1),
            margin: margin, width: width)
    }

    private func steps(
        _ visible: Range<Double>, velocity: Double, busy: Duration = .zero,
        had: [Int: LOD] = [:]
    ) -> [ScrollPlan.Step] {
        let plan = plan(visible, velocity: velocity)
        return plan.steps(plan.candidates(8), busy: busy, had: { had[$0] })
    }

    @Test("A layout finds the same items as a linear search")
    func items() {
        let grid = GridLayout(itemCount: 31, columnCount: 3, rowLength: 40)
        #expect(grid.length == 440)
        for lower in stride(from: -90.0, through: 500, by: 10) {
            for length in [1.0, 39, 40, 41, 200] {
                let range = lower..<lower + length
                let found = (0..<31).filter { grid.extent(of: $0).overlaps(range) }
                #expect(Array(grid.items(in: range)) == found, "\(range)")
            }
        }
        #expect(GridLayout(itemCount: 0, rowLength: 1).items(in: 0..<10).isEmpty)
    }

    @Test("The first item to appear is first, in either direction")
    func order() {
        #expect(plan(1000..<1100, velocity: 300).candidates(4) == [11, 12, 13])
        #expect(plan(1000..<1100, velocity: 500).candidates(4) == [11, 12, 13, 14])
        #expect(plan(1000..<1100, velocity: -300).candidates(4) == [9, 8, 7])
        #expect(plan(1050..<1150, velocity: -90).candidates(4) == [9])
        let grid = GridLayout(itemCount: 100, columnCount: 2, rowLength: 100)
        #expect(plan(100..<200, velocity: 150, layout: grid).candidates(9) == [4, 5, 6, 7])
    }

    @Test(
        "At rest the nearest items are first, on both sides, within half a screen and at low detail"
    )
    func resting() {
        let layout = GridLayout(itemCount: 100, rowLength: 50)
        let plan = plan(1030..<1130, velocity: 0, layout: layout)
        #expect(plan.candidates(8) == [23, 19])
        #expect(self.plan(0..<100, velocity: 0, layout: layout).candidates(8) == [2])
        #expect(plan.steps([23, 19], busy: .zero) { _ in nil }.map(\.lod) == [.quarter, .quarter])
        #expect(
            plan.steps([23, 19], busy: .zero, had: { $0 == 23 ? .quarter : nil })
                == [.init(item: 19, lod: .quarter)])
    }

    @Test("An item with time left is deferred unless a later one would be late")
    func waiting() {
        // An item comes every 333 ms and takes 40.
        var plan = plan(1000..<1100, velocity: 300, margin: .milliseconds(100))
        #expect(plan.steps([11, 12, 13], busy: .zero, had: { _ in nil }).map(\.item) == [11])
        plan = self.plan(1070..<1170, velocity: 300, margin: .milliseconds(100))
        #expect(plan.steps([12, 13], busy: .zero, had: { _ in nil }).isEmpty == false)
        plan = self.plan(1020..<1120, velocity: 300, margin: .milliseconds(100))
        #expect(plan.steps([12, 13], busy: .zero, had: { _ in nil }).isEmpty)
        // With one load at a time hardly faster than they come, many are begun.
        plan = self.plan(1000..<1100, velocity: 2000, margin: .milliseconds(100), width: 1)
        #expect(plan.steps(Array(11...18), busy: .zero, had: { _ in nil }).count == 8)
    }

    @Test("Items beyond the point where content stops are not loaded")
    func stopping() {
        #expect(plan(1000..<1100, velocity: 300, deceleration: 900).candidates(8) == [11])
        #expect(plan(1000..<1100, velocity: -300, deceleration: 900).candidates(8) == [9])
        #expect(plan(1000..<1100, velocity: 300, deceleration: 1).candidates(8) == [11, 12, 13])
    }

    @Test("The deceleration is the loss of speed, and all of the speed after a turn")
    func slowing() {
        var slowing = Slowing()
        slowing.note(1000, at: .zero)
        #expect(slowing.deceleration == 0)
        // Too soon to tell.
        slowing.note(0, at: .milliseconds(10))
        #expect(slowing.deceleration == 0)
        slowing.note(900, at: .milliseconds(50))
        #expect(abs(slowing.deceleration - 2000) < 1e-6)
        slowing.note(1000, at: .milliseconds(100))
        #expect(slowing.deceleration == 0)
        slowing.note(-1000, at: .milliseconds(200))
        #expect(abs(slowing.deceleration - 20_000) < 1e-6)
        slowing.note(-800, at: .milliseconds(300))
        #expect(abs(slowing.deceleration - 2000) < 1e-6)
    }

    @Test("Items ahead are loaded as sharp as time allows")
    func sharpness() {
        // 1000 pixels a second, so an item each 100 ms; the next one comes at once.
        #expect(
            steps(1000..<1100, velocity: 1000).prefix(3) == [
                .init(item: 11, lod: .quarter), .init(item: 12, lod: .exact),
                .init(item: 13, lod: .exact),
            ])
        // While other loads keep the threads busy less is in time.
        #expect(
            steps(1000..<1100, velocity: 1000, busy: .milliseconds(70)).prefix(2) == [
                .init(item: 11, lod: .quarter), .init(item: 12, lod: .half),
            ])
        #expect(
            steps(1000..<1100, velocity: -3000).prefix(3) == [
                .init(item: 9, lod: .quarter), .init(item: 8, lod: .half),
                .init(item: 7, lod: .half),
            ])
        #expect(steps(1000..<1100, velocity: 8000).allSatisfy { $0.lod == .quarter })
    }

    @Test("Items that will have passed before their image arrives are skipped")
    func passed() {
        // Item 11 is gone after 10 ms and each further one 5 ms later; the first load ends after 35.
        let steps = steps(1000..<1100, velocity: 20_000, busy: .milliseconds(25))
        #expect(steps.map(\.item) == [16, 17, 18])
    }

    @Test("Visible items are left to the view")
    func visible() {
        for velocity in [0, 100.0, -100, 5000] {
            let items = steps(950..<1150, velocity: velocity).map(\.item)
            #expect(!items.contains { (9...11).contains($0) })
        }
    }

    @Test("An item is useful until it has been passed")
    func wanted() {
        #expect(plan(1000..<1100, velocity: 300).isWanted(10))
        #expect(!plan(1000..<1100, velocity: 300).isWanted(9))
        #expect(plan(1000..<1100, velocity: -300).isWanted(9))
        #expect(!plan(1000..<1100, velocity: -300).isWanted(11))
        #expect(plan(1000..<1100, velocity: 0).isWanted(9))
        #expect(!plan(1000..<1100, velocity: 0).isWanted(8))
    }
}
