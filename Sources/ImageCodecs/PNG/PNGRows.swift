// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// The rows of an image from top to bottom, converted to pixels.
///
/// It keeps its position, so that decoding continues when more of the file is available.
struct PNGRows: ~Copyable {
    /// One of the seven passes of an interlaced image (Adam7; ISO/IEC 15948, 8.2).
    private struct Pass {
        let left: Int
        let top: Int
        let columnStep: Int
        let rowStep: Int
    }

    private static let passes = [
        Pass(left: 0, top: 0, columnStep: 8, rowStep: 8),
        Pass(left: 4, top: 0, columnStep: 8, rowStep: 8),
        Pass(left: 0, top: 4, columnStep: 4, rowStep: 8),
        Pass(left: 2, top: 0, columnStep: 4, rowStep: 4),
        Pass(left: 0, top: 2, columnStep: 2, rowStep: 4),
        Pass(left: 1, top: 0, columnStep: 2, rowStep: 2),
        Pass(left: 0, top: 1, columnStep: 1, rowStep: 2),
    ]

    private let layout: PNGLayout
    private let samples: PNGSamples
    private let cancellation: CancellationFlag?
    private var room: [UInt8]
    /// The next row, and whether its pass has begun.
    private var y = 0
    private var hasBegun = false
    private var passIndex = 0
    private var image: MutablePixelBuffer?

    init(
        _ layout: PNGLayout, _ samples: PNGSamples, cancellation: CancellationFlag? = nil
    ) {
        self.layout = layout
        self.samples = samples
        self.cancellation = cancellation
        room = Array(repeating: 0, count: samples.roomByteCount(width: layout.size.width))
    }

    /// Calls `body` with each row; an interlaced image is decoded as a whole before the first.
    ///
    /// - Parameters:
    ///   - file: the whole file, or its available part.
    ///   - source: the unfiltered scanlines.
    ///   - body: receives the pixels of a row in the format of the samples.
    /// - Throws: ``CodecError/truncated(byteCount:)`` at the end of the file, after which the
    ///   call can be repeated with more bytes; another ``CodecError`` for damage, and the
    ///   errors of `body`.
    mutating func forEach(
        in file: Span<UInt8>, _ source: inout PNGFilteredRows,
        _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        if layout.isInterlaced {
            try forEachInterlaced(file, &source, body)
        } else {
            try forEachInOrder(file, &source, body)
        }
    }

    /// The number of times that the known columns and rows have doubled.
    ///
    /// The first version of an interlaced image has every eighth.
    var gridCount: Int { min(passIndex + 1, Self.passes.count) / 2 }

    /// The distance of known pixels along each side.
    private var gridStep: Int { 16 >> gridCount }

    /// The size of the newest version of an interlaced image.
    var gridSize: PixelSize {
        PixelSize(
            width: (layout.size.width + gridStep - 1) / gridStep,
            height: (layout.size.height + gridStep - 1) / gridStep)
    }

    var gridLattice: SampleLattice { SampleLattice(first: (0, 0), step: gridStep) }

    /// Calls `body` with each row of the newest version of an interlaced image.
    mutating func forEachGridRow(
        _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        let bytesPerPixel = samples.format.bytesPerPixel
        let width = gridSize.width
        var row = [UInt8](repeating: 0, count: width * bytesPerPixel)
        for y in 0..<gridSize.height {
            guard let pixels = image?.row(y * gridStep) else { return }
            for x in 0..<width {
                for byte in 0..<bytesPerPixel {
                    row[x * bytesPerPixel + byte] = pixels[x * gridStep * bytesPerPixel + byte]
                }
            }
            try body(row.span)
        }
    }

    private mutating func forEachInOrder(
        _ file: Span<UInt8>, _ source: inout PNGFilteredRows,
        _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        let width = layout.size.width
        let byteCount = width * samples.format.bytesPerPixel
        beginRows(layout.size.height, of: width, &source)
        while y < layout.size.height {
            try source.withNextRow(
                file, distance: layout.filterDistance
            ) { row throws(CodecError) in
                if samples.convert(row, width: width, into: &room) {
                    try body(room.span.extracting(first: byteCount))
                } else {
                    try body(row)
                }
            }
            y += 1
        }
    }

    private mutating func forEachInterlaced(
        _ file: Span<UInt8>, _ source: inout PNGFilteredRows,
        _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        guard passIndex < Self.passes.count else { return }
        let bytesPerPixel = samples.format.bytesPerPixel
        if image == nil {
            image = MutablePixelBuffer(size: layout.size, format: samples.format)
        }
        try decodePasses(file, &source) { image, pixels, pass, y, width in
            image?.withMutableRow(y) { result in
                PNGRowKernels.spread(
                    pixels, count: width, bytesPerPixel: bytesPerPixel,
                    into: &result, first: pass.left, step: pass.columnStep)
            }
        }
        guard let whole = image.take()?.finish() else { return }
        for y in 0..<layout.size.height { try body(whole.row(y)) }
    }

    /// Calls `body` with the pixels of each row of the passes of an interlaced image.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - source: the unfiltered scanlines.
    ///   - body: receives pixels in the format of the samples, their row in the image, the column
    ///     of the first one and the distance of columns.
    /// - Throws: the errors of ``forEach(in:_:_:)``.
    mutating func forEachPassRow(
        in file: Span<UInt8>, _ source: inout PNGFilteredRows,
        _ body: (Span<UInt8>, _ y: Int, _ column: Int, _ step: Int) throws(CodecError) -> Void
    ) throws(CodecError) {
        let bytesPerPixel = samples.format.bytesPerPixel
        try decodePasses(file, &source) { _, pixels, pass, y, width throws(CodecError) in
            let row = pixels.span.extracting(first: width * bytesPerPixel)
            try body(row, y, pass.left, pass.columnStep)
        }
    }

    /// Decodes the seven Adam7 passes, each with every eighth, fourth or second pixel.
    private mutating func decodePasses(
        _ file: Span<UInt8>, _ source: inout PNGFilteredRows,
        _ body: (
            inout MutablePixelBuffer?, _ pixels: [UInt8], Pass, _ y: Int, _ width: Int
        ) throws(CodecError) -> Void
    ) throws(CodecError) {
        while passIndex < Self.passes.count {
            let pass = Self.passes[passIndex]
            let width = (layout.size.width - pass.left + pass.columnStep - 1) / pass.columnStep
            if width > 0 && pass.top < layout.size.height {
                if !hasBegun { y = pass.top }
                let count = (layout.size.height - pass.top + pass.rowStep - 1) / pass.rowStep
                beginRows(count, of: width, &source)
                while y < layout.size.height {
                    if cancellation?.isCancelled == true { throw .cancelled }
                    let place = y
                    try source.withNextRow(
                        file, distance: layout.filterDistance
                    ) { row throws(CodecError) in
                        if !samples.convert(row, width: width, into: &room) {
                            PNGRowKernels.copy(row, into: &room)
                        }
                        try body(&image, room, pass, place, width)
                    }
                    y += pass.rowStep
                }
            }
            hasBegun = false
            passIndex += 1
        }
    }

    private mutating func beginRows(
        _ count: Int, of width: Int, _ source: inout PNGFilteredRows
    ) {
        guard !hasBegun else { return }
        hasBegun = true
        source.beginRows(count, byteCount: layout.rowByteCount(width: width))
    }
}
#endif
