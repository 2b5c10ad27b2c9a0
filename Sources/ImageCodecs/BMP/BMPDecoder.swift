// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decodes row by row from the top, whatever the order in the file.
struct BMPDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        try bitmapHeader(of: bytes, limits).imageHeader
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header = try bitmapHeader(of: bytes, rows.limits)
        rows.report = DecodeReport(decoder: "bmp", shrinkFactors: [1])
        switch header.compression {
        case .none, .bitFields, .alphaBitFields: try decodeRows(bytes, header, into: &rows)
        case .rle4, .rle8, .rle24: try decodeRuns(bytes, header, into: &rows)
        case .huffman: try decodeHuffman(bytes, header, into: &rows)
        case .jpeg:
            #if JPEG
            try decodeNested(bytes, header, JPEGDecoder(), into: &rows)
            #else
            throw .notBuiltIn(format: "jpeg", trait: "JPEG")
            #endif
        case .png:
            #if PNG
            try decodeNested(bytes, header, PNGDecoder(), into: &rows)
            #else
            throw .notBuiltIn(format: "png", trait: "PNG")
            #endif
        }
    }

    private func bitmapHeader(
        of bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> BMPHeader {
        let fileHeader = try BMPFileHeader(bytes)
        return try BMPHeader(
            bytes, at: fileHeader.bitmapHeaderOffset, fileHeader, limits: limits)
    }

    private func decodeRows(
        _ bytes: Span<UInt8>, _ header: BMPHeader, into rows: inout RowSink
    ) throws(CodecError) {
        let height = header.size.height
        if !header.hasAllRows(fileByteCount: bytes.count) {
            guard rows.acceptsTruncated else { throw .truncated(byteCount: bytes.count) }
            rows.report.problem = .truncated(byteCount: bytes.count)
        }
        var pixels = BMPPixels(header)
        let format = pixels.format
        try rows.begin(header.size, format, header.imageHeader.colorProfile)
        var room = [UInt8](repeating: 0, count: pixels.roomByteCount)
        let used = width(header, format)
        let empty = [UInt8](repeating: 0, count: used)
        let isIdentity = pixels.isIdentity
        for y in 0..<height {
            let row = header.isTopDown ? y : height - 1 - y
            let (offset, overflow) = row.multipliedReportingOverflow(by: header.rowByteCount)
            let start = header.dataOffset &+ offset
            guard !overflow, start >= 0, start <= bytes.count - header.usedRowByteCount else {
                try rows.append(empty.span)
                continue
            }
            let stored = bytes.extracting(start..<start + header.usedRowByteCount)
            if isIdentity {
                try rows.append(stored)
                continue
            }
            pixels.convert(stored, into: &room)
            try rows.append(room.span.extracting(first: used))
        }
    }

    private func decodeRuns(
        _ bytes: Span<UInt8>, _ header: BMPHeader, into rows: inout RowSink
    ) throws(CodecError) {
        // The start of each row.
        try rows.workLimits.check(.memoryByteCount, header.size.height * 16)
        let runs = try BMPRunLengths(bytes, header, rows.cancellation)
        if runs.isTruncated {
            guard rows.acceptsTruncated else { throw .truncated(byteCount: bytes.count) }
            rows.report.problem = .truncated(byteCount: bytes.count)
        }
        let format: PixelFormat = runs.isComplete ? .rgb8 : .rgba8
        let colors = BMPPixels(header).colors
        try rows.begin(header.size, format, header.imageHeader.colorProfile)
        let used = width(header, format)
        for y in 0..<header.size.height {
            var pixels = [UInt8](repeating: 0, count: used)
            runs.read(
                header.isTopDown ? y : header.size.height - 1 - y, from: bytes, colors,
                into: &pixels, channelCount: format.channelCount)
            try rows.append(pixels.span)
        }
    }

    private func decodeHuffman(
        _ bytes: Span<UInt8>, _ header: BMPHeader, into rows: inout RowSink
    ) throws(CodecError) {
        throw .unsupported(feature: "BMP with Huffman 1D compression")
    }

    /// Decodes an embedded file of another format, whose rows are stored top-down.
    private func decodeNested(
        _ bytes: Span<UInt8>, _ header: BMPHeader, _ decoder: some ImageDecoder,
        into rows: inout RowSink
    ) throws(CodecError) {
        let (end, overflow) = header.dataOffset.addingReportingOverflow(header.dataByteCount)
        guard !overflow, end <= bytes.count else { throw .truncated(byteCount: bytes.count) }
        let file = bytes.extracting(header.dataOffset..<end)
        let nested = try decoder.header(of: file, limits: rows.limits)
        guard nested.storedSize == header.size else {
            throw .malformed(
                reason:
                    "embedded image is \(nested.storedSize), bitmap header specifies \(header.size)",
                offset: header.dataOffset)
        }
        try decoder.decode(file, into: &rows)
    }

    private func width(_ header: BMPHeader, _ format: PixelFormat) -> Int {
        header.size.width * format.bytesPerPixel
    }
}
