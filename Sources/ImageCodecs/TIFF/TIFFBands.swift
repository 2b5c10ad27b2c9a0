// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages
internal import Pixels

/// The place of the packed samples of a row within a band.
struct TIFFRowPlace {
    /// The offset of the row in the first plane.
    let offset: Int
    /// The distance between planes in bytes; 0 for interleaved samples.
    let planeStride: Int
    /// The columns whose data is damaged; their pixels are zeros.
    var missing: [Range<Int>] = []
}

/// Reads the packed rows of an image from its strips or tiles, as few at a time as possible.
struct TIFFBands {
    typealias Body = (
        _ band: Span<UInt8>, _ place: TIFFRowPlace, _ rows: inout RowSink
    ) throws(CodecError) -> Void

    /// The maximum size of a strip that is read as a whole, in bytes.
    private static let largestStrip = 4 << 20

    let image: TIFFImage

    func forEachRow(
        _ reader: inout TIFFReader, _ bytes: Span<UInt8>, _ rows: inout RowSink,
        _ body: Body
    ) throws(CodecError) {
        if image.isTiled {
            try forEachTileRow(&reader, bytes, &rows, body)
        } else if image.isPlanar {
            try forEachPlanarStrip(&reader, bytes, &rows, body)
        } else {
            try forEachStripRow(&reader, bytes, &rows, body)
        }
    }

    private func forEachStripRow(
        _ reader: inout TIFFReader, _ bytes: Span<UInt8>, _ rows: inout RowSink,
        _ body: Body
    ) throws(CodecError) {
        let rowByteCount = reader.rowByteCount
        guard rowByteCount >= packedByteCount(image.size.width) else { throw disagreement }
        let stripByteCount = rowByteCount.saturatingProduct(image.blockSize.height)
        var readsStrips =
            image.isDeflated && stripByteCount <= Self.largestStrip
            && stripByteCount <= rows.workLimits.maximumMemoryByteCount
        let byteCount = readsStrips ? stripByteCount : rowByteCount
        try rows.workLimits.check(.memoryByteCount, byteCount)
        var band = [UInt8](repeating: 0, count: byteCount)
        // Whether the rest of the strip is damaged.
        var isDamaged = false
        for y in 0..<image.size.height {
            let line = y % image.blockSize.height
            if line == 0 {
                isDamaged = false
                let strip = y / image.blockSize.height
                try image.checkBlock(strip, bytes)
                if readsStrips {
                    let lines = min(image.blockSize.height, image.size.height - y)
                    if try !reader.readStrip(
                        strip, byteCount: lines * rowByteCount, into: &band, at: 0, &rows)
                    {
                        // Read row by row, it is decoded up to the damage.
                        readsStrips = false
                        try reader.open(image.directory.offset)
                    }
                }
            }
            if !readsStrips, !isDamaged {
                isDamaged = try !readRow(y, &reader, into: &band, &rows)
            }
            if isDamaged {
                try rows.appendMissingRow()
            } else {
                let offset = readsStrips ? line * rowByteCount : 0
                try body(band.span, TIFFRowPlace(offset: offset, planeStride: 0), &rows)
            }
        }
    }

    /// Reads a row.
    ///
    /// - Returns: `false` if the rest of the strip cannot be decoded.
    private func readRow(
        _ y: Int, _ reader: inout TIFFReader, into row: inout [UInt8], _ rows: inout RowSink
    ) throws(CodecError) -> Bool {
        guard image.isFax else { return try reader.readRow(y, into: &row, &rows) }
        // libtiff decodes a damaged row in part; the rest of it is white.
        for index in row.indices { row[index] = 0 }
        _ = try reader.readRow(y, into: &row, &rows)
        return true
    }

    private func forEachPlanarStrip(
        _ reader: inout TIFFReader, _ bytes: Span<UInt8>, _ rows: inout RowSink,
        _ body: Body
    ) throws(CodecError) {
        let rowCount = image.blockSize.height
        let rowByteCount = reader.rowByteCount
        guard rowByteCount >= packedByteCount(image.size.width) else { throw disagreement }
        let (planeByteCount, overflow) = rowByteCount.multipliedReportingOverflow(by: rowCount)
        let planeCount = image.sampleCount
        let (total, tooMuch) = planeByteCount.multipliedReportingOverflow(by: planeCount)
        try rows.workLimits.check(.memoryByteCount, overflow || tooMuch ? .max : total)
        var band = [UInt8](repeating: 0, count: total)
        let counts = image.blockCounts
        for strip in 0..<counts.y {
            if rows.cancellation?.isCancelled == true { throw .cancelled }
            let lines = min(rowCount, image.size.height - strip * rowCount)
            var isDamaged = false
            for plane in image.neededPlanes {
                let index = plane * counts.y + strip
                try image.checkBlock(index, bytes)
                if try !reader.readStrip(
                    index, byteCount: lines * rowByteCount, into: &band,
                    at: plane * planeByteCount, &rows)
                {
                    isDamaged = true
                }
            }
            for y in 0..<lines {
                if isDamaged {
                    try rows.appendMissingRow()
                    continue
                }
                try body(
                    band.span,
                    TIFFRowPlace(offset: y * rowByteCount, planeStride: planeByteCount), &rows)
            }
        }
    }

