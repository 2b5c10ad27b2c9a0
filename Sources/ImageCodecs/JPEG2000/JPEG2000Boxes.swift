// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
    internal import EncodedImages

    /// Big-endian integers.
    enum JPEG2000Bytes {
        static func integer(_ bytes: Span<UInt8>, at offset: Int, count: Int) -> Int? {
            guard offset >= 0, count <= 8, offset <= bytes.count - count else { return nil }
            var value: UInt64 = 0
            for index in 0..<count { value = value << 8 | UInt64(bytes[offset + index]) }
            return Int(exactly: value)
        }
    }

    /// A box of a JP2 file (ISO/IEC 15444-1, I.4): a length, a four-character type, and contents.
    struct JPEG2000Box {
        let type: String
        /// The range of the contents; it may end beyond the end of a truncated file.
        let body: Range<Int>

        /// Reads the box at `offset` and advances `offset` to the next one.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - offset: the offset of the box; on return, that of the next one.
        ///   - end: the end of the enclosing box.
        /// - Returns: `nil` if no complete box header is left.
        /// - Throws: ``CodecError/malformed(reason:offset:)`` if the box is shorter than its header or
        ///   exceeds the enclosing box.
        static func next(
            _ file: Span<UInt8>, _ offset: inout Int, end: Int
        ) throws(CodecError) -> JPEG2000Box? {
            let start = offset
            let isOutermost = end >= file.count
            guard end - start >= 8,
                var length = JPEG2000Bytes.integer(file, at: start, count: 4),
                file.count - start >= 8
            else { return nil }
            var head = 8
            if length == 1 {
                guard file.count - start >= 16 else { return nil }
                length = JPEG2000Bytes.integer(file, at: start + 8, count: 8) ?? .max
                head = 16
            } else if length == 0 {
                length = end - start
            }
            guard length >= head else {
                throw .malformed(
                    reason: "box length \(length) is shorter than the box header", offset: start)
            }
            let (boxEnd, overflow) = start.addingReportingOverflow(length)
            guard !overflow, isOutermost || boxEnd <= end else {
                throw .malformed(reason: "box exceeds the enclosing box", offset: start)
            }
            offset = boxEnd
            let letters = (start + 4..<start + 8).map { file[$0] }
            return JPEG2000Box(
                type: String(decoding: letters, as: UTF8.self), body: start + head..<boxEnd)
        }

        /// Checks that the file contains the whole box.
        ///
        /// - Throws: ``CodecError/truncated(byteCount:)`` if it does not.
        func check(_ file: Span<UInt8>) throws(CodecError) {
            if body.upperBound > file.count { throw .truncated(byteCount: file.count) }
        }
    }
#endif
