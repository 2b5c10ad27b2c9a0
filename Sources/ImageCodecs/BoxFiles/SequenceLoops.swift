// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The number of times that an image sequence is played, which the edit list of its track specifies.
///
/// - SeeAlso: ISO/IEC 23008-12, 9.6.1 (`elst`), and ISO/IEC 14496-12, 8.3.2 (`tkhd`).
enum SequenceLoops {
    /// Returns the number; 0, infinitely, if the file specifies that or nothing.
    static func count(_ file: Span<UInt8>) -> Int {
        guard let movie = BoxReader.first("moov", in: 0..<file.count, file),
            let track = BoxReader.first("trak", in: movie.body, file),
            let header = BoxReader.first("tkhd", in: track.body, file),
            let edits = BoxReader.first("edts", in: track.body, file),
            let list = BoxReader.first("elst", in: edits.body, file),
            let flags = file.integer(at: list.start, byteCount: 4),
            let headerVersion = file.integer(at: header.start, byteCount: 1)
        else { return 0 }
        // Without the flag, the entry is played once.
        guard flags & 1 == 1 else { return 1 }
        let width = headerVersion == 1 ? 8 : 4
        let place = header.start + (headerVersion == 1 ? 28 : 20)
        let entryWidth = flags >> 24 == 1 ? 8 : 4
        guard let whole = file.integer(at: place, byteCount: width),
            let segment = file.integer(at: list.start + 8, byteCount: entryWidth), segment > 0,
            whole != (width == 4 ? 0xFFFF_FFFF : Int.max)
        else { return 0 }
        return max(1, min(whole / segment + (whole % segment == 0 ? 0 : 1), 65_535))
    }
}
