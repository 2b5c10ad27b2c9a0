// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The words of a PVRTC level, in the order in which they are stored.
///
/// - SeeAlso: S. Fenney, “Texture Compression using Low-Frequency Signal Modulation”, *Graphics
///   Hardware* 2003; Khronos Group, *Khronos Data Format Specification*, “PVRTC”.
struct PVRTCWords {
    /// The numbers of words in each direction, powers of two.
    let count: PixelSize
    private let columns: [Int]
    private let rows: [Int]

    /// - Parameter count: the numbers of words in each direction, powers of two.
    init(_ count: PixelSize) {
        self.count = count
        // The bits that both coordinates have are interleaved, y first; the others follow above.
        let shared = min(count.width, count.height).trailingZeroBitCount
        func interleaved(_ value: Int, shift: Int) -> Int {
            var index = (value >> shared) << (2 * shared)
            for bit in 0..<shared where value >> bit & 1 == 1 { index |= 1 << (2 * bit + shift) }
            return index
        }
        columns = (0..<count.width).map { interleaved($0, shift: 1) }
        rows = (0..<count.height).map { interleaved($0, shift: 0) }
    }

    /// Returns the index of the word at a position, in reflected Morton order.
    func index(_ x: Int, _ y: Int) -> Int { columns[x] | rows[y] }

    /// Returns a row of words.
    func row(_ y: Int, of level: Span<UInt8>) -> [PVRTCWord] {
        (0..<count.width).map { PVRTCWord(level.word(at: index($0, y) * 8)) }
    }
}

/// A colour of a word: red, green and blue of 5 bits and alpha of 4.
typealias PVRTCColor = SIMD4<UInt16>

/// The parts of a word.
struct PVRTCWord {
    /// The weights of the pixels.
    var modulation: UInt32
    /// Whether the weights have the second meaning.
    var mode: Bool
    var a: PVRTCColor
    var b: PVRTCColor

    init(_ word: UInt64) {
        modulation = UInt32(truncatingIfNeeded: word)
        mode = word >> 32 & 1 == 1
        a = Self.colorA(UInt32(truncatingIfNeeded: word >> 32))
        b = Self.colorB(UInt32(truncatingIfNeeded: word >> 48))
    }

    /// Widens the first colour, whose lowest bit is the mode.
    static func colorA(_ bits: UInt32) -> PVRTCColor {
        let opaque = bits & 0x8000 != 0
        let blue = opaque ? bits >> 1 & 15 : bits >> 1 & 7
        return color(bits, blue: opaque ? blue << 1 | blue >> 3 : blue << 2 | blue >> 1)
    }

    /// Widens the second colour.
    static func colorB(_ bits: UInt32) -> PVRTCColor {
        let blue = bits & 0x8000 != 0 ? bits & 31 : (bits & 15) << 1 | (bits & 15) >> 3
        return color(bits, blue: blue)
    }

    private static func color(_ bits: UInt32, blue: UInt32) -> PVRTCColor {
        if bits & 0x8000 != 0 {
            return SIMD4(UInt16(bits >> 10 & 31), UInt16(bits >> 5 & 31), UInt16(blue), 15)
        }
        let (red, green) = (bits >> 8 & 15, bits >> 4 & 15)
        return SIMD4(
            UInt16(red << 1 | red >> 3), UInt16(green << 1 | green >> 3), UInt16(blue),
            UInt16((bits >> 12 & 7) << 1))
    }
}
