// SPDX-License-Identifier: Apache-2.0

/// A perfect hash of the keys of assets, by displacement: each key has one place in a table.
///
/// A hash selects a bucket, and the number in the bucket displaces the hash so that no two keys have
/// the same place.
///
/// - SeeAlso: Belazzougui, Botelho, Dietzfelbinger, “Hash, displace, and compress”, 2009.
struct NameHash {
    /// The number of keys per bucket, on average.
    private static let keysPerBucket = 4

    private(set) var seed: UInt64 = 0
    private(set) var buckets: [Int] = []
    /// The index of the key in each place; ``CompiledLayout/none`` in others.
    private(set) var places: [Int] = []

    /// Finds a hash for distinct keys.
    init(_ keys: [Asset.Key]) {
        while !findPlaces(keys) { seed += 1 }
    }

    private mutating func findPlaces(_ keys: [Asset.Key]) -> Bool {
        let bucketCount = keys.count / Self.keysPerBucket + 1
        buckets = Array(repeating: 0, count: bucketCount)
        places = Array(repeating: CompiledLayout.none, count: keys.count + keys.count / 4 + 1)
        var members = [[(index: Int, hash: UInt64)]](repeating: [], count: bucketCount)
        for (index, key) in keys.enumerated() {
            let hash = Self.hash(key.kind, key.name, seed)
            members[Self.bucket(hash, bucketCount)].append((index, hash))
        }
        // The largest buckets first, while most places are free.
        let order = members.indices.sorted {
            (members[$1].count, $0) < (members[$0].count, $1)
        }
        for bucket in order where !members[bucket].isEmpty {
            guard let found = displacement(of: members[bucket].map(\.hash)) else { return false }
            buckets[bucket] = found
            for member in members[bucket] {
                places[Self.place(member.hash, found, places.count)] = member.index
            }
        }
        return true
    }

    /// The first displacement for which all places are free and distinct.
    private func displacement(of hashes: [UInt64]) -> Int? {
        for displacement in 0..<1 << 20 {
            var taken: [Int] = []
            let fits = hashes.allSatisfy { hash in
                let place = Self.place(hash, displacement, places.count)
                guard places[place] == CompiledLayout.none, !taken.contains(place) else {
                    return false
                }
                taken.append(place)
                return true
            }
            if fits { return displacement }
        }
        return nil
    }

    // The numbers of buckets and places have 32 bits, and divisions of fewer bits take less time.

    static func bucket(_ hash: UInt64, _ count: Int) -> Int {
        Int(UInt32(truncatingIfNeeded: hash >> 32) % UInt32(truncatingIfNeeded: count))
    }

    static func place(_ hash: UInt64, _ displacement: Int, _ count: Int) -> Int {
        let value = mixed(hash &+ UInt64(displacement) &* 0x9E37_79B9_7F4A_7C15) >> 32
        return Int(UInt32(truncatingIfNeeded: value) % UInt32(truncatingIfNeeded: count))
    }

    /// Returns the hash of a kind and the bytes of a name; allocates nothing.
    static func hash(_ kind: Asset.Kind, _ name: String, _ seed: UInt64) -> UInt64 {
        var hash = seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(kind.code)
        if case .other(let extensionName) = kind { add(extensionName.utf8.span, to: &hash) }
        add(name.utf8.span, to: &hash)
        return mixed(hash)
    }

    /// FNV-1a, a byte at a time.
    private static func add(_ text: Span<UInt8>, to hash: inout UInt64) {
        for index in text.indices { hash = (hash ^ UInt64(text[index])) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x0000_0100_0000_01B3
    }

    /// The finalizer of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension Asset.Kind {
    /// The number of the kind in a compiled file.
    var code: Int {
        switch self {
        case .image: 0
        case .appIcon: 1
        case .color: 2
        case .data: 3
        case .symbol: 4
        case .other: 5
        }
    }

    /// The kind with a number; `nil` if there is none.
    init?(code: Int, name: @autoclosure () -> String) {
        let kinds: [Asset.Kind] = [.image, .appIcon, .color, .data, .symbol]
        switch code {
        case kinds.indices: self = kinds[code]
        case 5: self = .other(name())
        default: return nil
        }
    }
}
