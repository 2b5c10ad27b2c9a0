// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Decodes a scan of a band of AC coefficients of one component (T.81 G.1.1.1.1).
struct ProgressiveAC {
    private let acTable: HuffmanTable?
    private let band: ClosedRange<Int>
    private let isFirst: Bool
    private let lowBit: Int
    private let component: ProgressiveImage.Component
    /// The mask of the coefficients that are kept, by zigzag index.
    private let kept: UInt64
    private let mcusAcross: Int
    /// The zigzag index from which nothing is kept and ``table`` decodes the band.
    private let firstSkipped: Int
    private let table: BandTable?
    /// Decodes the band instead if nearly all of it is kept.
    private let short: ShortBand?

    /// - Parameters:
    ///   - scan: a scan with one component; an MCU is a block.
    ///   - image: the coefficients.
    ///   - mcusAcross: MCUs in a row.
    ///   - makesTable: whether there are enough blocks to outweigh the cost of a table.
    init(
        _ scan: JPEGScan, _ image: ProgressiveImage, mcusAcross: Int, makesTable: Bool
    ) {
        acTable = scan.components[0].acTable
        band = scan.spectralSelection
        isFirst = scan.highBit == 0
        lowBit = scan.lowBit
        let component = image.components[scan.components[0].frameIndex]
        self.component = component
        kept = component.keptIndices.indices.reduce(0) {
            component.keptIndices[$1] >= 0 ? $0 | 1 << UInt64($1) : $0
        }
        self.mcusAcross = mcusAcross
        let behindKept = max(64 - kept.leadingZeroBitCount, band.lowerBound)
        firstSkipped = makesTable ? behindKept : 64
        if let acTable, makesTable, isFirst, band.upperBound <= behindKept + 1 {
            short = ShortBand(acTable, band, lowBit: lowBit, keptIndices: component.keptIndices)
            table = nil
        } else if let acTable, makesTable, behindKept <= band.upperBound {
            short = nil
            table = BandTable(acTable, isFirst: isFirst)
        } else {
            (short, table) = (nil, nil)
        }
    }

    /// Decodes the blocks of some MCUs.
    ///
    /// - Returns: whether the data is complete and valid.
    func read(
        _ mcus: Range<Int>, _ cursor: inout BitCursor,
        into image: inout ProgressiveImage
    ) -> Bool {
        unsafe image.coefficients.withUnsafeMutableBufferPointer { coefficients in
            unsafe image.nonZero.withUnsafeMutableBufferPointer { nonZero in
                guard let coefficients = coefficients.baseAddress,
                    let nonZero = nonZero.baseAddress
                else { return false }
                return unsafe withTables { decoder, keptIndices, table in
                    let blocks = unsafe BlockPointers(
                        decoder: decoder, keptIndices: keptIndices, table: table,
                        coefficients: coefficients + component.start,
                        nonZero: nonZero + component.firstBlock,
                        size: component.blockSide * component.blockSide)
                    return unsafe isFirst
                        ? readFirst(mcus, &cursor, blocks) : refine(mcus, &cursor, blocks)
                }
            }
        }
    }

    /// - Returns: what `body` returns, or false if there is no Huffman table.
    @unsafe private func withTables(
        _ body: (HuffmanDecoder, UnsafePointer<Int>, UnsafePointer<UInt32>) -> Bool
    ) -> Bool {
        guard let acTable else { return false }
        return acTable.withDecoder { decoder in
            // Without a table the entry is never read.
            unsafe (table?.entries ?? [0]).withUnsafeBufferPointer { table in
                unsafe component.keptIndices.withUnsafeBufferPointer { keptIndices in
                    guard let keptIndices = keptIndices.baseAddress,
                        let table = table.baseAddress
                    else { return false }
                    return unsafe body(decoder, keptIndices, table)
                }
            }
        }
    }

    @unsafe private struct BlockPointers {
        let decoder: HuffmanDecoder
        let keptIndices: UnsafePointer<Int>
        let table: UnsafePointer<UInt32>
        let coefficients: UnsafeMutablePointer<Int16>
        let nonZero: UnsafeMutablePointer<UInt64>
        let size: Int
    }

