// SPDX-License-Identifier: Apache-2.0

/// An LZW decoder for the indices of an image (GIF89a, appendix F).
///
/// Each code stands for a string of indices that was written before: the string of the previous
/// code and one more index. A table entry is therefore an offset in the output and a length, and
/// decoding a code is a copy. No chain of prefixes is followed and no string reversed.
struct GIFLZWDecoder {
    /// The number of bytes after the last index that a copy may overwrite.
    private static let writeAhead = 16
    private static let maximumCodeCount = 4096

    /// How the compressed data ended.
    enum Ending {
        /// All indices are present, or an end-of-information code followed.
        case complete
        /// The file ends before the data does.
        case truncated
        /// A code is not in the table.
        case damaged
    }

    /// The indices in stored order.
    private(set) var bytes: [UInt8] = []
    /// The number of decoded indices; the others are missing.
    private(set) var count = 0
    private var compressed: [UInt8] = []
    /// The string of each code: its length in the upper half, its offset in the lower one.
    private var strings = [UInt64](repeating: 0, count: maximumCodeCount)

    /// Decompresses the indices of an image.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - offset: the offset of the LZW minimum code size.
    ///   - needed: the expected number of indices.
    /// - Returns: how the data ended.
    mutating func decompress(_ file: Span<UInt8>, at offset: Int, count needed: Int) -> Ending {
        precondition(
            needed > 0 && needed <= Int32.max, "the number of indices must be 1 to 2147483647")
        count = 0
        if bytes.count < needed + Self.writeAhead {
            bytes = Array(repeating: 0, count: needed + Self.writeAhead)
        }
        guard offset < file.count else { return .truncated }
        let bits = Int(file[offset])
        guard (1...11).contains(bits) else { return .damaged }
        let isWhole = gather(file, offset + 1)
        guard expand(bits: bits, needed) else { return .damaged }
        return isWhole ? .complete : .truncated
    }

    /// Joins the sub-blocks and appends zeros.
    ///
    /// - Returns: whether the block terminator is present.
    private mutating func gather(_ file: Span<UInt8>, _ offset: Int) -> Bool {
        compressed.removeAll(keepingCapacity: true)
        var offset = offset
        var isWhole = false
        unsafe file.withUnsafeBufferPointer { file in
            while offset < file.count {
                let length = unsafe Int(file[offset])
                if length == 0 {
                    isWhole = true
                    break
                }
                let end = min(offset + 1 + length, file.count)
                unsafe compressed.append(contentsOf: file[offset + 1..<end])
                offset = end
            }
        }
        compressed.append(contentsOf: repeatElement(0, count: 8))
        return isWhole
    }

    /// Decodes all codes.
    ///
    /// - Returns: whether every code was in the table.
    private mutating func expand(bits: Int, _ needed: Int) -> Bool {
        var made = 0
        let isValid = Self.expand(compressed, bits, &strings, into: &bytes, needed, &made)
        count = made
        return isValid
    }

    /// Decodes all codes; the caller has checked the buffers.
    ///
    /// A string begins before `written` and ends at most there, so no copy reads unwritten indices.
    /// The last copy is shortened to `needed` and may overwrite `writeAhead` bytes after it.
    private static func expand(
        _ compressed: [UInt8], _ rootBits: Int, _ table: inout [UInt64],
        into indices: inout [UInt8], _ needed: Int, _ made: inout Int
    ) -> Bool {
        let source = unsafe compressed.span.bytes
        let bitCount = (compressed.count - 8) * 8
        var strings = table.mutableSpan
        var output = indices.mutableSpan
        var result = unsafe output.mutableBytes
        let clear = 1 << rootBits
        var width = rootBits &+ 1
        var next = clear &+ 2
        var place = 0
        var written = 0
        // The string of the previous code; its length is 0 after a clear code.
        var lastStart = 0
        var lastCount = 0
        defer { made = written }
        while place &+ width <= bitCount {
            let code = code(in: source, at: place, width)
            place &+= width
            if code == clear {
                width = rootBits &+ 1
                next = clear &+ 2
                lastCount = 0
                continue
            }
            if code == clear &+ 1 { break }
            var isNew = false
            if lastCount > 0, next < maximumCodeCount {
                unsafe strings[unchecked: next] =
                    UInt64(truncatingIfNeeded: lastCount &+ 1) &<< 32
                    | UInt64(truncatingIfNeeded: lastStart)
                isNew = code == next
                next &+= 1
                if next == 1 &<< width, width < 12 { width &+= 1 }
            }
            lastStart = written
            if code < clear {
                unsafe result.storeBytes(
                    of: UInt8(truncatingIfNeeded: code), toUncheckedByteOffset: written,
                    as: UInt8.self)
                written &+= 1
                lastCount = 1
            } else {
                guard code < next, lastCount > 0 else { return false }
                let string = unsafe strings[unchecked: code]
                lastCount = Int(truncatingIfNeeded: string &>> 32)
                written &+= copy(
                    string, isNew: isNew, in: &result, to: written, atMost: needed &- written)
            }
            if written >= needed { break }
        }
        return true
    }

    /// Returns the code of `width` bits at a bit offset, which four bytes must follow.
    @inline(always)
    private static func code(in source: RawSpan, at place: Int, _ width: Int) -> Int {
        let word = unsafe UInt32(
            littleEndian: source.unsafeLoadUnaligned(
                fromUncheckedByteOffset: place &>> 3, as: UInt32.self))
        return Int(
            truncatingIfNeeded: (word &>> UInt32(truncatingIfNeeded: place & 7))
                & ((1 &<< UInt32(truncatingIfNeeded: width)) &- 1))
    }

    /// Copies a string, eight bytes at a time.
    ///
    /// - Returns: the number of indices copied.
    @inline(always)
    private static func copy(
        _ string: UInt64, isNew: Bool, in result: inout MutableRawSpan, to written: Int,
        atMost room: Int
    ) -> Int {
        let start = Int(truncatingIfNeeded: string & 0xFFFF_FFFF)
        let length = Int(truncatingIfNeeded: string &>> 32)
        let count = min(length, room)
        var copied = 0
        while copied < count {
            let piece = unsafe result.unsafeLoadUnaligned(
                fromUncheckedByteOffset: start &+ copied, as: UInt64.self)
            unsafe result.storeBytes(
                of: piece, toUncheckedByteOffset: written &+ copied, as: UInt64.self)
            copied &+= 8
        }
        if isNew, count == length {
            // The last index of the string is the first one just written (the KwKwK case).
            let first = unsafe result.unsafeLoad(
                fromUncheckedByteOffset: written, as: UInt8.self)
            unsafe result.storeBytes(
                of: first, toUncheckedByteOffset: written &+ count &- 1, as: UInt8.self)
        }
        return count
    }
}
