// SPDX-License-Identifier: Apache-2.0

/// Draws scan scripts, in the notation of cjpeg's option `-scans`.
struct JPEGScanScript {
    /// Across times down, for each component: the blocks of it in an MCU.
    let blocksPerUnit: [Int]

    /// What MCU of several components the format allows (B.2.3).
    static let maximumBlocksPerUnit = 10

    /// Scans of all coefficients at once, each of one component or several.
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

    /// A progression drawn scan by scan: any scan that the bits sent so far allow may be next.
    ///
    /// - Parameters:
    ///   - isPartial: Whether to stop before everything has been sent.
    ///   - random: The source of decisions.
    /// - Returns: The script; each component has its DC coefficients at least in part.
    func progressive(isPartial: Bool, _ random: inout SeededRandom) -> String {
        // The lowest bit that has been sent of each coefficient, or one more than the highest bit
        // that is to be held back; `nil` for nothing.
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
                // Bounded by the bits that remain, and by the number of scans.
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

    /// The first scan of a coefficient may bring several bits, each later one brings one.
    private func next(after level: Int?, _ deepest: Int, _ random: inout SeededRandom) -> Int {
        level.map { $0 - 1 } ?? Int.random(in: 0...deepest, using: &random)
    }

    /// Some of `open` that may share a scan, in the order of the frame.
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