    /// Decodes what ``BandTable`` can of the rest of a block's band, of which nothing is kept.
    ///
    /// - Parameters:
    ///   - zigzag: the zigzag index; beyond the band at the end of the block.
    ///   - nonZero: the mask to which nonzero coefficients are added.
    ///   - cursor: the position in the data.
    ///   - table: the entries of ``table``.
    @unsafe @inline(always)
    private func skip(
        _ zigzag: inout Int, _ nonZero: inout UInt64, _ cursor: inout BitCursor,
        _ table: UnsafePointer<UInt32>
    ) {
        let last = band.upperBound
        while true {
            var bits = cursor.peek()
            var used = 0
            for _ in 0..<2 {
                let entry = unsafe table[BitWindow.index(bits)]
                let next = zigzag &+ BandTable.passed(entry)
                let isEnd = BandTable.isEnd(entry)
                // Bits after the last coefficient belong to the next block.
                guard entry != 0, next &+ isEnd <= last &+ 1 else {
                    cursor.skip(used)
                    return
                }
                bits &<<= UInt64(truncatingIfNeeded: entry)
                used &+= BandTable.bitCount(entry)
                nonZero |= BandTable.nonZero(entry) &<< UInt64(truncatingIfNeeded: zigzag)
                zigzag = next
                guard isEnd == 0, zigzag <= last else {
                    zigzag = last &+ 1
                    cursor.skip(used)
                    return
                }
            }
            cursor.skip(used)
        }
    }

    /// Returns the number of the block of an MCU.
    private func block(of mcu: Int) -> Int {
        let (y, x) = mcu.quotientAndRemainder(dividingBy: mcusAcross)
        return y * component.blocksAcross + x
    }

    /// Decodes blocks of the first scan of the band (T.81 G.1.2.2).
    @unsafe private func readFirst(
        _ mcus: Range<Int>, _ cursor: inout BitCursor, _ blocks: BlockPointers
    ) -> Bool {
        var at = cursor
        defer { cursor = at }
        var mcu = mcus.lowerBound
        while mcu < mcus.upperBound {
            let block = block(of: mcu)
            let rowEnd = min((mcu / mcusAcross + 1) * mcusAcross, mcus.upperBound)
            if let short {
                let end = unsafe short.read(
                    block..<block + rowEnd - mcu, &at, blocks.coefficients, blocks.nonZero,
                    size: blocks.size)
                guard let end else { return false }
                mcu += end - block
                continue
            }
            let start = mcu
            while mcu < rowEnd {
                var nonZero: UInt64 = 0
                let eobRun = unsafe readFirstBlock(
                    blocks.coefficients + (block + mcu - start) * blocks.size, &nonZero, &at,
                    blocks)
                unsafe blocks.nonZero[block + mcu - start] |= nonZero
                guard eobRun >= 0, at.isInside else { return false }
                guard eobRun <= 1 else {
                    mcu += eobRun
                    break
                }
                mcu += 1
            }
        }
        return true
    }

    /// Decodes a block of the first scan of the band.
    ///
    /// - Parameters:
    ///   - target: takes the coefficients that are kept.
    ///   - nonZero: the mask to which nonzero coefficients are added.
    ///   - at: the position in the data.
    ///   - blocks: the tables.
    /// - Returns: the EOB run that begins with this block; -1 if the data is invalid.
    @unsafe @inline(__always)
    private func readFirstBlock(
        _ target: UnsafeMutablePointer<Int16>, _ nonZero: inout UInt64,
        _ at: inout BitCursor, _ blocks: BlockPointers
    ) -> Int {
        let last = band.upperBound
        var zigzag = band.lowerBound
        while zigzag <= last {
            if zigzag >= firstSkipped {
                unsafe skip(&zigzag, &nonZero, &at, blocks.table)
                guard zigzag <= last else { break }
            }
            let bits = at.peek()
            let entry = unsafe blocks.decoder.entry(bits)
            guard entry != 0, at.isInside else { return -1 }
            let length = entry & 255
            let (run, category) = (entry &>> 12, entry &>> 8 & 15)
            let rest = bits &<< UInt64(truncatingIfNeeded: length)
            if category > 0 {
                zigzag &+= run
                guard zigzag < 64 else { return -1 }
                at.skip(length &+ category)
                nonZero |= 1 &<< UInt64(truncatingIfNeeded: zigzag)
                let kept = unsafe blocks.keptIndices[zigzag]
                if kept >= 0 {
                    unsafe target[kept] = Int16(
                        truncatingIfNeeded: BitField.extend(rest, category) &<< lowBit)
                }
                zigzag &+= 1
            } else if run == 15 {
                at.skip(length)
                zigzag &+= 16
            } else {
                at.skip(length &+ run)
                return 1 &<< run &+ BitField.receive(rest, run)
            }
        }
        return 0
    }

