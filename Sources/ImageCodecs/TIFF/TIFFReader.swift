// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import CTIFF
internal import EncodedImages

/// The only owner of a libtiff handle that reads.
///
/// It must not outlive the bytes that it reads.
@safe struct TIFFReader: ~Copyable {
    private let raw: OpaquePointer
    /// Whether any strip, tile or row has been decoded.
    private(set) var hasDecoded = false

    @unsafe init(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodeLimits
    ) throws(CodecError) {
        try unsafe requireLibrary(calotype_tiff_missing())
        guard
            let raw = unsafe calotype_tiff_reader_create(
                bytes.baseAddress, bytes.count, limits.maximumMemoryByteCount)
        else { throw .library(message: "cannot allocate a TIFF decoder") }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_tiff_reader_destroy(raw) }

    /// Opens a directory, also again after an error.
    func open(_ directory: Int) throws(CodecError) {
        guard unsafe calotype_tiff_reader_open(raw, UInt64(directory)) else {
            throw error("the directory", at: directory)
        }
    }

    var rowByteCount: Int {
        Int(clamping: unsafe calotype_tiff_reader_row_size(raw))
    }
    var tileByteCount: Int {
        Int(clamping: unsafe calotype_tiff_reader_tile_size(raw))
    }

    /// Reads a row of ``rowByteCount`` bytes.
    ///
    /// - Returns: `false` if it is damaged and `rows` accepts missing pixels, as of all reads.
    mutating func readRow(
        _ y: Int, into row: inout [UInt8], _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        precondition(row.count >= rowByteCount, "the row is too short")
        let isRead = unsafe row.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_row(raw, $0.baseAddress, UInt32(y))
        }
        return try accept(isRead, "row \(y)", &rows)
    }

    /// Reads a strip into a part of `band`.
    mutating func readStrip(
        _ index: Int, byteCount: Int, into band: inout [UInt8], at offset: Int,
        _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        precondition(offset + byteCount <= band.count, "the band is too short")
        let isRead = unsafe band.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_strip(
                raw, UInt32(index), $0.baseAddress.map { unsafe $0 + offset }, byteCount)
        }
        return try accept(isRead, "strip \(index)", &rows)
    }

    /// Reads a tile of ``tileByteCount`` bytes.
    mutating func readTile(
        _ index: Int, into tile: inout [UInt8], _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        let isRead = unsafe tile.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_tile(
                raw, UInt32(index), $0.baseAddress, $0.count)
        }
        return try accept(isRead, "tile \(index)", &rows)
    }

    /// Reads the strip or tile at a position as pixels 0xAABBGGRR, the lowest row first.
    mutating func readColors(
        x: Int, y: Int, into pixels: inout [UInt32], _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        let isRead = unsafe pixels.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_colors(
                raw, UInt32(x), UInt32(y), $0.baseAddress)
        }
        return try accept(isRead, "the part at \(x), \(y)", &rows)
    }

    /// Reports damaged data to `rows`, or throws if those do not accept missing pixels.
    private mutating func accept(
        _ isRead: Bool, _ part: @autoclosure () -> String, _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        if isRead {
            hasDecoded = true
            return true
        }
        guard rows.acceptsTruncated else { throw error(part(), at: 0) }
        if rows.report.problem == nil { rows.report.problem = error(part(), at: 0) }
        return false
    }

    private func error(_ part: String, at offset: Int) -> CodecError {
        let message = unsafe String(cString: calotype_tiff_reader_message(raw))
        return .malformed(
            reason: message.isEmpty ? "\(part) cannot be decoded" : message,
            offset: offset)
    }
}
#endif
