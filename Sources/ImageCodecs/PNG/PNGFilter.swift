// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import Pixels

    /// Undoes the five filters of ISO/IEC 15948, section 9.
    ///
    /// *Sub*, *average* and *Paeth* depend on the pixel to the left, so a row is one long chain; all
    /// that is not in the chain is taken out of it, and the channels of a pixel go side by side.
    enum PNGFilter {
        /// Undoes a filter in place and leaves the row in `previous` for the next.
        ///
        /// - Returns: whether there is such a filter.
        static func undo(
            _ filter: UInt8, _ row: inout MutableSpan<UInt8>, previous: inout [UInt8],
            distance: Int
        ) -> Bool {
            let count = row.count
            precondition(previous.count >= count, "the row above is shorter")
            return unsafe row.withUnsafeMutableBufferPointer { row in
                unsafe previous.withUnsafeMutableBufferPointer { above in
                    switch filter {
                    case 0: break
                    case 1: unsafe sub(row, distance)
                    case 2: for i in 0..<count { unsafe row[i] &+= above[i] }
                    case 3: unsafe average(row, above, distance)
                    case 4:
                        switch distance {
                        case 3: unsafe paeth(row, above, channels: 3)
                        case 4: unsafe paeth(row, above, channels: 4)
                        default: unsafe paeth(row, above, distance)
                        }
                    default: return false
                    }
                    for i in 0..<count { unsafe above[i] = row[i] }
                    return true
                }
            }
        }

        @inline(always)
        private static func sub(_ row: UnsafeMutableBufferPointer<UInt8>, _ distance: Int) {
            switch distance {
            case 3: unsafe sub(row, constant: 3)
            case 4: unsafe sub(row, constant: 4)
            default: unsafe sub(row, constant: distance)
            }
        }

        @inline(always)
        private static func sub(
            _ row: UnsafeMutableBufferPointer<UInt8>, constant distance: Int
        ) {
            guard row.count > distance else { return }
            for i in distance..<row.count { unsafe row[i] &+= row[i &- distance] }
        }

        @inline(always)
        private static func average(
            _ row: UnsafeMutableBufferPointer<UInt8>, _ above: UnsafeMutableBufferPointer<UInt8>,
            _ distance: Int
        ) {
            for i in 0..<min(distance, row.count) { unsafe row[i] &+= above[i] >> 1 }
            guard row.count > distance else { return }
            for i in distance..<row.count {
                let sum = unsafe UInt16(row[i &- distance]) &+ UInt16(above[i])
                unsafe row[i] &+= UInt8(truncatingIfNeeded: sum >> 1)
            }
        }

        /// For pixels of any size, a byte at a time.
        private static func paeth(
            _ row: UnsafeMutableBufferPointer<UInt8>, _ above: UnsafeMutableBufferPointer<UInt8>,
            _ distance: Int
        ) {
            for i in 0..<min(distance, row.count) { unsafe row[i] &+= above[i] }
            guard row.count > distance else { return }
            for i in distance..<row.count {
                let left = unsafe Int(row[i - distance])
                let up = unsafe Int(above[i])
                let corner = unsafe Int(above[i - distance])
                let toLeft = abs(up - corner)
                let toUp = abs(left - corner)
                let toCorner = abs(left + up - 2 * corner)
                let nearest =
                    toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner
                unsafe row[i] &+= UInt8(truncatingIfNeeded: nearest)
            }
        }

        /// For pixels of 3 or 4 bytes, all channels at once and without a branch.
        ///
        /// The next pixel is loaded before this one is stored, because a pixel of 3 bytes is stored
        /// as 4; the last pixel, behind which a byte may not be ours, goes byte by byte.
        @inline(always)
        private static func paeth(
            _ row: UnsafeMutableBufferPointer<UInt8>, _ above: UnsafeMutableBufferPointer<UInt8>,
            channels: Int
        ) {
            let row = UnsafeMutableRawBufferPointer(row)
            let above = UnsafeMutableRawBufferPointer(above)
            let end = row.count - 4
            var left = SIMD4<Int16>.zero
            var corner = SIMD4<Int16>.zero
            var offset = 0
            guard end >= 0 else {
                for i in 0..<row.count { unsafe row[i] &+= above[i] }
                return
            }
            var next = unsafe row.loadUnaligned(as: SIMD4<UInt8>.self)
            while offset <= end - channels {
                let filtered = next
                next = unsafe row.loadUnaligned(
                    fromByteOffset: offset + channels, as: SIMD4<UInt8>.self)
                let up = unsafe SIMD4<Int16>(
                    truncatingIfNeeded: above.loadUnaligned(
                        fromByteOffset: offset, as: SIMD4<UInt8>.self))
                let pixel =
                    filtered &+ SIMD4<UInt8>(truncatingIfNeeded: predicted(left, up, corner))
                unsafe row.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt8>.self)
                left = SIMD4<Int16>(truncatingIfNeeded: pixel)
                corner = up
                offset += channels
            }
            // What was stored behind the last pixel belongs to `next`.
            for i in 0..<min(4, row.count - offset) where offset + i < row.count {
                unsafe row[offset + i] = next[i]
            }
            while offset < row.count {
                for channel in 0..<channels {
                    let up = unsafe Int16(above[offset + channel])
                    let value = predicted(
                        SIMD4(repeating: left[channel]), SIMD4(repeating: up),
                        SIMD4(repeating: corner[channel]))[0]
                    unsafe row[offset + channel] &+= UInt8(truncatingIfNeeded: value)
                    left[channel] = unsafe Int16(row[offset + channel])
                    corner[channel] = up
                }
                offset += channels
            }
        }

        /// Of the three neighbours the one nearest to left + up − corner; ties go left, then up.
        @inline(always)
        private static func predicted(
            _ left: SIMD4<Int16>, _ up: SIMD4<Int16>, _ corner: SIMD4<Int16>
        ) -> SIMD4<Int16> {
            let toLeft = up &- corner
            let toUp = left &- corner
            let toCorner = magnitude(toLeft &+ toUp)
            let a = magnitude(toLeft)
            let b = magnitude(toUp)
            let upOrCorner = up.replacing(with: corner, where: toCorner .< b)
            return left.replacing(
                with: upOrCorner, where: pointwiseMin(b, toCorner) .< a)
        }

        @inline(always)
        private static func magnitude(_ value: SIMD4<Int16>) -> SIMD4<Int16> {
            pointwiseMax(value, 0 &- value)
        }
    }
#endif