    /// Decodes blocks of a refinement scan (T.81 G.1.2.3): a correction bit for each nonzero
    /// coefficient of the band, and coefficients that become ±1 between them.
    ///
    /// A mask of the nonzero coefficients suffices to count the bits of those that are not kept.
    @unsafe private func refine(
        _ mcus: Range<Int>, _ cursor: inout BitCursor, _ blocks: BlockPointers
    ) -> Bool {
        var at = cursor
        defer { cursor = at }
        var eobRun = 0
        var block = 0
        var left = 0
        for mcu in mcus {
            if left == 0 {
                block = self.block(of: mcu)
                left = mcusAcross - mcu % mcusAcross
            }
            guard unsafe refineBlock(block, &eobRun, &at, blocks) else { return false }
            guard at.isInside else { return false }
            block &+= 1
            left &-= 1
        }
        return true
    }

    /// The mask of the coefficients of the band.
    private var bandMask: UInt64 {
        @inline(__always) get {
            Self.mask(from: band.lowerBound) & ~Self.mask(from: band.upperBound + 1)
        }
    }

    /// The zigzag index of the last kept coefficient.
    private var lastKept: Int { @inline(__always) get { 63 - kept.leadingZeroBitCount } }

    /// Decodes a block of a refinement scan.
    ///
    /// - Parameters:
    ///   - block: the number of the block in the component.
    ///   - eobRun: the blocks, this one included, that are left of an EOB run; 0 outside a run.
    ///   - at: the position in the data.
    ///   - blocks: the tables and the coefficients.
    /// - Returns: whether the data is valid.
    @unsafe @inline(__always)
    private func refineBlock(
        _ block: Int, _ eobRun: inout Int, _ at: inout BitCursor, _ blocks: BlockPointers
    ) -> Bool {
        let last = band.upperBound
        let one = 1 << lowBit
        let old = unsafe blocks.nonZero[block] & bandMask
        let target = unsafe blocks.coefficients + block * blocks.size
        var (new, zigzag) = (0 as UInt64, band.lowerBound)
        // A zero run counts only coefficients that were 0.
        var zeros = ~old & bandMask
        let firstSkipped = max(firstSkipped, 64 &- old.leadingZeroBitCount)
        while zigzag <= last, eobRun == 0 {
            if zigzag >= firstSkipped {
                unsafe skip(&zigzag, &new, &at, blocks.table)
                guard zigzag <= last else { break }
                zeros = bandMask & Self.mask(from: zigzag)
            }
            let bits = at.peek()
            let entry = unsafe blocks.decoder.entry(bits)
            guard entry != 0, at.isInside else { return false }
            let (length, run, category) = (entry & 255, entry &>> 12, entry &>> 8 & 15)
            let rest = bits &<< UInt64(truncatingIfNeeded: length)
            if category == 0 && run < 15 {
                at.skip(length &+ run)
                eobRun = 1 &<< run &+ BitField.receive(rest, run)
                break
            }
            at.skip(length &+ (category > 0 ? 1 : 0))
            zeros = Self.dropping(run, of: zeros)
            guard zeros != 0 else {
                // The run extends beyond the end of the band.
                unsafe refine(old & Self.mask(from: zigzag), one, &at, blocks, target)
                zigzag = last + 1
                break
            }
            let end = zeros.trailingZeroBitCount
            zeros &= zeros &- 1
            if zigzag <= lastKept {
                let passed = old & Self.mask(from: zigzag) & ~Self.mask(from: end)
                unsafe refine(passed, kept, one, at, blocks, target)
                let keptIndex = unsafe blocks.keptIndices[end]
                if keptIndex >= 0, category > 0 {
                    unsafe target[keptIndex] = Int16(
                        truncatingIfNeeded: Int(rest &>> 63) == 1 ? one : -one)
                }
            }
            // Every coefficient passed has a correction bit, except the zeros of the run.
            at.skip(end &- zigzag &- run)
            zigzag = end &+ 1
            new |= (category > 0 ? 1 : 0) &<< UInt64(truncatingIfNeeded: end)
        }
        if eobRun > 0 {
            eobRun &-= 1
            if zigzag <= last {
                unsafe refine(old & Self.mask(from: zigzag), one, &at, blocks, target)
            }
        }
        unsafe blocks.nonZero[block] |= new
        return true
    }

