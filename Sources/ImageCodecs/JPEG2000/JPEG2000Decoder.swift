// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import CJPEG2000
internal import EncodedImages
internal import Pixels

/// Decodes tile by tile, at a lower resolution level where that suffices.
struct JPEG2000Decoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        try JPEG2000Header(bytes, limits: limits).imageHeader()
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        try JPEG2000Header(bytes, limits: limits, readsAll: true).metadata
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let header = try JPEG2000Header(bytes, limits: rows.limits)
        let parts = JPEG2000TileParts(header.codestream, bytes)
        // Also if a partial image would be accepted: OpenJPEG's non-strict mode reads out of
        // bounds.
        if parts.isTruncated { throw .truncated(byteCount: bytes.count) }
        let image = try JPEG2000Image(header, copying: parts.arrangedByteCount, &rows)
        if parts.isArranged {
            try image.decode(bytes.extracting(header.codestream.range), into: &rows)
        } else {
            try image.decode(parts.arranged(bytes).span, into: &rows)
        }
    }
}

/// The decoding of an image from tiles to rows.
private struct JPEG2000Image {
    let channels: JPEG2000Channels
    private let header: JPEG2000Header
    private let codestream: JPEG2000Codestream
    private let grid: JPEG2000Channels.Grid
    /// The number of discarded resolution levels.
    private let reduction: Int
    /// The estimated memory of the codestream and of OpenJPEG.
    private let memoryByteCount: Int

    init(
        _ header: JPEG2000Header, copying copiedByteCount: Int, _ rows: inout RowSink
    ) throws(CodecError) {
        self.header = header
        codestream = header.codestream
        channels = try header.channels()
        grid = channels.grid(codestream)
        let levels = min(codestream.resolutionCount - 1, 16)
        reduction =
            channels.canShrink
            ? try rows.choose { [codestream] in Self.reduction(levels, $0, codestream) } : 0
        memoryByteCount = codestream.memoryByteCount(reduction: reduction) + copiedByteCount
        try rows.workLimits.check(.memoryByteCount, memoryByteCount)
    }

    /// Returns the number of resolution levels to discard without a visible difference.
    ///
    /// The lower resolution levels of the 5/3 wavelet keep more noise than means would, so its
    /// third reduction is left to the resampler. From the fourth on, the levels of either
    /// wavelet differ too much from the image.
    private static func reduction(
        _ levels: Int, _ plan: DecodePlan, _ codestream: JPEG2000Codestream
    ) -> Int {
        guard levels > 0 else { return 0 }
        if plan.quality == .fast {
            return plan.shrinkFactor(of: (1...levels).map { 1 << $0 }).trailingZeroBitCount
        }
        var factors = (1...min(levels, 3)).map { 1 << $0 }
        if codestream.isReversible, plan.shrinkFactor(of: [16]) == 1 {
            factors.removeAll { $0 == 8 }
        }
        return plan.shrinkFactor(of: factors).trailingZeroBitCount
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        if channels.precision > 8 {
            try decode(bytes, JPEG2000Rows<UInt16>(channels), into: &rows)
        } else {
            try decode(bytes, JPEG2000Rows<UInt8>(channels), into: &rows)
        }
    }

