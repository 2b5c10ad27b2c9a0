// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
internal import EncodedImages
internal import Pixels

/// Decodes JPEG XL with libjxl.
struct JPEGXLDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let reader = try JPEGXLReader()
        try reader.parse(bytes, limits)
        var header = try reader.header()
        if reader.isAnimated {
            header.frameCount = max(
                1, try JPEGXLReader.frameCount(bytes, limit: limits.maximumFrameCount))
        }
        header.hasGainMap = JPEGXLGainMap.isPresent(in: bytes)
        return header
    }

    func gainMap(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> GainMap? {
        guard JPEGXLGainMap.isPresent(in: bytes) else { return nil }
        do throws(CodecError) {
            let contents = try JPEGXLReader.box(JPEGXLGainMap.boxType, bytes, limits)
            return contents.flatMap { JPEGXLGainMap.map($0.span) }
        } catch {
            // The image is complete without it.
            return nil
        }
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let reader = try JPEGXLReader()
        try reader.parse(bytes, rows.limits)
        let header = try reader.header()
        let format = reader.format
        try rows.workLimits.check(.memoryByteCount, Self.byteCount(header, format))
        if rows.cancellation?.isCancelled == true { throw .cancelled }
        rows.report = DecodeReport(
            decoder: "libjxl", shrinkFactors: Array(repeating: 1, count: format.channelCount))
        guard try reader.next(bytes) else {
            throw .malformed(reason: "no frame in the codestream", offset: 0)
        }
        try rows.begin(header.storedSize, format, header.colorProfile)
        for y in 0..<header.storedSize.height {
            try reader.withRow(y) { row throws(CodecError) in try rows.append(row) }
        }
    }

    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? {
        let reader = try JPEGXLReader()
        try bytes.withBytes { file throws(CodecError) in try reader.parse(file, limits) }
        let header = try reader.header()
        try limits.check(.memoryByteCount, Self.byteCount(header, reader.format))
        return JPEGXLFrameReader(bytes: bytes, reader: reader, header: header)
    }

    func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? { try JPEGXLIncrementalDecoder() }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        var blocks = MetadataBlocks()
        // Only the container has boxes.
        guard bytes.count > 12, bytes[0] == 0 else { return blocks }
        if let exif = try JPEGXLReader.box("Exif", bytes, limits) {
            // The block begins with the offset of the TIFF header.
            let offset = exif.span.integer(at: 0, byteCount: 4) ?? 0
            if offset <= exif.count - 4 { blocks.exif = Array(exif[(4 + offset)...]) }
        }
        blocks.xmp = try JPEGXLReader.box("xml ", bytes, limits)
        return blocks
    }

    /// Returns the bytes of the decoded samples and of libjxl's own, four per channel.
    static func byteCount(_ header: ImageHeader, _ format: PixelFormat) -> Int {
        let (count, overflow) = header.storedSize.area.multipliedReportingOverflow(
            by: format.bytesPerPixel + 12 + (header.hasAlpha ? 4 : 0))
        return overflow ? .max : count
    }
}

/// Reads the frames of an animation; libjxl blends them.
private struct JPEGXLFrameReader: FrameReader {
    let bytes: EncodedBytes
    let reader: JPEGXLReader
    let header: ImageHeader

    mutating func next() throws(CodecError) -> StoredFrame? {
        let reader = reader
        let isRead = try bytes.withBytes { file throws(CodecError) in try reader.next(file) }
        guard isRead else { return nil }
        var buffer = MutablePixelBuffer(
            size: header.storedSize, format: reader.format, colorProfile: header.colorProfile)
        for y in 0..<header.storedSize.height {
            reader.withRow(y) { row in
                buffer.withMutableRow(y) { pixels in
                    for index in row.indices { pixels[index] = row[index] }
                }
            }
        }
        return StoredFrame(
            region: PixelRect(header.storedSize), duration: reader.duration,
            image: buffer.finish())
    }
}
#endif
