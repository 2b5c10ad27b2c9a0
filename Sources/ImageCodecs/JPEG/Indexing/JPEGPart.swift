// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// Makes a JPEG file of a rectangle of MCUs of another file, with the same coefficients.
///
/// A row of MCUs is decoded from the index entry before its first MCU. The bits of AC coefficients are
/// copied; DC differences are encoded anew, because the predictors differ at the left edge. Each row
/// ends with a restart marker, so that it does not depend on the one before.
struct JPEGPart {
    let indexed: IndexedScan
    let index: JPEGIndex

    /// Opens a file.
    ///
    /// - Throws: ``ShrinkingError/notHandled`` if the index is not that of the file.
    init(_ file: Span<UInt8>, _ index: ImageIndex) throws(ShrinkingError) {
        guard let index = JPEGIndex(index) else { throw .notHandled }
        indexed = try IndexedScan(file)
        self.index = index
        guard index.belongs(to: file, indexed.scan, mcuCount: indexed.grid.mcuCount) else {
            throw .notHandled
        }
    }

    /// A rectangle of MCUs.
    struct MCURange: Equatable {
        var columns: Range<Int>
        var rows: Range<Int>
        var count: Int { columns.count * rows.count }
    }

    /// Returns the MCUs from which the pixels of a rectangle are computed.
    ///
    /// These include those around it, since upsampled chroma depends on the neighbouring samples.
    func mcus(covering part: PixelRect) -> MCURange {
        func range(_ start: Int, _ count: Int, _ side: Int, _ limit: Int) -> Range<Int> {
            let end = min((start + count + side - 1) / side + 1, limit)
            return min(max(start / side - 1, 0), end)..<end
        }
        return MCURange(
            columns: range(
                part.x, part.width, indexed.mcuWidth, indexed.grid.mcusAcross),
            rows: range(part.y, part.height, indexed.mcuHeight, indexed.grid.mcusDown))
    }

    /// Returns the pixels of MCUs, without those beyond the edges of the image.
    func pixels(of mcus: MCURange) -> PixelRect {
        PixelRect(
            x: mcus.columns.lowerBound * indexed.mcuWidth,
            y: mcus.rows.lowerBound * indexed.mcuHeight,
            width: mcus.columns.count * indexed.mcuWidth,
            height: mcus.rows.count * indexed.mcuHeight
        ).intersection(PixelRect(indexed.frame.size))
    }

    /// Returns whether the MCUs are few enough that decoding them takes less than decoding all, and
    /// their data fits into the memory.
    func isWorthwhile(_ mcus: MCURange, limits: DecodeLimits) -> Bool {
        let byteCount =
            (index.dataEnd - indexed.scan.dataStart) / indexed.grid.mcusDown * mcus.rows.count
        return mcus.count < indexed.grid.mcuCount / 4 * 3
            && 2 * byteCount <= limits.maximumMemoryByteCount
    }

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - mcus: MCUs of the image; at least one.
    ///   - file: the whole file.
    /// - Returns: the bytes of a whole file, and the pixels of the image that it contains: at least
    ///   those of the MCUs.
    /// - Throws: ``ShrinkingError/notHandled`` if the data is damaged or contradicts the index.
    func file(
        of mcus: MCURange, _ file: Span<UInt8>
    ) throws(ShrinkingError) -> (file: [UInt8], pixels: PixelRect) {
        // Copying a row takes about half the time of decoding it.
        if mcus.columns.count * 3 >= indexed.grid.mcusAcross * 2,
            indexed.scan.restartInterval == 0
        {
            let first = mcus.rows.lowerBound == 1 ? 0 : mcus.rows.lowerBound
            if let band = try? band(first..<mcus.rows.upperBound, file) { return band }
        }
        let pixels = pixels(of: mcus)
        return (try copy(of: mcus, pixels.size, file), pixels)
    }