    private func decode<Sample>(
        _ bytes: Span<UInt8>, _ converter: JPEG2000Rows<Sample>, into rows: inout RowSink
    ) throws(CodecError) {
        let size = PixelSize(
            width: grid.columns(reduction).count, height: grid.rows(reduction).count)
        guard !size.isEmpty else {
            throw .malformed(
                reason: "invalid image size: \(size)", offset: codestream.range.lowerBound)
        }
        let isWide = Sample.bitWidth == 16
        let isCMYK = channels.model == .cmyk
        let format: PixelFormat =
            switch isCMYK ? 3 : converter.channelCount {
            case 1: isWide ? .gray16 : .gray8
            case 3: isWide && !isCMYK ? .rgb16 : .rgb8
            default: isWide ? .rgba16 : .rgba8
            }
        let factor = 1 << reduction
        rows.report.decoder = "OpenJPEG"
        rows.report.shrinkFactors = Array(
            repeating: factor, count: codestream.components.count)
        // The wavelet keeps the samples at multiples of the factor on the reference grid.
        let origin = (x: grid.columns(0).lowerBound, y: grid.rows(0).lowerBound)
        let lattice = SampleLattice(
            first: (
                grid.columns(reduction).lowerBound * factor - origin.x,
                grid.rows(reduction).lowerBound * factor - origin.y
            ), step: factor)
        try rows.begin(
            size, format, isCMYK ? .sRGB : header.profile,
            lattice: reduction > 0 ? lattice : nil)
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(CodecError) in
            let reader = try unsafe JPEG2000Reader(buffer)
            try reader.start(reduction: reduction)
            try decode(reader, size, converter, into: &rows)
        }
    }

    private func decode<Sample>(
        _ reader: borrowing JPEG2000Reader, _ size: PixelSize,
        _ converter: JPEG2000Rows<Sample>,
        into rows: inout RowSink
    ) throws(CodecError) {
        let counts = codestream.tileCounts
        let rowCount = size.width * converter.channelCount
        let finisher = try RowFinisher(converter, header.profile, width: size.width)
        let bandHeight = min(codestream.tileStep.y, size.height)
        let heldRows = counts.x == 1 ? 1 : bandHeight
        let (sampleCount, overflow) = rowCount.multipliedReportingOverflow(by: heldRows)
        try rows.workLimits.check(
            .memoryByteCount,
            overflow ? .max : sampleCount * 2 + memoryByteCount)
        var band = [Sample](repeating: 0, count: sampleCount)
        let left = grid.columns(reduction).lowerBound
        for tileRow in 0..<counts.y {
            let extent = codestream.tileRows(tileRow)
            let lines = JPEG2000Codestream.samples(
                extent, step: grid.stepY, reduction: reduction)
            for tileColumn in 0..<counts.x {
                if rows.cancellation?.isCancelled == true { throw .cancelled }
                try reader.decode(tile: tileRow * counts.x + tileColumn)
                let tile = Tile(
                    codestream, grid, codestream.tileColumns(tileColumn), extent, reduction)
                let shares = try converter.components.map { component throws(CodecError) in
                    try tile.share(of: component)
                }
                for y in lines {
                    let first = counts.x == 1 ? 0 : (y - lines.lowerBound) * rowCount
                    var all = band.mutableSpan
                    var row = all._mutatingExtracting(first..<first + rowCount)
                    for (channel, share) in shares.enumerated() where !tile.columns.isEmpty {
                        try reader.withSamples(share, line: share.line(y)) { samples in
                            converter.put(
                                channel, samples, share.places.span,
                                count: tile.columns.count, into: &row,
                                start: tile.columns.lowerBound - left)
                        }
                    }
                    if counts.x == 1 { try finisher.finish(&row, into: &rows) }
                }
            }
            guard counts.x > 1 else { continue }
            for y in 0..<lines.count {
                var all = band.mutableSpan
                var row = all._mutatingExtracting(y * rowCount..<(y + 1) * rowCount)
                try finisher.finish(&row, into: &rows)
            }
        }
    }
}

/// The final conversions of a row before it is passed on.
private struct RowFinisher<
    Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable
>: ~Copyable {
    private let converter: JPEG2000Rows<Sample>
    private let inks: CMYKConversion?
    private let width: Int

    init(
        _ converter: JPEG2000Rows<Sample>, _ profile: ColorProfile, width: Int
    ) throws(CodecError) {
        self.converter = converter
        self.width = width
        inks = converter.isCMYK ? try CMYKConversion(profile, isInverted: false) : nil
    }

    func finish(
        _ row: inout MutableSpan<Sample>, into rows: inout RowSink
    ) throws(CodecError) {
        if converter.isCMYK { return try convertInks(row.span, into: &rows) }
        converter.convertColors(&row)
        if converter.alphaTreatment.clamps { PremultipliedAlpha.clamp(&row) }
        let multiplies = converter.alphaTreatment.multiplies
        try unsafe row.withUnsafeMutableBytes { bytes throws(CodecError) in
            var pixels = unsafe MutableSpan<UInt8>(
                _unsafeElements: bytes.bindMemory(to: UInt8.self))
            if multiplies {
                if Sample.bitWidth == 16 {
                    PremultipliedAlpha.multiply16(&pixels)
                } else {
                    PremultipliedAlpha.multiply(&pixels)
                }
            }
            try rows.append(pixels.span)
        }
    }

    private func convertInks(
        _ row: Span<Sample>, into rows: inout RowSink
    ) throws(CodecError) {
        let amounts = row.indices.map {
            UInt8(truncatingIfNeeded: row[$0] >> Sample(Sample.bitWidth - 8))
        }
        var colors = [UInt8](repeating: 0, count: width * 3)
        switch inks {
        case .some(let inks): inks.convert(amounts.span, into: &colors)
        case .none: break
        }
        try rows.append(colors.span)
    }
}