    /// Consumes a correction bit for each coefficient in `passed`.
    @unsafe @inline(always)
    private func refine(
        _ passed: UInt64, _ one: Int, _ cursor: inout BitCursor, _ blocks: BlockPointers,
        _ target: UnsafeMutablePointer<Int16>
    ) {
        guard passed != 0 else { return }
        unsafe refine(passed, kept, one, cursor, blocks, target)
        cursor.skip(passed.nonzeroBitCount)
    }

    /// Applies the correction bits of the kept coefficients in `passed`.
    @unsafe @inline(always)
    private func refine(
        _ passed: UInt64, _ kept: UInt64, _ one: Int, _ cursor: BitCursor,
        _ blocks: BlockPointers, _ target: UnsafeMutablePointer<Int16>
    ) {
        var wanted = passed & kept
        guard wanted != 0 else { return }
        let bits = cursor.peek()
        guard unsafe blocks.size > 4 else {
            // At the indices 1, 2 and 4, without a branch to mispredict.
            let (p1, p2, p3) = (passed &>> 1 & 1, passed &>> 2 & 1, passed &>> 3 & 1)
            unsafe add(p1 & bits &>> 63, one, target + blocks.keptIndices[1])
            unsafe add(p2 & bits &>> (63 &- p1), one, target + blocks.keptIndices[2])
            unsafe add(
                passed &>> 4 & bits &>> (63 &- p1 &- p2 &- p3) & 1, one,
                target + blocks.keptIndices[4])
            return
        }
        var later = cursor
        later.skip(56)
        // 8 × 8 coefficients can have more correction bits than one load provides.
        let laterBits = later.peek()
        while wanted != 0 {
            let zigzag = wanted.trailingZeroBitCount
            wanted &= wanted &- 1
            let rank = (passed & ~Self.mask(from: zigzag)).nonzeroBitCount
            let bit = rank < 56 ? bits << UInt64(rank) : laterBits << UInt64(rank - 56)
            unsafe add(bit >> 63, one, target + blocks.keptIndices[zigzag])
        }
    }

    /// Moves a coefficient away from 0 by `one` if the bit is 1.
    @unsafe @inline(always)
    private func add(_ bit: UInt64, _ one: Int, _ coefficient: UnsafeMutablePointer<Int16>) {
        let value = unsafe Int(coefficient.pointee)
        let sign = value &>> 63
        let change = one & (0 &- Int(truncatingIfNeeded: bit))
        unsafe coefficient.pointee = Int16(truncatingIfNeeded: value &+ (change ^ sign) &- sign)
    }

    /// Returns the set without its `count` lowest members.
    ///
    /// Runs are mostly short and of unpredictable length, so runs of up to three need no loop.
    @inline(always)
    private static func dropping(_ count: Int, of set: UInt64) -> UInt64 {
        let one = set & (set &- 1)
        let two = one & (one &- 1)
        let three = two & (two &- 1)
        let isOne = UInt64(bitPattern: Int64((0 &- count) &>> 63))
        let isTwo = UInt64(bitPattern: Int64((1 &- count) &>> 63))
        let isThree = UInt64(bitPattern: Int64((2 &- count) &>> 63))
        var rest =
            set ^ ((set ^ one) & isOne) ^ ((one ^ two) & isTwo) ^ ((two ^ three) & isThree)
        if count > 3 { for _ in 3..<count { rest &= rest &- 1 } }
        return rest
    }

    /// Returns the mask of the zigzag indices from one on; empty from 64 on.
    @inline(always)
    private static func mask(from zigzag: Int) -> UInt64 {
        // Two shifts, because a shift by 64 would be a shift by 0.
        (.max &<< UInt64(zigzag &>> 1)) &<< UInt64(zigzag &- zigzag &>> 1)
    }
}
#endif
