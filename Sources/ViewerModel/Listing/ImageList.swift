// SPDX-License-Identifier: Apache-2.0

/// The names of the images of a folder in the order of file managers, and the current one.
///
/// The list starts with the image that was opened; the others are merged in while the folder is
/// being read. The current image stays the same while others appear or vanish.
package struct ImageList: Sendable {
    private struct Entry: Comparable {
        let name: String
        let order: NameOrder

        init(_ name: String) {
            self.name = name
            order = NameOrder(name)
        }

        static func == (one: Self, other: Self) -> Bool { one.order == other.order }
        static func < (one: Self, other: Self) -> Bool { one.order < other.order }
    }

    private var entries: [Entry] = []
    /// The position of the current image; `nil` in an empty list.
    package private(set) var currentIndex: Int?

    /// Creates a list.
    ///
    /// - Parameter first: the image that was opened; `nil` for a folder.
    package init(first: String? = nil) {
        guard let first else { return }
        entries = [Entry(first)]
        currentIndex = 0
    }

    /// The number of images.
    package var count: Int { entries.count }

    /// Returns the name of an image.
    package subscript(index: Int) -> String { entries[index].name }

    /// The name of the current image; `nil` in an empty list.
    package var current: String? { currentIndex.map { entries[$0].name } }

    /// Returns the position of a name, compared by bytes.
    ///
    /// - Complexity: O(log *n*).
    package func index(of name: String) -> Int? {
        let index = position(of: Entry(name))
        return index < count && entries[index].name.utf8.elementsEqual(name.utf8) ? index : nil
    }

    /// Makes an image the current one; positions outside the list are clamped to it.
    package mutating func select(_ index: Int) {
        currentIndex = entries.isEmpty ? nil : min(max(index, 0), count - 1)
    }

    /// Adds names; those that are in the list already are ignored.
    ///
    /// - Complexity: O(*n* + *m* log *m*) for *m* names.
    package mutating func merge(_ names: [String]) {
        let added = names.map(Entry.init).sorted()
        var merged: [Entry] = []
        merged.reserveCapacity(count + added.count)
        var rest = added[...]
        let old = currentIndex
        for (index, entry) in entries.enumerated() {
            while let next = rest.first, next < entry {
                Self.append(rest.removeFirst(), to: &merged)
            }
            Self.append(entry, to: &merged)
            if index == old { currentIndex = merged.count - 1 }
        }
        for entry in rest { Self.append(entry, to: &merged) }
        entries = merged
        if currentIndex == nil, !entries.isEmpty { currentIndex = 0 }
    }

    /// Removes a name.
    ///
    /// If it is the current one, the next image becomes current, or else the last.
    package mutating func remove(_ name: String) {
        guard let index = index(of: name) else { return }
        entries.remove(at: index)
        guard let old = currentIndex else { return }
        select(index < old ? old - 1 : old)
    }

    /// Replaces a name; the current image stays current under its new name.
    package mutating func rename(_ name: String, to newName: String) {
        let wasCurrent = current?.utf8.elementsEqual(name.utf8) ?? false
        remove(name)
        merge([newName])
        if wasCurrent, let index = index(of: newName) { currentIndex = index }
    }

    /// Returns the first image, from the current one on and around the end, whose name starts with a
    /// text, ignoring case.
    package func index(startingWith prefix: String) -> Int? {
        let prefix = Array(prefix.lowercased().utf8)
        guard !prefix.isEmpty else { return nil }
        let start = currentIndex ?? 0
        return (0..<count).lazy.map { (start + $0) % count }
            .first { entries[$0].name.lowercased().utf8.starts(with: prefix) }
    }

    private func position(of entry: Entry) -> Int {
        var (lower, upper) = (0, count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if entries[middle] < entry { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }

    private static func append(_ entry: Entry, to entries: inout [Entry]) {
        if entries.last != entry { entries.append(entry) }
    }
}
