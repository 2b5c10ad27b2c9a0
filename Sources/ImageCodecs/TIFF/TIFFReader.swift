// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import CTIFF
internal import EncodedImages

/// The only owner of a libtiff handle that reads.
///
/// It must not outlive the bytes that it reads.
@safe struct TIFFReader: ~Copyable {
    private let raw: OpaquePointer

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

    func open(_ directory: Int) throws(CodecError) {
        try check(unsafe calotype_tiff_reader_open(raw, UInt64(directory)), at: directory)
    }

    var rowByteCount: Int {
        Int(clamping: unsafe calotype_tiff_reader_row_size(raw))
    }
    var tileByteCount: Int {
        Int(clamping: unsafe calotype_tiff_reader_tile_size(raw))
    }

    /// Reads a row of ``rowByteCount`` bytes.
    func readRow(_ y: Int, into row: inout [UInt8]) throws(CodecError) {
        precondition(row.count >= rowByteCount, "the row is too short")
        let isRead = unsafe row.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_row(raw, $0.baseAddress, UInt32(y))
        }
        try check(isRead, at: 0)
    }

    /// Reads a strip into a part of `band`.
    func readStrip(
        _ index: Int, byteCount: Int, into band: inout [UInt8], at offset: Int
    ) throws(CodecError) {
        precondition(offset + byteCount <= band.count, "the band is too short")
        let isRead = unsafe band.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_strip(
                raw, UInt32(index), $0.baseAddress.map { unsafe $0 + offset }, byteCount)
        }
        try check(isRead, at: 0)
    }

    /// Reads a tile of ``tileByteCount`` bytes.
    func readTile(_ index: Int, into tile: inout [UInt8]) throws(CodecError) {
        let isRead = unsafe tile.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_tile(
                raw, UInt32(index), $0.baseAddress, $0.count)
        }
        try check(isRead, at: 0)
    }

    /// Reads the strip or tile at a position as pixels 0xAABBGGRR, the lowest row first.
    func readColors(x: Int, y: Int, into pixels: inout [UInt32]) throws(CodecError) {
        let isRead = unsafe pixels.withUnsafeMutableBufferPointer {
            unsafe calotype_tiff_reader_read_colors(
                raw, UInt32(x), UInt32(y), $0.baseAddress)
        }
        try check(isRead, at: 0)
    }

    private func check(_ isDone: Bool, at offset: Int) throws(CodecError) {
        if isDone { return }
        let message = unsafe String(cString: calotype_tiff_reader_message(raw))
        throw .malformed(
            reason: message.isEmpty ? "libtiff failed without a message" : message,
            offset: offset)
    }
}
#endif
