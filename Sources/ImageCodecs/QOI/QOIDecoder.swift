// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decodes row by row.
struct QOIDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        guard bytes.count >= QOICodec.headerByteCount else {
            throw .truncated(byteCount: bytes.count)
        }
        let size = PixelSize(
            width: bytes.bigEndian(at: 4, byteCount: 4),
            height: bytes.bigEndian(at: 8, byteCount: 4))
        guard !size.isEmpty else {
            throw .malformed(reason: "invalid image size: \(size)", offset: 4)
        }
        guard [3, 4].contains(bytes[12]), bytes[13] <= 1 else {
            throw .malformed(
                reason: "invalid channels \(bytes[12]) or colour space \(bytes[13])", offset: 12)
        }
        var header = ImageHeader(storedSize: size, colorModel: .rgb, bitsPerComponent: 8)
        header.hasAlpha = bytes[12] == 4
        if bytes[13] == 1 { header.colorProfile = .calibrated(gamma: 1, .sRGB) }
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header = try header(of: bytes, limits: rows.limits)
        let format: PixelFormat = header.hasAlpha ? .rgba8 : .rgb8
        rows.report = DecodeReport(decoder: "qoi", shrinkFactors: [1])
        try rows.begin(header.storedSize, format, header.colorProfile)
        var chunks = QOIChunks(channelCount: format.channelCount)
        let rowByteCount = header.storedSize.width * format.bytesPerPixel
        var row = [UInt8](repeating: 0, count: rowByteCount + QOIChunks.writeAhead)
        for _ in 0..<header.storedSize.height {
            guard chunks.readRow(of: header.storedSize.width, from: bytes, into: &row) else {
                throw .truncated(byteCount: bytes.count)
            }
            try rows.append(row.span.extracting(first: rowByteCount))
        }
        let end = bytes.count - QOICodec.endMarker.count
        guard chunks.offset <= end || rows.acceptsTruncated else {
            throw .truncated(byteCount: bytes.count)
        }
    }
}

/// The decoder state between two chunks.
private struct QOIChunks {
    /// The number of bytes after the last pixel of a row that may be overwritten.
    static let writeAhead = 4

    private(set) var offset = QOICodec.headerByteCount
    private let channelCount: Int
    /// The array of previously seen pixels; red is in the lowest byte.
    private var seen = [UInt32](repeating: 0, count: 64)
    private var pixel: UInt32 = 0xFF00_0000
    /// The remaining repetitions of the pixel.
    private var repeats = 0

    init(channelCount: Int) { self.channelCount = channelCount }

    /// Decodes the next row.
    ///
    /// - Returns: whether the file contains enough chunks.
    mutating func readRow(
        of width: Int, from bytes: Span<UInt8>, into row: inout [UInt8]
    ) -> Bool {
        precondition(row.count >= width * channelCount + Self.writeAhead, "the row is too short")
        // The end marker is longer than any chunk, so only the start of a chunk is checked.
        let end = bytes.count - QOICodec.endMarker.count
        let channelCount = channelCount
        var (offset, pixel, repeats) = (offset, pixel, repeats)
        var shown = Self.premultiplied(pixel, channelCount)
        var span = row.mutableSpan
        var pixels = unsafe span.mutableBytes
        let isComplete = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe seen.withUnsafeMutableBufferPointer { seen in
                for x in 0..<width {
                    if repeats > 0 {
                        repeats &-= 1
                    } else {
                        guard offset < end else { return false }
                        unsafe Self.readChunk(bytes, &offset, seen, &pixel, &repeats)
                        unsafe seen[QOICodec.indexPosition(of: pixel)] = pixel
                        shown = Self.premultiplied(pixel, channelCount)
                    }
                    unsafe pixels.storeBytes(
                        of: shown.littleEndian, toUncheckedByteOffset: x &* channelCount,
                        as: UInt32.self)
                }
                return true
            }
        }
        (self.offset, self.pixel, self.repeats) = (offset, pixel, repeats)
        return isComplete
    }

    /// Decodes a chunk and advances past it; the caller has checked its start.
    @inline(__always)
    private static func readChunk(
        _ bytes: UnsafeBufferPointer<UInt8>, _ offset: inout Int,
        _ seen: UnsafeMutableBufferPointer<UInt32>,
        _ pixel: inout UInt32, _ repeats: inout Int
    ) {
        let first = unsafe UInt32(bytes[offset])
        offset &+= 1
        switch first {
        case 0xFE:
            unsafe pixel =
                pixel & 0xFF00_0000 | UInt32(bytes[offset])
                | UInt32(bytes[offset &+ 1]) << 8
                | UInt32(bytes[offset &+ 2]) << 16
            offset &+= 3
        case 0xFF:
            unsafe pixel =
                UInt32(bytes[offset]) | UInt32(bytes[offset &+ 1]) << 8
                | UInt32(bytes[offset &+ 2]) << 16
                | UInt32(bytes[offset &+ 3]) << 24
            offset &+= 4
        case 0..<0x40: unsafe pixel = seen[Int(first)]
        case 0x40..<0x80:
            pixel = sum(
                pixel, (first &>> 4 & 3) &- 2, (first &>> 2 & 3) &- 2, (first & 3) &- 2)
        case 0x80..<0xC0:
            let second = unsafe UInt32(bytes[offset])
            offset &+= 1
            let green = (first & 63) &- 32
            pixel = sum(
                pixel, green &+ (second &>> 4) &- 8, green, green &+ (second & 15) &- 8)
        default: repeats = Int(first & 63)
        }
    }

    /// Adds to red, green and blue separately, modulo 256.
    @inline(__always)
    private static func sum(
        _ pixel: UInt32, _ red: UInt32, _ green: UInt32, _ blue: UInt32
    ) -> UInt32 {
        let first = (pixel &+ red) & 0xFF
        let second = (pixel &+ green &<< 8) & 0xFF00
        let third = (pixel &+ blue &<< 16) & 0xFF_0000
        return pixel & 0xFF00_0000 | first | second | third
    }

    @inline(__always)
    private static func premultiplied(_ pixel: UInt32, _ channelCount: Int) -> UInt32 {
        let alpha = pixel &>> 24
        guard alpha < 255, channelCount == 4 else { return pixel }
        let red = PremultipliedAlpha.multiplied(
            UInt8(truncatingIfNeeded: pixel), by: UInt8(truncatingIfNeeded: alpha))
        let green = PremultipliedAlpha.multiplied(
            UInt8(truncatingIfNeeded: pixel &>> 8), by: UInt8(truncatingIfNeeded: alpha))
        let blue = PremultipliedAlpha.multiplied(
            UInt8(truncatingIfNeeded: pixel &>> 16), by: UInt8(truncatingIfNeeded: alpha))
        return UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | alpha << 24
    }
}
