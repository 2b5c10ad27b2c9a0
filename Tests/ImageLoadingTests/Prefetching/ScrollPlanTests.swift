// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageLoading

@Suite("What is prefetched while content scrolls") struct ScrollPlanTests {
    private let carousel = GridLayout(itemCount: 100, rowLength: 100)

    private func plan(
        _ visible: Range<Double>, velocity: Double, layout: (any ScrollLayout)? = nil
    ) -> ScrollPlan {
        ScrollPlan(
            layout: layout ?? carousel, visible: visible, velocity: velocity, policy: LODPolicy(),
            lookAhead: .seconds(1), width: 2)
    }

    private func steps(
        _ visible: Range<Double>, velocity: Double, busy: Duration = .zero,
        had: [Int: LOD] = [:]
    ) -> [ScrollPlan.Step] {
        let plan = plan(visible, velocity: velocity)
        return plan.steps(plan.candidates(8), busy: busy, had: { had[$0] })
    }

    @Test("A layout finds its items as a search of all of them does")
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

    @Test("The first to come goes first, in either direction")
    func order() {
        #expect(plan(1000..<1100, velocity: 300).candidates(4) == [11, 12, 13])
        #expect(plan(1000..<1100, velocity: 500).candidates(4) == [11, 12, 13, 14])
        #expect(plan(1000..<1100, velocity: -300).candidates(4) == [9, 8, 7])
        #expect(plan(1050..<1150, velocity: -90).candidates(4) == [9])
        let grid = GridLayout(itemCount: 100, columnCount: 2, rowLength: 100)
        #expect(plan(100..<200, velocity: 150, layout: grid).candidates(9) == [4, 5, 6, 7])
    }

    @Test("At rest the nearest go first, on both sides")
    func resting() {
        #expect(plan(1030..<1130, velocity: 0).candidates(8) == [9, 12])
        #expect(plan(0..<100, velocity: 0).candidates(8) == [1])
        #expect(
            steps(1030..<1130, velocity: 0, had: [9: .half, 12: .exact])
                == [.init(item: 9, lod: .exact)])
    }

    @Test("What is ahead is as sharp as there is time for")
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

    @Test("What will have gone by before its picture is there is left out")
    func passed() {
        // Item 11 is gone after 10 ms and each further one 5 ms later; the first load ends after 35.
        let steps = steps(1000..<1100, velocity: 20_000, busy: .milliseconds(25))
        #expect(steps.map(\.item) == [16, 17, 18])
    }

    @Test("What is in view is for the view to ask for")
    func visible() {
        for velocity in [0, 100.0, -100, 5000] {
            let items = steps(950..<1150, velocity: velocity).map(\.item)
            #expect(!items.contains { (9...11).contains($0) })
        }
    }

    @Test("An item is of use until it has been passed")
    func wanted() {
        #expect(plan(1000..<1100, velocity: 300).isWanted(10))
        #expect(!plan(1000..<1100, velocity: 300).isWanted(9))
        #expect(plan(1000..<1100, velocity: -300).isWanted(9))
        #expect(!plan(1000..<1100, velocity: -300).isWanted(11))
        #expect(plan(1000..<1100, velocity: 0).isWanted(9))
        #expect(!plan(1000..<1100, velocity: 0).isWanted(8))
    }
}