/// The position of a tile in the image.
private struct Tile {
    let codestream: JPEG2000Codestream
    let grid: JPEG2000Channels.Grid
    let columnExtent: Range<Int>
    let rowExtent: Range<Int>
    let reduction: Int
    /// The columns of its pixels.
    let columns: Range<Int>

    init(
        _ codestream: JPEG2000Codestream, _ grid: JPEG2000Channels.Grid,
        _ columns: Range<Int>, _ rows: Range<Int>, _ reduction: Int
    ) {
        self.codestream = codestream
        self.grid = grid
        columnExtent = columns
        rowExtent = rows
        self.reduction = reduction
        self.columns = JPEG2000Codestream.samples(
            columns, step: grid.stepX, reduction: reduction)
    }

    /// The part of a component in a tile.
    struct Share {
        let component: Int
        let width: Int
        let rows: Range<Int>
        let stepY: Int
        let pixelStepY: Int
        /// The sample column of each pixel column; empty for the identity.
        let places: [Int]

        /// Returns the line with the samples of a row of pixels.
        func line(_ y: Int) -> Int {
            let line = stepY == pixelStepY ? y : y * pixelStepY / stepY
            return min(max(line, rows.lowerBound), rows.upperBound - 1) - rows.lowerBound
        }
    }

    func share(of component: Int) throws(CodecError) -> Share {
        let steps = codestream.components[component]
        let across = JPEG2000Codestream.samples(
            columnExtent, step: steps.stepX, reduction: reduction)
        let down = JPEG2000Codestream.samples(
            rowExtent, step: steps.stepY, reduction: reduction)
        guard !across.isEmpty && !down.isEmpty || columns.isEmpty else {
            throw .unsupported(feature: "JPEG 2000 tile without samples of a component")
        }
        let places =
            steps.stepX == grid.stepX
            ? []
            : columns.map {
                min(
                    max($0 * grid.stepX / steps.stepX, across.lowerBound), across.upperBound - 1
                )
                    - across.lowerBound
            }
        return Share(
            component: component, width: across.count, rows: down, stepY: steps.stepY,
            pixelStepY: grid.stepY, places: places)
    }
}

/// The sole owner of an OpenJPEG decoder.
///
/// The bytes that it reads must outlive it.
@safe private struct JPEG2000Reader: ~Copyable {
    private let raw: OpaquePointer

    @unsafe init(
        _ codestream: UnsafeBufferPointer<UInt8>
    ) throws(CodecError) {
        try unsafe requireLibrary(calotype_j2k_missing())
        guard
            let raw = unsafe calotype_j2k_reader_create(
                codestream.baseAddress, codestream.count)
        else { throw .library(message: "out of memory: cannot create a JPEG 2000 decoder") }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_j2k_reader_destroy(raw) }

    func start(reduction: Int) throws(CodecError) {
        try check(unsafe calotype_j2k_reader_start(raw, Int32(reduction)))
    }

    func decode(tile: Int) throws(CodecError) {
        try check(unsafe calotype_j2k_reader_decode_tile(raw, UInt32(tile)))
    }

    /// Calls `body` with a line of samples of the last decoded tile.
    func withSamples(
        _ share: Tile.Share, line: Int, _ body: (Span<Int32>) -> Void
    ) throws(CodecError) {
        var width: UInt32 = 0
        var height: UInt32 = 0
        let start = unsafe calotype_j2k_reader_samples(
            raw, UInt32(share.component), &width, &height)
        guard let start = unsafe start, Int(width) == share.width,
            Int(height) == share.rows.count
        else {
            throw .malformed(
                reason:
                    "decoded tile is \(width) × \(height), expected \(share.width) × \(share.rows.count)",
                offset: 0)
        }
        let samples = unsafe UnsafeBufferPointer(
            start: start + line * share.width, count: share.width)
        body(unsafe Span(_unsafeElements: samples))
    }

    private func check(_ isDone: Bool) throws(CodecError) {
        if isDone { return }
        let message = unsafe String(cString: calotype_j2k_reader_message(raw))
        throw .malformed(
            reason: message.isEmpty ? "unknown OpenJPEG error" : message, offset: 0)
    }
}
#endif
