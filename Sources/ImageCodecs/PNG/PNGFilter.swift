// SPDX-License-Identifier: Apache-2.0

#if PNG
/// Reverses the five filter types (ISO/IEC 15948, clause 9).
///
/// *Sub*, *Average* and *Paeth* depend on the pixel to the left, so a row is one long
/// dependency chain. Everything that does not depend on it is computed outside of the chain.
/// The channels of a pixel are 16-bit lanes of one vector; every x86-64 and arm64 processor has
/// vectors of that width.
enum PNGFilter {
    /// The number of bytes after a row that are read with its last pixel; they keep their
    /// values.
    static let readAhead = 16

    /// Unfilters a row in place.
    ///
    /// - Parameters:
    ///   - filter: the filter type that precedes the row.
    ///   - bytes: the row above, the filter type, the row, and ``readAhead`` bytes more.
    ///   - place: the offset of the row.
    ///   - count: the bytes of a row; a multiple of `distance` where that is more than 1.
    ///   - distance: the bytes of a pixel: 1, 2, 3, 4, 6 or 8.
    /// - Returns: whether the filter type is known.
    static func undo(
        _ filter: UInt8, _ bytes: inout [UInt8], at place: Int, count: Int, distance: Int
    ) -> Bool {
        precondition(
            count >= 0 && place > count && place + count + readAhead <= bytes.count
                && count % distance == 0, "the row and its margins must be inside the buffer")
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            let row = unsafe base + place
            let above = unsafe UnsafeRawPointer(base + (place - 1 - count))
            switch (filter, distance) {
            case (0, _): break
            case (2, _): unsafe up(row, above, count)
            case (1, 1): unsafe subBytes(row, count)
            case (3, 1): unsafe averageBytes(row, above, count)
            case (4, 1): unsafe paethBytes(row, above, count)
            case (_, 2): return unsafe undo(filter, row, above, count, TwoBytes.self)
            case (_, 3): return unsafe undo(filter, row, above, count, ThreeBytes.self)
            case (_, 4): return unsafe undo(filter, row, above, count, FourBytes.self)
            case (_, 6): return unsafe undo(filter, row, above, count, SixBytes.self)
            case (_, 8): return unsafe undo(filter, row, above, count, EightBytes.self)
            default: return false
            }
            return true
        }
    }

    /// Unfilters two rows in place if both have the filter type *Paeth* and it is faster than one
    /// after the other.
    ///
    /// Each row is a long dependency chain. The second row follows two pixels behind the first, in
    /// the other half of the same vectors, so that a pair takes little longer than one row.
    ///
    /// - Parameters:
    ///   - bytes: as for ``undo(_:_:at:count:distance:)``, followed by another row with its filter
    ///     type, which becomes *None*.
    ///   - place: the offset of the first row.
    ///   - count: the bytes of a row.
    ///   - distance: the bytes of a pixel.
    /// - Returns: whether both rows have been unfiltered; otherwise they are unchanged.
    static func undoPaethPair(
        _ bytes: inout [UInt8], at place: Int, count: Int, distance: Int
    ) -> Bool {
        guard count >= 64, bytes[place - 1] == 4, bytes[place + count] == 4 else { return false }
        precondition(
            place > count && place + 2 * count + 1 + readAhead <= bytes.count
                && count % distance == 0, "the rows and their margins must be inside the buffer")
        let isUndone = unsafe bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            let row = unsafe base + place
            // Where most differences are 0, copying the row above is faster.
            guard unsafe !isFlat(row, count) else { return false }
            let above = unsafe UnsafeRawPointer(base + (place - 1 - count))
            switch distance {
            case 2: unsafe paethPair(row, above, count, TwoBytes.self)
            case 3: unsafe paethPair(row, above, count, ThreeBytes.self)
            case 4: unsafe paethPair(row, above, count, FourBytes.self)
            default: return false
            }
            return true
        }
        if isUndone { bytes[place + count] = 0 }
        return isUndone
    }

    @inline(always)
    private static func undo<Pixel: FilteredPixel>(
        _ filter: UInt8, _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer,
        _ count: Int, _ type: Pixel.Type
    ) -> Bool {
        switch filter {
        case 1: unsafe sub(row, count, type)
        case 3: unsafe average(row, above, count, type)
        case 4: unsafe paeth(row, above, count, type)
        default: return false
        }
        return true
    }

    private static func up(
        _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer, _ count: Int
    ) {
        var i = 0
        while i &+ 16 <= count {
            let sum =
                unsafe row.loadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
                &+ above.loadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
            unsafe row.storeBytes(of: sum, toByteOffset: i, as: SIMD16<UInt8>.self)
            i &+= 16
        }
        while i < count {
            unsafe add(above.load(fromByteOffset: i, as: UInt8.self), row, i)
            i &+= 1
        }
    }

    // MARK: One byte per pixel

    private static func subBytes(_ row: UnsafeMutableRawPointer, _ count: Int) {
        var left: UInt8 = 0
        for i in 0..<count { left = unsafe add(left, row, i) }
    }

    private static func averageBytes(
        _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer, _ count: Int
    ) {
        var left: UInt8 = 0
        for i in 0..<count {
            let up = unsafe UInt32(above.load(fromByteOffset: i, as: UInt8.self))
            let mean = UInt8(truncatingIfNeeded: (UInt32(left) &+ up) &>> 1)
            left = unsafe add(mean, row, i)
        }
    }

    private static func paethBytes(
        _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer, _ count: Int
    ) {
        var left: Int32 = 0
        var corner: Int32 = 0
        var i = 0
        while i < count {
            if i & 7 == 0, left == corner, i &+ 8 <= count, unsafe isZero(row, i, 8) {
                // As for pixels of several bytes, below.
                unsafe copy(above, row, i, 8)
                left = unsafe Int32(above.load(fromByteOffset: i &+ 7, as: UInt8.self))
                corner = left
                i &+= 8
                continue
            }
            let up = unsafe Int32(above.load(fromByteOffset: i, as: UInt8.self))
            let threshold = 3 &* corner &- up &- left
            let lower = left < up ? left : up
            let higher = left < up ? up : left
            let lowerOrCorner = higher <= threshold ? lower : corner
            let nearest = threshold <= lower ? higher : lowerOrCorner
            left = unsafe Int32(add(UInt8(truncatingIfNeeded: nearest), row, i))
            corner = up
            i &+= 1
        }
    }

    @inline(always) @discardableResult
    private static func add(
        _ value: UInt8, _ row: UnsafeMutableRawPointer, _ offset: Int
    ) -> UInt8 {
        let sum = unsafe row.load(fromByteOffset: offset, as: UInt8.self) &+ value
        unsafe row.storeBytes(of: sum, toByteOffset: offset, as: UInt8.self)
        return sum
    }

    // MARK: Several bytes per pixel
    //
    // One function for each pixel size and filter type: in a single function for all of them
    // the compiler leaves the smallest parts uninlined.

    @inline(never)
    private static func sub<Pixel: FilteredPixel>(
        _ row: UnsafeMutableRawPointer, _ count: Int, _ type: Pixel.Type
    ) {
        let channels = Pixel.byteCount
        var left = SIMD8<UInt8>.zero
        var i = 0
        var next = unsafe load(row, 0, channels)
        while i < count {
            left = left &+ bytes(next)
            next = unsafe load(row, i &+ channels, channels)
            unsafe store(unsafeBitCast(left, to: UInt64.self), row, i, channels)
            i &+= channels
        }
        unsafe putBack(next, row, i, channels)
    }

    @inline(never)
    private static func average<Pixel: FilteredPixel>(
        _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer, _ count: Int,
        _ type: Pixel.Type
    ) {
        let channels = Pixel.byteCount
        var left = SIMD8<Int16>.zero
        var i = 0
        var next = unsafe load(row, 0, channels)
        while i < count {
            let raw = words(next)
            let up = unsafe words(load(above, i, channels))
            next = unsafe load(row, i &+ channels, channels)
            left = added((left &+ up) &>> 1, raw)
            unsafe store(packed(left), row, i, channels)
            i &+= channels
        }
        unsafe putBack(next, row, i, channels)
    }

    /// Where the differences are 0 and the pixel to the left equals the one above it, the row
    /// repeats the one above until a difference is not 0, which covers most of a drawn image.
    @inline(never)
    private static func paeth<Pixel: FilteredPixel>(
        _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer, _ count: Int,
        _ type: Pixel.Type
    ) {
        let channels = Pixel.byteCount
        var left = SIMD8<Int16>.zero
        var corner = SIMD8<Int16>.zero
        let block = 4 &* channels
        var i = 0
        while i < count {
            if channels <= 4, i &+ block <= count, unsafe isZero(row, i, block) {
                let difference = packed(left) ^ packed(corner)
                if difference &<< UInt64(64 &- 8 &* channels) == 0 {
                    repeat {
                        unsafe copy(above, row, i, block)
                        i &+= block
                    } while unsafe i &+ block <= count && isZero(row, i, block)
                    corner = unsafe words(load(above, i &- channels, channels))
                    left = corner
                    continue
                }
            }
            let end = min(i &+ block, count)
            var next = unsafe load(row, i, channels)
            repeat {
                let raw = words(next)
                let up = unsafe words(load(above, i, channels))
                next = unsafe load(row, i &+ channels, channels)
                left = added(nearest(left, up, corner), raw)
                corner = up
                unsafe store(packed(left), row, i, channels)
                i &+= channels
            } while i < end
            unsafe putBack(next, row, i, channels)
        }
    }

    /// Returns which of the three neighbours is nearest to left + up − corner; ties go left,
    /// then up.
    ///
    /// That is the larger of left and up if the corner is so far below them that left + up −
    /// corner exceeds it, the smaller one in the opposite case, and otherwise the corner. If
    /// both apply, all three are equal. Solved for left, both are comparisons with bounds that
    /// do not depend on it, which shortens the dependency chain.
    @inline(always)
    private static func nearest(
        _ left: SIMD8<Int16>, _ up: SIMD8<Int16>, _ corner: SIMD8<Int16>
    ) -> SIMD8<Int16> {
        let zero = SIMD8<Int16>.zero
        let sum = corner &+ corner &+ corner &- up
        let isBelow = left .< pointwiseMax((sum &+ 1) &>> 1, sum &- up)
        let isAbove = left .> pointwiseMin(sum &>> 1, sum &- up)
        let higher = pointwiseMax(left, up).replacing(with: 0, where: isBelow)
        let lower = pointwiseMin(left, up).replacing(with: 0, where: isAbove)
        // A minimum, because the compiler turns the conjunction of both into a longer chain.
        let middle = pointwiseMin(
            zero.replacing(with: corner, where: isBelow),
            zero.replacing(with: corner, where: isAbove))
        return higher | lower | middle
    }

    // MARK: Two rows

    /// Returns whether more than 2 of 16 samples of 8 differences are 0.
    private static func isFlat(_ row: UnsafeRawPointer, _ count: Int) -> Bool {
        var flatCount = 0
        for sample in 0..<16 where unsafe isZero(row, sample * (count - 8) / 16, 8) {
            flatCount += 1
        }
        return flatCount > 2
    }

    @inline(never)
    private static func paethPair<Pixel: FilteredPixel>(
        _ row: UnsafeMutableRawPointer, _ above: UnsafeRawPointer, _ count: Int,
        _ type: Pixel.Type
    ) {
        let channels = Pixel.byteCount
        let second = unsafe row + (count &+ 1)
        var pair = PaethPair()
        var raw = unsafe load(row, 0, channels)
        var i = 0
        while i < 2 &* channels {
            let up = unsafe load(above, i, channels)
            let pixel = pair.next(raw, up: up)
            raw = unsafe load(row, i &+ channels, channels)
            unsafe store(pixel, row, i, channels)
            i &+= channels
        }
        var j = 0
        var secondRaw = unsafe load(second, 0, channels)
        while i < count {
            let up = unsafe load(above, i, channels)
            let pixels = pair.next(raw | secondRaw &<< 32, up: up)
            raw = unsafe load(row, i &+ channels, channels)
            secondRaw = unsafe load(second, j &+ channels, channels)
            unsafe store(pixels, row, i, channels)
            unsafe store(pixels &>> 32, second, j, channels)
            i &+= channels
            j &+= channels
        }
        unsafe putBack(raw, row, i, channels)
        while j < count {
            let pixels = pair.next(secondRaw &<< 32, up: 0)
            secondRaw = unsafe load(second, j &+ channels, channels)
            unsafe store(pixels &>> 32, second, j, channels)
            j &+= channels
        }
        unsafe putBack(secondRaw, second, j, channels)
    }

    /// The neighbours of a pixel of the first row, and of one two pixels before it in the second.
    private struct PaethPair {
        private var left = SIMD8<Int16>.zero
        private var corner = SIMD8<Int16>.zero
        /// The pixels before `left`; that of the first row is above the one of the second.
        private var beforeLeft = SIMD8<Int16>.zero

        /// Unfilters a pixel of the first row and, from bit 32, one of the second.
        ///
        /// - Parameters:
        ///   - raw: their differences.
        ///   - up: the pixel above that of the first row.
        /// - Returns: the pixels.
        @inline(always)
        mutating func next(_ raw: UInt64, up: UInt64) -> UInt64 {
            let up = SIMD8(lowHalf: words(up).lowHalf, highHalf: beforeLeft.lowHalf)
            let pixels = added(nearest(left, up, corner), words(raw))
            (beforeLeft, left, corner) = (left, pixels, up)
            return packed(pixels)
        }
    }

    // MARK: Memory

    @inline(always)
    private static func load(
        _ bytes: UnsafeRawPointer, _ offset: Int, _ channels: Int
    ) -> UInt64 {
        if channels > 4 {
            unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        } else {
            unsafe UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
    }

    /// Writes a pixel and overwrites the next one, which must have been read: pixels of 2, 3
    /// and 6 bytes are written as 4 and 8.
    @inline(always)
    private static func store(
        _ pixel: UInt64, _ row: UnsafeMutableRawPointer, _ offset: Int, _ channels: Int
    ) {
        if channels > 4 {
            unsafe row.storeBytes(of: pixel, toByteOffset: offset, as: UInt64.self)
        } else {
            unsafe row.storeBytes(
                of: UInt32(truncatingIfNeeded: pixel), toByteOffset: offset, as: UInt32.self)
        }
    }

    /// Restores the bytes of the next pixel that ``store`` overwrote.
    @inline(always)
    private static func putBack(
        _ next: UInt64, _ row: UnsafeMutableRawPointer, _ offset: Int, _ channels: Int
    ) {
        if channels == 3 {
            unsafe row.storeBytes(
                of: UInt8(truncatingIfNeeded: next), toByteOffset: offset, as: UInt8.self)
        } else if channels == 2 || channels == 6 {
            unsafe row.storeBytes(
                of: UInt16(truncatingIfNeeded: next), toByteOffset: offset, as: UInt16.self)
        }
    }

    /// Returns whether 8 to 16 bytes are all 0.
    @inline(always)
    private static func isZero(_ row: UnsafeRawPointer, _ offset: Int, _ count: Int) -> Bool {
        let first = unsafe row.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let last = unsafe row.loadUnaligned(
            fromByteOffset: offset &+ count &- 8, as: UInt64.self)
        return first | last == 0
    }

    /// Copies 8 to 16 bytes.
    @inline(always)
    private static func copy(
        _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ offset: Int, _ count: Int
    ) {
        let second = offset &+ count &- 8
        let first = unsafe from.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let last = unsafe from.loadUnaligned(fromByteOffset: second, as: UInt64.self)
        unsafe to.storeBytes(of: first, toByteOffset: offset, as: UInt64.self)
        unsafe to.storeBytes(of: last, toByteOffset: second, as: UInt64.self)
    }

    // MARK: Vectors

    @inline(always)
    private static func bytes(_ pixel: UInt64) -> SIMD8<UInt8> {
        unsafe unsafeBitCast(pixel, to: SIMD8<UInt8>.self)
    }

    // Halves instead of `init(truncatingIfNeeded:)`, which is not always inlined.

    @inline(always)
    private static func words(_ pixel: UInt64) -> SIMD8<Int16> {
        var words = SIMD16<UInt8>.zero
        words.evenHalf = bytes(pixel)
        return unsafe unsafeBitCast(words, to: SIMD8<Int16>.self)
    }

    @inline(always)
    private static func packed(_ words: SIMD8<Int16>) -> UInt64 {
        let bytes = unsafe unsafeBitCast(words, to: SIMD16<UInt8>.self)
        return unsafe unsafeBitCast(bytes.evenHalf, to: UInt64.self)
    }

    /// Adds the lower bytes of each lane without a carry into the upper ones.
    @inline(always)
    private static func added(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD8<Int16> {
        let sum =
            unsafe unsafeBitCast(a, to: SIMD16<UInt8>.self)
            &+ unsafeBitCast(b, to: SIMD16<UInt8>.self)
        return unsafe unsafeBitCast(sum, to: SIMD8<Int16>.self)
    }
}

/// A pixel of more than one byte, whose size is a compile-time constant.
private protocol FilteredPixel {
    static var byteCount: Int { get }
}

private enum TwoBytes: FilteredPixel { static var byteCount: Int { 2 } }
private enum ThreeBytes: FilteredPixel { static var byteCount: Int { 3 } }
private enum FourBytes: FilteredPixel { static var byteCount: Int { 4 } }
private enum SixBytes: FilteredPixel { static var byteCount: Int { 6 } }
private enum EightBytes: FilteredPixel { static var byteCount: Int { 8 } }
#endif