    /// Makes a file of the top left corner of another file, with the same coefficients.
    ///
    /// - Parameters:
    ///   - size: the size of the corner in pixels.
    ///   - file: the whole file.
    ///   - limits: the maximum memory.
    /// - Returns: `nil` if the file is damaged or does not consist of one sequential scan.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)``.
    static func corner(
        _ size: PixelSize, of file: [UInt8], _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        let indexer = JPEGIndexer(limits: limits, cancellation: nil, releaseInput: nil)
        guard let index = try indexer.index(of: file.span) else { return nil }
        do throws(ShrinkingError) {
            let part = try JPEGPart(file.span, index)
            let mcus = MCURange(
                columns: 0..<(size.width - 1) / part.indexed.mcuWidth + 1,
                rows: 0..<(size.height - 1) / part.indexed.mcuHeight + 1)
            return try part.copy(of: mcus, size, file.span)
        } catch {
            guard case .failed(let error) = error else { return nil }
            throw error
        }
    }

    /// Copies MCUs into a file whose frame header has a size that needs all of them.
    private func copy(
        of mcus: MCURange, _ size: PixelSize, _ file: Span<UInt8>
    ) throws(ShrinkingError) -> [UInt8] {
        var writer = EntropyCodeWriter(
            after: try header(size, file, restartInterval: mcus.columns.count))
        for row in mcus.rows {
            let first = row * indexed.grid.mcusAcross
            let reader = try MCUCopier(
                file, indexed, index,
                mcus: first + mcus.columns.lowerBound..<first + mcus.columns.upperBound)
            guard reader.copy(to: &writer) != nil else { throw .notHandled }
            let number = row - mcus.rows.lowerBound
            writer.append(
                marker: row + 1 == mcus.rows.upperBound
                    ? JPEGSegments.endOfImage : 0xD0 + UInt8(number & 7))
        }
        return writer.bytes
    }

    /// Returns all before the entropy-coded data: the segments that determine the pixels.
    ///
    /// - Parameters:
    ///   - size: the size of the part.
    ///   - file: the whole file.
    ///   - restartInterval: the MCUs between restart markers, if ``PlainDCTable`` is used; `nil` if
    ///     the data is coded as in the file, without restart markers.
    /// - Returns: the first bytes of the file of the part.
    /// - Throws: ``ShrinkingError/notHandled`` if the file has changed.
    func header(
        _ size: PixelSize, _ file: Span<UInt8>, restartInterval: Int?
    ) throws(ShrinkingError) -> [UInt8] {
        var header: [UInt8] = [0xFF, 0xD8]
        var segments = JPEGSegments()
        while true {
            guard let segment = try? segments.next(file),
                segment.marker != JPEGSegments.endOfImage
            else { throw .notHandled }
            var body = segment.body.map { file[$0] }
            switch segment.marker {
            case JPEGSegments.startOfScan:
                if let restartInterval {
                    header += PlainDCTable.segment
                    header += [0xFF, 0xDD, 0, 4]  // DRI
                    header.append(restartInterval, byteCount: 2)
                    // Selects DC table 0 for all components.
                    for index in indexed.scan.components.indices { body[2 + index * 2] &= 15 }
                }
                Self.append(segment.marker, body, to: &header)
                return header
            case 0xC0, 0xC1:  // SOF
                body.set(size.height, at: 1, byteCount: 2, .bigEndian)
                body.set(size.width, at: 3, byteCount: 2, .bigEndian)
                Self.append(segment.marker, body, to: &header)
            case 0xC4, 0xDB, 0xE0, 0xEE:  // DHT, DQT, JFIF, Adobe
                Self.append(segment.marker, body, to: &header)
            default: break
            }
        }
    }

    private static func append(_ marker: UInt8, _ body: [UInt8], to header: inout [UInt8]) {
        header += [0xFF, marker]
        header.append(body.count + 2, byteCount: 2)
        header += body
    }
}
#endif
