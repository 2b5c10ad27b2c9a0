// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Undoes the LZW compression of a picture's indices.
///
/// Each code stands for a string of indices that has been written before: the string of the code
/// before it and one index more. So a table entry is a place in what has been written and a length,
/// and a code is a copy from there; no chain is followed and no string turned around.
struct GIFIndices {
    /// Bytes behind the last index that a copy may write over.
    private static let writeAhead = 16
    private static let maximumCodeCount = 4096

    /// How the compressed data came to its end.
    enum Ending {
        /// All indices are there, or the data says that there are no more.
        case complete
        /// The file ends first.
        case cut
        /// A code that stands for nothing.
        case damaged
    }

    /// The indices in the order in which they are stored.
    private(set) var bytes: [UInt8] = []
    /// How many of them are there; the others were missing.
    private(set) var count = 0
    private var compressed: [UInt8] = []
    /// Each code's string: its length in the upper half, where it begins in the lower one.
    private var strings = [UInt64](repeating: 0, count: maximumCodeCount)

    /// Decompresses the indices of a picture.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - offset: where the number of bits of the first codes stands.
    ///   - needed: how many indices there should be.
    /// - Returns: how the data ended.
    mutating func decompress(_ file: Span<UInt8>, at offset: Int, count needed: Int) -> Ending {
        precondition(needed > 0 && needed <= Int32.max, "so many indices cannot be counted")
        count = 0
        if bytes.count < needed + Self.writeAhead {
            bytes = Array(repeating: 0, count: needed + Self.writeAhead)
        }
        guard offset < file.count else { return .cut }
        let bits = Int(file[offset])
        guard (1...11).contains(bits) else { return .damaged }
        let isWhole = gather(file, offset + 1)
        guard expand(bits: bits, needed) else { return .damaged }
        return isWhole ? .complete : .cut
    }

    /// Joins the pieces, and puts zeros behind them.
    ///
    /// - Returns: whether the last is there.
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

    /// - Returns: whether all codes that were looked at stand for something.
    private mutating func expand(bits: Int, _ needed: Int) -> Bool {
        let bitCount = (compressed.count - 8) * 8
        var made = 0
        let isSound = unsafe compressed.withUnsafeBytes { source in
            unsafe bytes.withUnsafeMutableBytes { result in
                unsafe strings.withUnsafeMutableBufferPointer { strings in
                    unsafe Self.expand(
                        source, bitCount: bitCount, bits, strings, into: result, needed, &made)
                }
            }
        }
        count = made
        return isSound
    }

    /// The loop over all codes; everything that it touches was checked by the caller.
    ///
    /// A string begins at less than `made` and ends at most at it, so no copy reads what is not
    /// there; the last copy is shortened to what is needed and may write `writeAhead` bytes behind.
    private static func expand(
        _ source: UnsafeRawBufferPointer, bitCount: Int, _ rootBits: Int,
        _ strings: UnsafeMutableBufferPointer<UInt64>,
        into result: UnsafeMutableRawBufferPointer, _ needed: Int, _ made: inout Int
    ) -> Bool {
        guard let source = source.baseAddress, let result = result.baseAddress,
            let strings = strings.baseAddress
        else { return true }
        let clear = 1 << rootBits
        var width = rootBits &+ 1
        var next = clear &+ 2
        var place = 0
        var written = 0
        // The string of the code before; its length is 0 behind a clear code.
        var lastStart = 0
        var lastCount = 0
        defer { made = written }
        while place &+ width <= bitCount {
            let word = unsafe UInt32(
                littleEndian: source.loadUnaligned(
                    fromByteOffset: place &>> 3, as: UInt32.self))
            let code = Int(
                truncatingIfNeeded: (word &>> UInt32(truncatingIfNeeded: place & 7))
                    & ((1 &<< UInt32(truncatingIfNeeded: width)) &- 1))
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
                unsafe strings[next] =
                    UInt64(truncatingIfNeeded: lastCount &+ 1) &<< 32
                    | UInt64(truncatingIfNeeded: lastStart)
                isNew = code == next
                next &+= 1
                if next == 1 &<< width, width < 12 { width &+= 1 }
            }
            lastStart = written
            if code < clear {
                unsafe result.storeBytes(
                    of: UInt8(truncatingIfNeeded: code), toByteOffset: written, as: UInt8.self)
                written &+= 1
                lastCount = 1
            } else {
                guard code < next, lastCount > 0 else { return false }
                let string = unsafe strings[code]
                let start = Int(truncatingIfNeeded: string & 0xFFFF_FFFF)
                lastCount = Int(truncatingIfNeeded: string &>> 32)
                let count = min(lastCount, needed &- written)
                var copied = 0
                while copied < count {
                    let piece = unsafe result.loadUnaligned(
                        fromByteOffset: start &+ copied, as: UInt64.self)
                    unsafe result.storeBytes(
                        of: piece, toByteOffset: written &+ copied, as: UInt64.self)
                    copied &+= 8
                }
                if isNew, count == lastCount {
                    // The last index of the string is the first that was written just now.
                    unsafe result.storeBytes(
                        of: result.load(fromByteOffset: written, as: UInt8.self),
                        toByteOffset: written &+ count &- 1, as: UInt8.self)
                }
                written &+= count
            }
            if written >= needed { break }
        }
        return true
    }
}
