// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import CWebP
internal import EncodedImages
internal import Pixels

/// The sole owner of a libwebp decoder, which delivers rows as their bytes arrive.
@safe struct WebPReader: ~Copyable {
    enum Layout {
        case rgb
        /// Straight alpha.
        case rgba
        /// YUV planes as stored.
        case yuv
    }

    /// The number of bytes decoded between two checks for cancellation.
    private static let stepByteCount = 1 << 16

    private let raw: OpaquePointer
    private let layout: Layout
    /// The number of bytes passed to libwebp, and the number of rows of each plane delivered.
    private var passedByteCount = 0
    private var deliveredRowCounts = [0, 0, 0]

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - layout: the layout of the rows.
    ///   - smoothsBlocks: whether the deblocking filter is applied, as the format specifies.
    /// - Throws: ``CodecError/library(message:)`` if the library is missing or memory is
    ///   exhausted.
    init(_ layout: Layout, smoothsBlocks: Bool = true) throws(CodecError) {
        let value =
            switch layout {
            case .rgb: calotype_webp_rgb
            case .rgba: calotype_webp_rgba
            case .yuv: calotype_webp_yuv
            }
        try unsafe requireLibrary(calotype_webp_missing())
        guard let raw = unsafe calotype_webp_reader_create(value, smoothsBlocks) else {
            throw .library(message: "no memory for a WebP decoder")
        }
        unsafe self.raw = raw
        self.layout = layout
    }

    deinit { unsafe calotype_webp_reader_destroy(raw) }

    /// Decodes an image and calls `body` with each row as soon as it is available.
    ///
    /// After ``CodecError/truncated(byteCount:)`` the call can be repeated with more of the
    /// file.
    ///
    /// - Parameters:
    ///   - bitstream: the bitstream to decode.
    ///   - file: the whole file, or its available part.
    ///   - cancellation: set when the result is no longer needed.
    ///   - body: receives a row and the index of its plane; the rows of planes alternate.
    /// - Throws: ``CodecError``, and the errors of `body`.
    mutating func forEachRow(
        _ bitstream: WebPBitstream, _ file: Span<UInt8>, _ cancellation: CancellationFlag?,
        _ body: (Span<UInt8>, _ plane: Int) throws(CodecError) -> Void
    ) throws(CodecError) {
        let end = min(bitstream.range.upperBound, file.count)
        let bytes = file.extracting(bitstream.range.lowerBound..<end)
        let step = max(Self.stepByteCount, bytes.count / 64)
        var status = calotype_webp_suspended
        while status == calotype_webp_suspended, passedByteCount < bytes.count {
            if cancellation?.isCancelled == true { throw .cancelled }
            passedByteCount = min(passedByteCount + step, bytes.count)
            status = unsafe bytes.withUnsafeBufferPointer {
                unsafe calotype_webp_reader_update(raw, $0.baseAddress, passedByteCount)
            }
            guard status == calotype_webp_ok || status == calotype_webp_suspended else { break }
            let hasEnded = status == calotype_webp_ok
            let count = unsafe Int(calotype_webp_reader_row_count(raw))
            for plane in 0..<(layout == .yuv ? 3 : 1) {
                let isColor = plane > 0
                let rowCount = isColor ? (count + (hasEnded ? 1 : 0)) / 2 : count
                while deliveredRowCounts[plane] < rowCount {
                    try withRow(deliveredRowCounts[plane], plane, bitstream.size, body)
                    deliveredRowCounts[plane] += 1
                }
            }
        }
        switch status {
        case calotype_webp_ok where deliveredRowCounts[0] == bitstream.size.height: return
        case calotype_webp_suspended where end < bitstream.range.upperBound:
            throw .truncated(byteCount: file.count)
        case calotype_webp_suspended:
            throw .malformed(reason: "bitstream ends before the last row", offset: end)
        case calotype_webp_unsupported:
            throw .unsupported(feature: "WebP bitstream of this kind")
        case calotype_webp_out_of_memory:
            throw .library(message: "out of memory while decoding WebP")
        default:
            throw .malformed(
                reason: "invalid VP8 or VP8L bitstream", offset: bitstream.range.lowerBound)
        }
    }

    private func withRow(
        _ y: Int, _ plane: Int, _ size: PixelSize,
        _ body: (Span<UInt8>, _ plane: Int) throws(CodecError) -> Void
    ) throws(CodecError) {
        let isAsLarge =
            unsafe Int(calotype_webp_reader_width(raw)) == size.width
            && Int(calotype_webp_reader_height(raw)) == size.height
        let byteCount =
            switch layout {
            case .rgb: size.width * 3
            case .rgba: size.width * 4
            case .yuv: plane == 0 ? size.width : (size.width + 1) / 2
            }
        guard isAsLarge,
            let start = unsafe calotype_webp_reader_row(raw, Int32(plane), Int32(y))
        else { throw .library(message: "libwebp returned an image of another size") }
        let row = unsafe UnsafeBufferPointer(start: start, count: byteCount)
        try body(unsafe Span(_unsafeElements: row), plane)
    }
}
#endif
