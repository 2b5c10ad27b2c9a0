// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
    internal import EncodedImages

    /// Whole numbers, the most significant byte first.
    enum JPEG2000Bytes {
        static func integer(_ bytes: Span<UInt8>, at offset: Int, count: Int) -> Int? {
            guard offset >= 0, count <= 8, offset <= bytes.count - count else { return nil }
            var value: UInt64 = 0
            for index in 0..<count { value = value << 8 | UInt64(bytes[offset + index]) }
            return Int(exactly: value)
        }
    }

    /// A box of a JP2 file: a length, a type of four letters, and a body.
    struct JPEG2000Box {
        let type: String
        /// Where the body stands; it may end behind the end of a file that was cut short.
        let body: Range<Int>

        /// The box at `offset`, which then is where the next one begins; `nil` behind the last.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - offset: where the box begins.
        ///   - end: where the box around it ends.
        /// - Returns: `nil` where no whole head of a box is left.
        /// - Throws: ``CodecError/malformed(reason:offset:)`` if it is shorter than its own head.
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
                throw .malformed(reason: "a box is shorter than its head", offset: start)
            }
            let (boxEnd, overflow) = start.addingReportingOverflow(length)
            guard !overflow, isOutermost || boxEnd <= end else {
                throw .malformed(reason: "a box is longer than the one around it", offset: start)
            }
            offset = boxEnd
            let letters = (start + 4..<start + 8).map { file[$0] }
            return JPEG2000Box(
                type: String(decoding: letters, as: UTF8.self), body: start + head..<boxEnd)
        }

        /// The bytes of the body.
        ///
        /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before it does.
        func check(_ file: Span<UInt8>) throws(CodecError) {
            if body.upperBound > file.count { throw .truncated(byteCount: file.count) }
        }
    }
#endif
