// SPDX-License-Identifier: Apache-2.0

/// The entries of one original, by the number of pixels of their images, ascending.
struct EntriesBySize {
    /// In order.
    private(set) var all: [CacheEntry] = []

    mutating func insert(_ entry: CacheEntry) {
        all.insert(entry, at: firstIndex(atLeast: entry.pixelCount))
    }

    mutating func remove(_ entry: CacheEntry) {
        let start = firstIndex(atLeast: entry.pixelCount)
        if let index = all[start...].firstIndex(of: entry) { all.remove(at: index) }
    }

    /// Returns the entries with at least the given number of pixels.
    func suffix(atLeast pixelCount: Int) -> ArraySlice<CacheEntry> {
        all[firstIndex(atLeast: pixelCount)...]
    }

    private func firstIndex(atLeast pixelCount: Int) -> Int {
        var range = all.indices
        while let middle = range.dropFirst(range.count / 2).first {
            range =
                all[middle].pixelCount < pixelCount
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
