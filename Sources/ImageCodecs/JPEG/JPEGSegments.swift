// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Iterates over the marker segments of a JPEG file (T.81 B.1.1.4).
struct JPEGSegments {
    /// A marker segment.
    struct Segment {
        var marker: UInt8
        /// The range of the bytes after the marker and the length.
        var body: Range<Int>
    }

    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    /// SOF2 with Huffman coding and SOF10 with arithmetic coding.
    private static let progressiveFrames: Set<UInt8> = [0xC2, 0xCA]

    /// The offset after the last segment; initially after the SOI marker.
    private(set) var offset = 2

    /// Returns the next segment with a body; EOI is returned with an empty body.
    mutating func next(_ file: Span<UInt8>) throws(CodecError) -> Segment {
        var marker: UInt8?
        while marker == nil { marker = try nextMarker(file) }
        guard let marker, marker != Self.endOfImage else {
            return Segment(marker: Self.endOfImage, body: offset..<offset)
        }
        let length = try Self.integer(file, offset)
        guard length >= 2 else {
            throw .malformed(reason: "segment length \(length) is below 2", offset: offset)
        }
        guard offset + length <= file.count else {
            throw .truncated(byteCount: file.count)
        }
        let body = offset + 2..<offset + length
        offset += length
        return Segment(marker: marker, body: body)
    }

    /// Continues after the data of a scan, at the marker at `end`.
    mutating func skip(to end: Int) { offset = end }

    /// Counts the scans of a file by their markers; counting stops above `limit`.
    ///
    /// - Returns: the number of scans, and the number of bytes of the file that a decoder can read:
    ///   without a truncated segment between scans.
    static func scans(_ file: Span<UInt8>, limit: Int) -> (count: Int, end: Int) {
        var segments = JPEGSegments()
        var count = 0
        var isProgressive = false
        while count <= limit {
            let start = segments.offset
            guard let segment = try? segments.next(file) else {
                // In a file with one scan, this is damage within its data.
                return (count, isProgressive || count > 1 ? start : file.count)
            }
            if segment.marker == endOfImage { break }
            isProgressive = isProgressive || progressiveFrames.contains(segment.marker)
            guard segment.marker == startOfScan else { continue }
            count += 1
            segments.skip(to: EntropyCodedData.end(file, from: segments.offset))
        }
        return (count, file.count)
    }

    /// Moves past the next marker; `nil` for markers without a body.
    private mutating func nextMarker(_ file: Span<UInt8>) throws(CodecError) -> UInt8? {
        guard offset < file.count else { throw .truncated(byteCount: file.count) }
        guard file[offset] == 0xFF else {
            // Bytes between segments violate the standard, but some cameras write them.
            offset += 1
            return nil
        }
        while offset < file.count && file[offset] == 0xFF { offset += 1 }
        guard offset < file.count else { throw .truncated(byteCount: file.count) }
        let marker = file[offset]
        offset += 1
        return marker == 0 || marker == 1 || (0xD0...0xD8).contains(marker) ? nil : marker
    }

    /// Returns whether `body` begins with `text`.
    static func starts(_ body: Span<UInt8>, with text: String) -> Bool {
        let text = Array(text.utf8)
        return body.count >= text.count && text.indices.allSatisfy { body[$0] == text[$0] }
    }

    /// Returns the 16-bit big-endian integer at `offset`.
    static func integer(_ file: Span<UInt8>, _ offset: Int) throws(CodecError) -> Int {
        guard let value = file.integer(at: offset, byteCount: 2) else {
            throw .truncated(byteCount: file.count)
        }
        return value
    }
}
#endif
