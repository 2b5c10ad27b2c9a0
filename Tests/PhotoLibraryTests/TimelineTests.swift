// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Testing

@testable import PhotoLibrary

@Suite struct TimelineTests {
    @Test("random changes give the same as a dictionary")
    func randomChanges() {
        var random = SeededRandom(seed: 11)
        var timeline = Timeline()
        var model: [ImageID: UInt8] = [:]
        var checkpoints: [(generation: Int, model: [ImageID: UInt8])] = []
        for round in 0..<200 {
            let changes = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                Self.change(&random, model)
            }
            timeline.apply(changes)
            for change in changes {
                switch change {
                case .set(let id, let aspect): model[id] = aspect
                case .remove(let id): model[id] = nil
                case .mark: break
                }
            }
            if round % 20 == 0 { checkpoints.append((timeline.generation, model)) }
            #expect(timeline.count == model.count)
        }
        #expect(Self.contents(timeline) == model)
        #expect(timeline.days.map(\.number) == timeline.days.map(\.number).sorted())
        // A page that applies the changed days to what it had has all of them.
        for (generation, known) in checkpoints {
            var page = Dictionary(grouping: known.keys, by: \.day).mapValues(Set.init)
            for day in timeline.days where day.generation > generation {
                page[day.number] = Set(day.ids)
            }
            #expect(Set(page.values.flatMap { $0 }) == Set(model.keys))
        }
    }

    @Test("images of a store, newest first in parts, give the same as changes")
    func stored() {
        var random = SeededRandom(seed: 12)
        for marksFirst in [false, true] {
            let ids = Set(
                (0..<500).map { _ in
                    ImageID(
                        firstAt: CaptureTime(
                            seconds: Int.random(in: -2_000_000...2_000_000, using: &random)))
                }
            ).sorted(by: >)
            let images = ids.map { (id: $0, aspect: UInt8.random(in: 1...255, using: &random)) }
            var timeline = Timeline()
            // A mark can be set before the store was read.
            if marksFirst { timeline.apply([.mark(ids[250]), .mark(ids[499])]) }
            for start in stride(from: 0, to: images.count, by: 37) {
                timeline.append(older: Array(images[start..<min(images.count, start + 37)]))
            }
            timeline.append(older: [])
            var expected = Timeline()
            expected.apply(images.map { .set($0.id, aspect: $0.aspect) })
            #expect(timeline.count == images.count)
            #expect(timeline.days.map(\.number) == expected.days.map(\.number))
            #expect(timeline.days.map(\.ids) == expected.days.map(\.ids))
            #expect(timeline.days.map(\.aspects) == expected.days.map(\.aspects))
            // A page that knows nothing gets all days.
            #expect(timeline.days.allSatisfy { $0.generation > 0 })
        }
    }

    @Test("a selection contains the images that exist")
    func selection() {
        let days = [5, 5, 6, 9].map { CaptureTime(seconds: $0 * 86_400) }
        var ids = days.map { ImageID(firstAt: $0) }
        ids[1] = ids[0].next
        var timeline = Timeline()
        timeline.apply(zip(ids, 1...).map { .set($0, aspect: $1) })
        let missing = ImageID(firstAt: CaptureTime(seconds: 7 * 86_400))
        let selected = timeline.selecting([ids[3], missing, ids[2], ids[1]].sorted(by: >))
        #expect(selected.days.map(\.number) == [5, 6, 9])
        #expect(selected.days.flatMap(\.aspects) == [2, 3, 4])
        #expect(selected.count == 3)
    }

    @Test("a mark changes the generation of its day, and nothing else")
    func mark() throws {
        let ids = [5, 6].map { ImageID(firstAt: CaptureTime(seconds: $0 * 86_400)) }
        var timeline = Timeline()
        timeline.apply(ids.map { .set($0, aspect: 7) })
        let before = timeline.days
        timeline.apply([.mark(ids[1])])
        #expect(timeline.generation == 2)
        #expect(timeline.days.map(\.generation) == [1, 2])
        #expect(timeline.days.map(\.ids) == before.map(\.ids))
        #expect(timeline.days.map(\.aspects) == before.map(\.aspects))
    }

    private static func change(
        _ random: inout SeededRandom, _ model: [ImageID: UInt8]
    ) -> Timeline.Change {
        let known = model.keys.sorted().randomElement(using: &random)
        if let known, Bool.random(using: &random) {
            return Bool.random(using: &random)
                ? .remove(known) : .set(known, aspect: UInt8.random(in: 1...255, using: &random))
        }
        // Also of images that do not exist.
        if let known, Int.random(in: 0..<4, using: &random) == 0 { return .mark(known.next) }
        let time = CaptureTime(seconds: Int.random(in: -500_000...500_000, using: &random))
        let id = ImageID(rawValue: ImageID(firstAt: time).rawValue - 1)
        return .set(id, aspect: UInt8.random(in: 0...255, using: &random))
    }

    private static func contents(_ timeline: Timeline) -> [ImageID: UInt8] {
        var contents: [ImageID: UInt8] = [:]
        for day in timeline.days {
            #expect(day.ids == day.ids.sorted(by: >))
            #expect(day.ids.allSatisfy { $0.day == day.number })
            for (id, aspect) in zip(day.ids, day.aspects) { contents[id] = aspect }
        }
        return contents
    }
}
