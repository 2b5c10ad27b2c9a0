// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages

    /// Walks over the segments of a JPEG file (ITU-T T.81, annex B).
    struct JPEGSegments {
        struct Segment {
            var marker: UInt8
            /// What stands behind the marker and the length.
            var body: Range<Int>
        }

        static let endOfImage: UInt8 = 0xD9
        static let startOfScan: UInt8 = 0xDA

        /// Behind the last segment that was read; behind the start of the image at first.
        private(set) var offset = 2

        /// The next segment that has a body; the end of the image comes with an empty one.
        mutating func next(_ file: Span<UInt8>) throws(CodecError) -> Segment {
            var marker: UInt8?
            while marker == nil { marker = try nextMarker(file) }
            guard let marker, marker != Self.endOfImage else {
                return Segment(marker: Self.endOfImage, body: offset..<offset)
            }
            let length = try Self.integer(file, offset)
            guard length >= 2 else {
                throw .malformed(reason: "a segment is too short", offset: offset)
            }
            guard offset + length <= file.count else {
                throw .truncated(byteCount: file.count)
            }
            let body = offset + 2..<offset + length
            offset += length
            return Segment(marker: marker, body: body)
        }

        /// Goes on behind the data of a scan, to the marker at `end`.
        mutating func skip(to end: Int) { offset = end }

        /// The scans of a file, found by their markers alone; counting ends behind `limit`.
        static func scanCount(_ file: Span<UInt8>, limit: Int) -> Int {
            var segments = JPEGSegments()
            var count = 0
            while count <= limit, let segment = try? segments.next(file),
                segment.marker != endOfImage
            {
                guard segment.marker == startOfScan else { continue }
                count += 1
                segments.skip(to: EntropyCodedData.end(file, from: segments.offset))
            }
            return count
        }

        /// Stops behind the marker; `nil` for those that have no body.
        private mutating func nextMarker(_ file: Span<UInt8>) throws(CodecError) -> UInt8? {
            guard offset < file.count else { throw .truncated(byteCount: file.count) }
            guard file[offset] == 0xFF else {
                // Bytes between segments are against the rules, yet cameras write them.
                offset += 1
                return nil
            }
            while offset < file.count && file[offset] == 0xFF { offset += 1 }
            guard offset < file.count else { throw .truncated(byteCount: file.count) }
            let marker = file[offset]
            offset += 1
            return marker == 0 || marker == 1 || (0xD0...0xD8).contains(marker) ? nil : marker
        }

        static func starts(_ body: Span<UInt8>, with text: String) -> Bool {
            let text = Array(text.utf8)
            return body.count >= text.count && text.indices.allSatisfy { body[$0] == text[$0] }
        }

        static func integer(_ file: Span<UInt8>, _ offset: Int) throws(CodecError) -> Int {
            guard let value = file.integer(at: offset, byteCount: 2) else {
                throw .truncated(byteCount: file.count)
            }
            return value
        }
    }
#endif
