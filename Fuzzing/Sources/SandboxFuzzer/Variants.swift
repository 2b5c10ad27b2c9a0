// SPDX-License-Identifier: Apache-2.0

internal import ImageTesting

/// A file, truncated copies, and copies with a changed byte.
struct Variants: Sequence, IteratorProtocol {
    private let file: [UInt8]
    private var random: SeededRandom
    private var number = -1

    private static let cutCount = 15
    private static let changeCount = 64

    init(of file: [UInt8], seed: UInt64) {
        self.file = file
        random = SeededRandom(seed: seed)
    }

    mutating func next() -> (name: String, bytes: [UInt8])? {
        number += 1
        switch number {
        case 0:
            return ("whole", file)
        case 1...Self.cutCount:
            return ("cut at \(number)/16", Array(file.prefix(file.count * number / 16)))
        case ..<(1 + Self.cutCount + Self.changeCount):
            guard !file.isEmpty else { return nil }
            var changed = file
            // Half of the changes are near the start, where headers and tables are.
            let reach = number % 2 == 0 ? file.count : Swift.min(file.count, 512)
            let place = Int.random(in: 0..<reach, using: &random)
            changed[place] = .random(in: 0...255, using: &random)
            return ("with a change at \(place), number \(number)", changed)
        default:
            return nil
        }
    }
}
