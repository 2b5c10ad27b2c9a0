// SPDX-License-Identifier: Apache-2.0

/// Finds hashes that differ in few bits, and joins them and what is known to be equal to groups.
///
/// Multi-index hashing: of eight bands of 16 bits, two hashes at a distance of at most 15 have at least one in
/// common, or one that differs in a single bit. All pairs at that distance are therefore found in 8 × 17
/// lookups for each hash.
///
/// - SeeAlso: M. Norouzi, A. Punjani, D. J. Fleet, “Fast Search in Hamming Space with Multi-Index Hashing”, 2012.
struct NearHashes {
    private static let bandCount = 8
    private static let valueCount = 1 << 16

    /// The parent of each item in a forest, whose trees are the groups.
    private var parents: [Int]

    /// - Parameter count: the number of items, each of which is a group of its own.
    init(count: Int) { parents = Array(0..<count) }

    /// Joins the groups of two items.
    mutating func join(_ one: Int, _ other: Int) {
        let (first, second) = (root(of: one), root(of: other))
        parents[max(first, second)] = min(first, second)
    }

    /// Joins items with hashes at a distance of at most ``PerceptualHash/nearDistance``.
    ///
    /// - Parameter items: indices of items with their hashes.
    mutating func joinNear(_ items: [(index: Int, hash: PerceptualHash)]) {
        var firsts: [PerceptualHash: Int] = [:]
        var unique: [(index: Int, hash: PerceptualHash)] = []
        for item in items {
            if let first = firsts[item.hash] {
                join(first, item.index)
            } else {
                firsts[item.hash] = item.index
                unique.append(item)
            }
        }
        let hashes = unique.map(\.hash)
        for band in 0..<Self.bandCount {
            let values = hashes.map { Self.value($0, band) }
            let (starts, order) = Self.sorted(values)
            for (place, value) in values.enumerated() {
                for flip in -1..<16 {
                    let near = flip < 0 ? value : value ^ (1 << flip)
                    for other in order[starts[near]..<starts[near + 1]] where other > place {
                        let distance = hashes[place].distance(to: hashes[other])
                        guard distance <= PerceptualHash.nearDistance else { continue }
                        join(unique[place].index, unique[other].index)
                    }
                }
            }
        }
    }

    /// The groups of more than one item, each in ascending order.
    mutating func groups() -> [[Int]] {
        var members: [Int: [Int]] = [:]
        for item in parents.indices { members[root(of: item), default: []].append(item) }
        return members.values.filter { $0.count > 1 }
    }

    private mutating func root(of item: Int) -> Int {
        var item = item
        while parents[item] != item {
            parents[item] = parents[parents[item]]
            item = parents[item]
        }
        return item
    }

    /// 16 bits of a hash.
    private static func value(_ hash: PerceptualHash, _ band: Int) -> Int {
        let half = band < bandCount / 2 ? hash.across : hash.down
        return Int(truncatingIfNeeded: half >> UInt64(band % (bandCount / 2) * 16)) & 0xFFFF
    }

    /// The places of values in ascending order of the values, and where those of each value start.
    private static func sorted(_ values: [Int]) -> (starts: [Int], order: [Int]) {
        var starts = [Int](repeating: 0, count: valueCount + 1)
        for value in values { starts[value + 1] += 1 }
        for value in 0..<valueCount { starts[value + 1] += starts[value] }
        var next = starts
        var order = [Int](repeating: 0, count: values.count)
        for (place, value) in values.enumerated() {
            order[next[value]] = place
            next[value] += 1
        }
        return (starts, order)
    }
}