    private func forEachTileRow(
        _ reader: inout TIFFReader, _ bytes: Span<UInt8>, _ rows: inout RowSink,
        _ body: Body
    ) throws(CodecError) {
        let size = image.blockSize
        let counts = image.blockCounts
        let tileRowByteCount = packedByteCount(size.width)
        var tile = try room(
            for: reader.tileByteCount, of: tileRowByteCount.saturatingProduct(size.height), rows
        )
        let bitCount = size.width * image.bits * (image.isPlanar ? 1 : image.sampleCount)
        guard bitCount % 8 == 0 || counts.x == 1 else {
            throw .unsupported(feature: "TIFF with tiles whose rows end within a byte")
        }
        let planeCount = image.isPlanar ? image.sampleCount : 1
        let rowByteCount = tileRowByteCount.saturatingProduct(counts.x)
        let planeByteCount = rowByteCount.saturatingProduct(size.height)
        let total = planeByteCount.saturatingProduct(planeCount)
        try rows.workLimits.check(.memoryByteCount, total)
        var band = [UInt8](repeating: 0, count: total)
        for tileRow in 0..<counts.y {
            let lines = min(size.height, image.size.height - tileRow * size.height)
            var missing: [Range<Int>] = []
            for plane in image.isPlanar ? image.neededPlanes : [0] {
                for column in 0..<counts.x {
                    if rows.cancellation?.isCancelled == true { throw .cancelled }
                    let index = (plane * counts.y + tileRow) * counts.x + column
                    try image.checkBlock(index, bytes)
                    if try !reader.readTile(index, into: &tile, &rows) {
                        let left = column * size.width
                        missing.append(left..<min(left + size.width, image.size.width))
                    }
                    let start = plane * planeByteCount + column * tileRowByteCount
                    copy(
                        tile.span, tileRowByteCount, lines: lines, into: &band, at: start,
                        stride: rowByteCount)
                }
            }
            for y in 0..<lines {
                try body(
                    band.span,
                    TIFFRowPlace(
                        offset: y * rowByteCount,
                        planeStride: image.isPlanar ? planeByteCount : 0, missing: missing),
                    &rows)
            }
        }
    }

    private func copy(
        _ tile: Span<UInt8>, _ byteCount: Int, lines: Int, into band: inout [UInt8],
        at start: Int, stride: Int
    ) {
        precondition(tile.count >= lines * byteCount, "the tile is too short")
        precondition(start + (lines - 1) * stride + byteCount <= band.count, "no room")
        unsafe tile.withUnsafeBufferPointer { tile in
            unsafe band.withUnsafeMutableBufferPointer { band in
                guard let source = tile.baseAddress,
                    let result = band.baseAddress
                else { return }
                for y in 0..<lines {
                    unsafe (result + start + y * stride).update(
                        from: source + y * byteCount, count: byteCount)
                }
            }
        }
    }

    /// Reads rows that libtiff converts to RGB, by strip or by row of tiles.
    func forEachConvertedRow(
        _ reader: inout TIFFReader, _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) {
        let size = image.blockSize
        let counts = image.blockCounts
        let blockCount = size.width.saturatingProduct(size.height)
        let bandWidth = size.width.saturatingProduct(counts.x)
        let total = bandWidth.saturatingProduct(size.height).saturatingProduct(3)
        try rows.workLimits.check(
            .memoryByteCount, blockCount.saturatingProduct(8).saturatingSum(total))
        var block = [UInt32](repeating: 0, count: blockCount)
        var band = [UInt8](repeating: 0, count: total)
        for blockRow in 0..<counts.y {
            let top = blockRow * size.height
            let lines = min(size.height, image.size.height - top)
            for column in 0..<counts.x {
                if rows.cancellation?.isCancelled == true { throw .cancelled }
                try image.checkBlock(blockRow * counts.x + column, bytes)
                if try !reader.readColors(
                    x: column * size.width, y: top, into: &block, &rows)
                {
                    block = [UInt32](repeating: 0, count: blockCount)
                }
                // The last strip has the remaining rows only; a tile is always complete.
                let bottom = image.isTiled ? size.height : lines
                for y in 0..<lines {
                    var place = (y * bandWidth + column * size.width) * 3
                    let source = (bottom - 1 - y) * size.width
                    for x in 0..<size.width {
                        let pixel = block[source + x]
                        band[place] = UInt8(truncatingIfNeeded: pixel)
                        band[place + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                        band[place + 2] = UInt8(truncatingIfNeeded: pixel >> 16)
                        place += 3
                    }
                }
            }
            for y in 0..<lines {
                let start = y * bandWidth * 3
                try rows.append(
                    band.span.extracting(start..<start + image.size.width * 3))
            }
        }
    }

    /// Returns the size of a row of samples in a strip or tile, in bytes.
    private func packedByteCount(_ width: Int) -> Int {
        (width * image.bits * (image.isPlanar ? 1 : image.sampleCount) + 7) / 8
    }

    /// Allocates a tile of the size that libtiff states, which must match the directory.
    private func room(
        for delivered: Int, of expected: Int, _ rows: borrowing RowSink
    ) throws(CodecError) -> [UInt8] {
        guard delivered >= expected else { throw disagreement }
        try rows.workLimits.check(.memoryByteCount, delivered)
        return [UInt8](repeating: 0, count: delivered)
    }

    private var disagreement: CodecError {
        .malformed(
            reason: "the size of strips or tiles in libtiff contradicts the directory",
            offset: image.directory.offset)
    }
}

extension Int {
    /// Returns the product, or `Int.max` on overflow.
    func saturatingProduct(_ other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }

    /// Returns the sum, or `Int.max` on overflow.
    func saturatingSum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
#endif
