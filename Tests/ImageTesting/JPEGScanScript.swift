// SPDX-License-Identifier: Apache-2.0

/// A generator of random scan scripts in the notation of cjpeg's option `-scans`.
struct JPEGScanScript {
    /// The number of blocks per MCU of each component: horizontal × vertical sampling factor.
    let blocksPerUnit: [Int]

    /// The maximum number of blocks in an MCU of several components (T.81 B.2.3).
    static let maximumBlocksPerUnit = 10

    /// Returns a script of sequential scans, each of one or more components.
    func sequential(_ random: inout SeededRandom) -> String {
        var open = blocksPerUnit.indices.shuffled(using: &random)
        var lines: [String] = []
        while !open.isEmpty {
            let group = group(of: open, &random)
            open.removeAll { group.contains($0) }
            lines.append("\(list(group)): 0-63, 0, 0;")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a random progression; each scan is one that the preceding scans allow.
    ///
    /// - Parameters:
    ///   - isPartial: whether to omit the last scans.
    ///   - random: the random number generator.
    /// - Returns: the script; it contains at least the first DC scan of each component.
    func progressive(isPartial: Bool, _ random: inout SeededRandom) -> String {
        // Al of the last scan of each coefficient; `nil` before its first scan.
        var sent = blocksPerUnit.map { _ in [Int?](repeating: nil, count: 64) }
        let deepest = Int.random(in: 0...3, using: &random)
        var lines: [String] = []
        while true {
            let lackingDC = sent.indices.filter { sent[$0][0] != 0 }
            let lackingAC = sent.indices.filter { index in
                sent[index][0] != nil && sent[index][1...].contains { $0 != 0 }
            }
            if lackingDC.isEmpty && lackingAC.isEmpty { break }
            let hasAllDC = sent.allSatisfy { $0[0] != nil }
            if isPartial, hasAllDC, random.chance(30) { break }

            if !lackingDC.isEmpty, lackingAC.isEmpty || random.chance(hasAllDC ? 30 : 80) {
                let level = sent[lackingDC.randomElement(using: &random) ?? 0][0]
                let group = group(of: lackingDC.filter { sent[$0][0] == level }, &random)
                let low = next(after: level, deepest, &random)
                for index in group { sent[index][0] = low }
                lines.append("\(list(group)): 0-0, \(level ?? 0), \(low);")
            } else {
                let index = lackingAC.randomElement(using: &random) ?? 0
                let open = (1...63).filter { sent[index][$0] != 0 }
                let first =
                    random.chance(70)
                    ? open[0] : open.randomElement(using: &random) ?? open[0]
                let level = sent[index][first]
                // While the same bits are next, and the scans are not too many.
                let most = (first...63).prefix { sent[index][$0] == level }.last ?? first
                let last =
                    lines.count > 8 || random.chance(50)
                    ? most : Int.random(in: first...most, using: &random)
                let low = next(after: level, deepest, &random)
                for k in first...last { sent[index][k] = low }
                lines.append("\(index): \(first)-\(last), \(level ?? 0), \(low);")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The first scan of a coefficient may contain several bits; refinement scans contain one.
    private func next(after level: Int?, _ deepest: Int, _ random: inout SeededRandom) -> Int {
        level.map { $0 - 1 } ?? Int.random(in: 0...deepest, using: &random)
    }

    /// Returns some of the components `open` that may share a scan, in frame order.
    private func group(of open: [Int], _ random: inout SeededRandom) -> [Int] {
        let wanted = random.chance(50) ? open.count : Int.random(in: 1...open.count, using: &random)
        var group = Array(open.shuffled(using: &random).prefix(wanted))
        while group.count > 1,
            group.map({ blocksPerUnit[$0] }).reduce(0, +) > Self.maximumBlocksPerUnit
        {
            group.removeLast()
        }
        return group.sorted()
    }

    private func list(_ group: [Int]) -> String {
        group.map(String.init).joined(separator: ",")
    }
}

extension SeededRandom {
    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
