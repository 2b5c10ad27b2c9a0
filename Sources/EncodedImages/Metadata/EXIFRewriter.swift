// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Changes an EXIF block without moving what remains.
///
/// Maker notes contain offsets that only their makers can interpret. Therefore nothing moves but
/// entries within their own directory: integers are overwritten, and what is removed is unlinked and
/// filled with zeros. A block becomes shorter only if its end is removed.
struct EXIFRewriter {
    private var block: [UInt8]
    private let layout: TIFFLayout

    /// Returns the block for a changed image; `nil` if it cannot be made to match.
    static func rewritten(
        _ block: [UInt8], _ policy: MetadataPolicy, _ changes: ImageChanges
    ) -> [UInt8]? {
        guard let layout = TIFFLayout(block.span) else { return nil }
        var rewriter = EXIFRewriter(block: block, layout: layout)
        // The contents of a truncated block are not certain.
        guard rewriter.isWhole else { return nil }
        let hadOtherOrientation = rewriter.setOrientation(changes.orientation)
        rewriter.setSize(changes.size)
        if changes.isConvertedToSRGB { rewriter.setSRGB() }
        if hadOtherOrientation || changes.isResized { rewriter.removeThumbnail() }
        if policy.stripsLocation {
            guard rewriter.removeLocation() else { return nil }
        }
        return rewriter.block
    }

    // MARK: Directories

    private func directory(at offset: Int) -> TIFFDirectory? {
        layout.directory(block.span, at: offset)
    }

    private var first: TIFFDirectory? { directory(at: layout.firstDirectory(block.span)) }

    private var exposure: TIFFDirectory? { first?.directory(.exifIFD, block.span) }

    /// All known directories except the GPS directory.
    private var directories: [TIFFDirectory] {
        var all = [first, exposure, exposure?.directory(.interoperabilityIFD, block.span)]
            .compactMap(\.self)
        var next = first?.next ?? 0
        while next > all[0].offset, all.count < 8, let directory = directory(at: next) {
            all.append(directory)
            next = directory.next > next ? directory.next : 0
        }
        return all
    }

    /// Whether the directories that are changed lie within the block and do not overlap.
    private var isWhole: Bool {
        guard first != nil else { return false }
        let all = directories
        guard all.prefix(2).allSatisfy(\.isWhole) else { return false }
        return all.indices.allSatisfy { index in
            all[..<index].allSatisfy { !$0.range.overlaps(all[index].range) }
        }
    }

    // MARK: Integers

    private mutating func set(_ value: Int, at offset: Int, byteCount: Int) {
        block.set(value, at: offset, byteCount: byteCount, layout.byteOrder)
    }

    /// Overwrites the only value of an entry.
    private mutating func set(_ entry: TIFFDirectory.Entry?, _ value: Int) {
        guard let entry, entry.count == 1, [1, 3, 4].contains(entry.type) else { return }
        let fits = entry.type == 4 || value < 1 << (entry.type == 1 ? 8 : 16)
        // A 32-bit integer fits into the entry as well.
        if !fits { set(4, at: entry.offset + 2, byteCount: 2) }
        let byteCount = fits ? entry.valueByteCount : 4
        set(0, at: entry.offset + 8, byteCount: 4)
        set(value, at: entry.offset + 8, byteCount: byteCount)
    }

    /// Sets the orientation.
    ///
    /// - Returns: whether the block contained another valid one.
    private mutating func setOrientation(_ orientation: Orientation) -> Bool {
        guard let entry = first?.entry(.orientation) else { return false }
        let old = first?.integer(.orientation, block.span)
        let new = Int(orientation.rawValue)
        guard old != new else { return false }
        set(entry, new)
        // No program rotates the thumbnail by an invalid value.
        return old.map { (1...8).contains($0) } ?? false
    }

    private mutating func setSize(_ size: PixelSize) {
        let exposure = exposure
        set(exposure?.entry(.pixelXDimension), size.width)
        set(exposure?.entry(.pixelYDimension), size.height)
    }

    private mutating func setSRGB() {
        let exposure = exposure
        set(exposure?.entry(.colorSpace), 1)
        let interoperability = exposure?.directory(.interoperabilityIFD, block.span)
        guard let rule = interoperability?.entry(.interoperabilityIndex),
            interoperability?.text(.interoperabilityIndex, block.span) == "R03"
        else { return }
        // R98 is sRGB, R03 is Adobe RGB.
        block[rule.value.lowerBound + 1] = UInt8(ascii: "9")
        block[rule.value.lowerBound + 2] = UInt8(ascii: "8")
    }

