// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Changes an EXIF block without moving what stays.
///
/// The notes of cameras' makers hold offsets that only their makers understand, so nothing is moved
/// but entries within their own directory: numbers are overwritten, and what goes is unlinked and
/// filled with zeros. A block gets shorter only where its end went.
struct EXIFRewriter {
    private enum Tag {
        static let orientation = 0x0112
        static let thumbnailOffset = 0x0201
        static let thumbnailByteCount = 0x0202
        static let xmp = 0x02BC
        static let exif = 0x8769
        static let location = 0x8825
        static let colorSpace = 0xA001
        static let width = 0xA002
        static let height = 0xA003
        static let interoperability = 0xA005
    }

    private typealias Directory = TIFFByteOrder.Directory
    private typealias Entry = TIFFByteOrder.Entry

    private var block: [UInt8]
    private let order: TIFFByteOrder

    /// The block for a picture that was changed; `nil` if it cannot be made to fit.
    static func rewritten(
        _ block: [UInt8], _ policy: MetadataPolicy, _ changes: PictureChanges
    ) -> [UInt8]? {
        guard let order = TIFFByteOrder(block.span) else { return nil }
        var rewriter = EXIFRewriter(block: block, order: order)
        // What a block with holes says cannot be known.
        guard rewriter.isWhole else { return nil }
        let wasTurned = rewriter.setOrientation(changes.orientation)
        rewriter.setSize(changes.size)
        if changes.isConvertedToSRGB { rewriter.setSRGB() }
        if wasTurned || changes.isResized { rewriter.removeThumbnail() }
        if policy.stripsLocation {
            guard rewriter.removeLocation() else { return nil }
        }
        return rewriter.block
    }

    // MARK: Directories

    private func directory(at offset: Int) -> Directory? {
        order.directory(block.span, at: offset)
    }

    private var first: Directory? { directory(at: order.firstDirectory(block.span)) }

    private func directory(_ tag: Int, of parent: Directory?) -> Directory? {
        parent?.entry(tag).flatMap { order.integer(block.span, $0) }.flatMap(directory)
    }

    private var exposure: Directory? { directory(Tag.exif, of: first) }

    /// All directories that are known to be there, but for that of positions.
    private var directories: [Directory] {
        var all = [first, exposure, directory(Tag.interoperability, of: exposure)].compactMap(
            \.self)
        var next = first?.next ?? 0
        while next > all[0].offset, all.count < 8, let directory = directory(at: next) {
            all.append(directory)
            next = directory.next > next ? directory.next : 0
        }
        return all
    }

    /// Whether the directories that are changed end within the block, and none within another.
    private var isWhole: Bool {
        guard first != nil else { return false }
        let all = directories
        guard all.prefix(2).allSatisfy(\.isWhole) else { return false }
        return all.indices.allSatisfy { index in
            all[..<index].allSatisfy { !$0.range.overlaps(all[index].range) }
        }
    }

    // MARK: Numbers

    private mutating func set(_ value: Int, at offset: Int, byteCount: Int) {
        for index in 0..<byteCount {
            let place = order.isLittleEndian ? index : byteCount - 1 - index
            block[offset + place] = UInt8(truncatingIfNeeded: value >> (8 * index))
        }
    }

    /// Overwrites the one number of an entry.
    private mutating func set(_ entry: Entry?, _ value: Int) {
        guard let entry, entry.count == 1, [1, 3, 4].contains(entry.type) else { return }
        let fits = entry.type == 4 || value < 1 << (entry.type == 1 ? 8 : 16)
        // A longer number has room in the entry as well.
        if !fits { set(4, at: entry.offset + 2, byteCount: 2) }
        let byteCount = fits ? TIFFByteOrder.byteCount(ofType: entry.type) : 4
        set(0, at: entry.offset + 8, byteCount: 4)
        set(value, at: entry.offset + 8, byteCount: byteCount)
    }

    /// - Returns: whether it was another.
    private mutating func setOrientation(_ orientation: Orientation) -> Bool {
        guard let entry = first?.entry(Tag.orientation) else { return false }
        let old = order.integer(block.span, entry)
        let new = Int(orientation.rawValue)
        guard old != new else { return false }
        set(entry, new)
        // Of a value that is none, nobody turned a thumbnail by it.
        return old.map { (1...8).contains($0) } ?? false
    }

    private mutating func setSize(_ size: PixelSize) {
        let exposure = exposure
        set(exposure?.entry(Tag.width), size.width)
        set(exposure?.entry(Tag.height), size.height)
    }

    private mutating func setSRGB() {
        let exposure = exposure
        set(exposure?.entry(Tag.colorSpace), 1)
        let rule = directory(Tag.interoperability, of: exposure)?.entry(0x0001)
        guard let rule, order.text(block.span, rule) == "R03" else { return }
        // R98 is sRGB, R03 is Adobe RGB.
        block[rule.value.lowerBound + 1] = UInt8(ascii: "9")
        block[rule.value.lowerBound + 2] = UInt8(ascii: "8")
    }

    // MARK: Taking out

    private mutating func erase(_ range: Range<Int>) {
        for index in range { block[index] = 0 }
    }

    /// Values that stand outside their entries.
    private static func values(of directory: Directory) -> [Range<Int>] {
        directory.entries.map(\.value).filter { $0.count > 4 }
    }

    /// Unlinks all directories behind the first, and erases what only they refer to.
    private mutating func removeThumbnail() {
        guard let first, first.next != 0 else { return }
        let all = directories
        let gone = all.filter { $0.offset == first.next }
        let kept =
            all.filter { $0.offset != first.next }
            + [directory(Tag.location, of: first)]
            .compactMap(\.self)
        var ranges = gone.map { $0.range } + gone.flatMap(Self.values)
        for directory in gone {
            for (offset, count) in [
                (Tag.thumbnailOffset, Tag.thumbnailByteCount), (0x0111, 0x0117),
            ] {
                guard let entry = directory.entry(offset), entry.count == 1,
                    let start = order.integer(block.span, entry), start < block.count,
                    let count = directory.entry(count).flatMap({ order.integer(block.span, $0) })
                else { continue }
                ranges.append(start..<start + min(count, block.count - start))
            }
        }
        let known = MergedRanges([0..<8] + kept.map(\.range) + kept.flatMap(Self.values))
        erase(MergedRanges(ranges.filter { !known.overlaps($0) }))
        set(0, at: first.offset + 2 + first.entries.count * 12, byteCount: 4)
        let end = known.ranges.last?.upperBound ?? block.count
        let used = (block.lastIndex { $0 != 0 } ?? 0) + 1
        if max(used, end) < block.count { block.removeSubrange(max(used, end)...) }
    }

    /// - Returns: whether nothing of it is left.
    private mutating func removeLocation() -> Bool {
        let all = directories
        let structure = [0..<8] + all.map(\.range)
        for owner in all {
            let gone = owner.entries.filter { [Tag.location, Tag.xmp].contains($0.tag) }
            if gone.isEmpty { continue }
            guard owner.isWhole, gone.count < owner.entries.count else { return false }
            var ranges = gone.map(\.value).filter { $0.count > 4 }
            let offsets = Set(
                gone.filter { $0.tag == Tag.location }.compactMap { order.integer(block.span, $0) })
            // One is usual; thousands, each of thousands of entries, are made to take long.
            guard offsets.count <= 8 else { return false }
            for positions in offsets.compactMap(directory) {
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

    /// Moves the entries behind them, and the offset of the next directory, up.
    private mutating func remove(_ gone: [Entry], from directory: Directory) {
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

/// Parts of a block in their order, those that touch as one.
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
        // The first that ends behind its start.
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
