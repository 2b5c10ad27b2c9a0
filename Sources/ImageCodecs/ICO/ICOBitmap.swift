// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// An entry with a bitmap: colours (the XOR mask) followed by a transparency mask (the AND mask).
struct ICOBitmap {
    private var header: BMPHeader
    private let entry: ICOEntry
    /// Whether the fourth byte of each pixel is alpha.
    private let hasAlpha: Bool

    init(
        _ file: Span<UInt8>, _ entry: ICOEntry, limits: DecodeLimits
    ) throws(CodecError) {
        header = try BMPHeader(file, at: entry.bytes.lowerBound, nil, limits: limits)
        self.entry = entry
        guard header.compression == .none || header.compression == .bitFields else {
            throw .unsupported(feature: "icon with a compressed bitmap")
        }
        let (colorByteCount, overflow) = header.rowByteCount.multipliedReportingOverflow(
            by: entry.size.height)
        let end = header.dataOffset &+ colorByteCount
        guard !overflow, colorByteCount <= file.count,
            end <= min(file.count, entry.bytes.upperBound)
        else {
            throw .truncated(byteCount: file.count)
        }
        let isDeep = header.bitsPerPixel == 32
        hasAlpha =
            isDeep && header.masks.alpha == 0xFF00_0000
            && stride(from: header.dataOffset + 3, to: end, by: 4).contains { file[$0] != 0 }
        if !hasAlpha { header.masks.alpha = 0 }
    }

    func decode(_ file: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        var pixels = BMPPixels(header)
        guard pixels.format.with8BitChannels == pixels.format else {
            throw .unsupported(feature: "icon with more than 8 bits per sample")
        }
        let (width, height) = (entry.size.width, entry.size.height)
        try rows.begin(entry.size, .rgba8, header.imageHeader.colorProfile)
        let maskOffset = header.dataOffset + header.rowByteCount * height
        let maskRowByteCount = (width + 31) / 32 * 4
        var room = [UInt8](repeating: 0, count: pixels.roomByteCount)
        var row = [UInt8](repeating: 0, count: width * 4)
        for y in 0..<height {
            let line = header.isTopDown ? y : height - 1 - y
            let start = header.dataOffset + line * header.rowByteCount
            pixels.convert(
                file.extracting(start..<start + header.usedRowByteCount), into: &room)
            if hasAlpha {
                try rows.append(room.span.extracting(first: width * 4))
                continue
            }
            var result = row.mutableSpan
            room.span.extracting(first: width * pixels.format.bytesPerPixel).convert(
                from: pixels.format, to: .rgba8, into: &result)
            let mask = maskOffset + line * maskRowByteCount
            // Some encoders omit the mask of an opaque icon.
            if mask + maskRowByteCount <= min(file.count, entry.bytes.upperBound) {
                for x in 0..<width where file[mask + (x >> 3)] & (0x80 >> UInt8(x & 7)) != 0 {
                    for channel in 0..<4 { row[x * 4 + channel] = 0 }
                }
            }
            try rows.append(row.span)
        }
    }
}
