// SPDX-License-Identifier: Apache-2.0

/// All images of a library by day, with what a page needs to lay them out.
///
/// Nine bytes an image: names and everything else stay in the store.
struct Timeline: Sendable {
    /// The images of one day, newest first.
    struct Day: Sendable {
        /// The number of days since 1970.
        let number: Int
        fileprivate(set) var ids: [ImageID] = []
        /// See ``AspectRatio``.
        fileprivate(set) var aspects: [UInt8] = []
        /// The generation of the timeline in which the day was changed.
        fileprivate(set) var generation = 0
    }

    /// A change of one image.
    enum Change: Sendable {
        /// Adds an image, or changes its aspect ratio.
        case set(ImageID, aspect: UInt8)
        case remove(ImageID)
        /// Reports that an image has another mark, which is not part of the timeline.
        case mark(ImageID)

        var id: ImageID {
            switch self {
            case .set(let id, _), .remove(let id), .mark(let id): id
            }
        }
    }

    /// All days that had images at some time, oldest first.
    private(set) var days: [Day] = []
    /// The number of all images.
    private(set) var count = 0
    /// Grows with each change.
    private(set) var generation = 0

    /// Applies changes, of which the last one of an image counts.
    ///
    /// - Complexity: linear in the number of changes and of images of the changed days.
    mutating func apply(_ changes: [Change]) {
        guard !changes.isEmpty else { return }
        generation += 1
        let byDay = Dictionary(grouping: changes) { $0.id.day }
        for (number, changes) in byDay {
            let index = place(of: number)
            if index == days.count || days[index].number != number {
                days.insert(Day(number: number), at: index)
            }
            count -= days[index].ids.count
            days[index].merge(changes)
            days[index].generation = generation
            count += days[index].ids.count
        }
    }

    /// Adds images in descending order that are older than all others, such as those of a store.
    ///
    /// - Complexity: linear in the number of images and of all days.
    mutating func append(older images: [(id: ImageID, aspect: UInt8)]) {
        guard !images.isEmpty else { return }
        generation += 1
        count += images.count
        var older: [Day] = []
        var rest = images[...]
        while let number = rest.first?.id.day {
            let end = rest.firstIndex { $0.id.day != number } ?? rest.endIndex
            let index = place(of: number)
            if index < days.count, days[index].number == number {
                days[index].append(rest[..<end], generation)
            } else {
                var day = Day(number: number)
                day.append(rest[..<end], generation)
                older.append(day)
            }
            rest = rest[end...]
        }
        // Days without images can be older.
        let isBefore = days.first.map { $0.number > older.first?.number ?? .min } ?? true
        days = older.reversed() + days
        if !isBefore { days.sort { $0.number < $1.number } }
    }

    /// Returns the index of a day, or of the first day after it.
    func place(of number: Int) -> Int {
        var (low, high) = (0, days.count)
        while low < high {
            let middle = (low + high) / 2
            if days[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns a timeline of those images of `ids`, in descending order, that this one contains.
    func selecting(_ ids: [ImageID]) -> Timeline {
        var selected = Timeline()
        var rest = ids[...]
        while let first = rest.first {
            let number = first.day
            let end = rest.firstIndex { $0.day != number } ?? rest.endIndex
            let index = place(of: number)
            if index < days.count, days[index].number == number {
                let day = days[index].selecting(rest[..<end])
                selected.count += day.ids.count
                selected.days.append(day)
            }
            rest = rest[end...]
        }
        selected.days.reverse()
        return selected
    }
}

extension Timeline.Day {
    fileprivate mutating func merge(_ changes: [Timeline.Change]) {
        // The last change of an image counts.
        var latest: [ImageID: UInt8?] = [:]
        for change in changes {
            switch change {
            case .set(let id, let aspect): latest.updateValue(aspect, forKey: id)
            case .remove(let id): latest.updateValue(nil, forKey: id)
            case .mark: break
            }
        }
        let added = latest.compactMap { id, aspect in aspect.map { (id, $0) } }
            .sorted { $0.0 > $1.0 }
        var merged = Timeline.Day(number: number)
        merged.ids.reserveCapacity(ids.count + added.count)
        merged.aspects.reserveCapacity(ids.count + added.count)
        var next = 0
        for index in ids.indices {
            while next < added.count, added[next].0 > ids[index] {
                merged.append(added[next])
                next += 1
            }
            if latest[ids[index]] == nil { merged.append((ids[index], aspects[index])) }
        }
        for image in added[next...] { merged.append(image) }
        self = merged
    }

    fileprivate func selecting(_ chosen: ArraySlice<ImageID>) -> Timeline.Day {
        var day = Timeline.Day(number: number)
        var index = 0
        for id in chosen {
            while index < ids.count, ids[index] > id { index += 1 }
            if index < ids.count, ids[index] == id { day.append((id, aspects[index])) }
        }
        return day
    }

    fileprivate mutating func append(
        _ images: ArraySlice<(id: ImageID, aspect: UInt8)>, _ generation: Int
    ) {
        ids += images.map(\.id)
        aspects += images.map(\.aspect)
        self.generation = generation
    }

    private mutating func append(_ image: (id: ImageID, aspect: UInt8)) {
        ids.append(image.id)
        aspects.append(image.aspect)
    }
}