    // MARK: Removal

    private mutating func erase(_ range: Range<Int>) {
        for index in range { block[index] = 0 }
    }

    /// The values that lie outside their entries.
    private static func values(of directory: TIFFDirectory) -> [Range<Int>] {
        directory.entries.map(\.value).filter { $0.count > 4 }
    }

    /// Unlinks all directories after the first, and erases what only they refer to.
    private mutating func removeThumbnail() {
        guard let first, first.next != 0 else { return }
        let all = directories
        let gone = all.filter { $0.offset == first.next }
        let kept =
            all.filter { $0.offset != first.next }
            + [first.directory(.gpsIFD, block.span)]
            .compactMap(\.self)
        var ranges = gone.map { $0.range } + gone.flatMap(Self.values)
        for directory in gone {
            for (offset, count) in [
                (TIFFTag.jpegInterchangeFormat, TIFFTag.jpegInterchangeFormatLength),
                (.stripOffsets, .stripByteCounts),
            ] {
                guard directory.entry(offset)?.count == 1,
                    let start = directory.integer(offset, block.span),
                    let count = directory.integer(count, block.span),
                    (0..<block.count).contains(start), count >= 0
                else { continue }
                ranges.append(start..<start + min(count, block.count - start))
            }
        }
        let known = MergedRanges([0..<8] + kept.map(\.range) + kept.flatMap(Self.values))
        erase(MergedRanges(ranges.filter { !known.overlaps($0) }))
        set(0, at: first.outline.nextPlace, byteCount: 4)
        let end = known.ranges.last?.upperBound ?? block.count
        let used = (block.lastIndex { $0 != 0 } ?? 0) + 1
        if max(used, end) < block.count { block.removeSubrange(max(used, end)...) }
    }

    /// Removes the GPS directory and the XMP packet within the block.
    ///
    /// - Returns: `false` if parts of them may remain.
    private mutating func removeLocation() -> Bool {
        let all = directories
        let structure = [0..<8] + all.map(\.range)
        for owner in all {
            let gone = owner.entries.filter { [.gpsIFD, .xmp].contains($0.tag) }
            if gone.isEmpty { continue }
            guard owner.isWhole, gone.count < owner.entries.count else { return false }
            var ranges = gone.map(\.value).filter { $0.count > 4 }
            let offsets = Set(
                gone.filter { $0.tag == .gpsIFD }.compactMap { owner.integer($0, block.span) })
            // One is usual. Thousands, each of thousands of entries, are an attack.
            guard offsets.count <= 8 else { return false }
            for positions in offsets.compactMap(directory(at:)) {
                guard positions.isWhole else { return false }
                ranges += [positions.range] + Self.values(of: positions)
            }
            for range in ranges {
                guard structure.allSatisfy({ !$0.overlaps(range) }) else { return false }
            }
            erase(MergedRanges(ranges))
            remove(gone, from: owner)
        }
        return true
    }

    private mutating func erase(_ ranges: MergedRanges) {
        for range in ranges.ranges { erase(range.clamped(to: 0..<block.count)) }
    }

    /// Moves the entries after them, and the offset of the next directory, up.
    private mutating func remove(_ gone: [TIFFDirectory.Entry], from directory: TIFFDirectory) {
        let offsets = Set(gone.map(\.offset))
        var place = directory.offset + 2
        func move(_ range: Range<Int>, _ block: inout [UInt8]) {
            for offset in range {
                block[place] = block[offset]
                place += 1
            }
        }
        for entry in directory.entries where !offsets.contains(entry.offset) {
            move(entry.offset..<entry.offset + 12, &block)
        }
        let end = directory.range.upperBound
        move(end - 4..<end, &block)
        erase(place..<end)
        set(directory.entries.count - gone.count, at: directory.offset, byteCount: 2)
    }
}

/// Ranges of a block in ascending order; adjacent ones are merged.
private struct MergedRanges {
    private(set) var ranges: [Range<Int>] = []

    init(_ parts: [Range<Int>]) {
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) where !part.isEmpty {
            if let last = ranges.last, part.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
            } else {
                ranges.append(part)
            }
        }
    }

    func overlaps(_ part: Range<Int>) -> Bool {
        // Binary search for the first range that ends after the start of the part.
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= part.lowerBound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < ranges.count && ranges[low].overlaps(part)
    }
}
