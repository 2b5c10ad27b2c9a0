// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decompresses all indices of the first image, because they may be interlaced, then converts row
/// by row.
struct GIFDecoder: ImageDecoder {
    /// The number of indices above which an image is decoded row by row.
    var maximumKeptIndexCount = 16 << 20

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let file = try GIFFile(bytes, limits: limits)
        var header = ImageHeader(
            storedSize: file.canvas, colorModel: .palette, bitsPerComponent: 8)
        header.hasAlpha =
            file.frames.contains { $0.transparentIndex != nil }
            || file.frames.first?.region != PixelRect(file.canvas)
        header.colorProfile = file.colorProfile
        header.frameCount = file.frames.count
        header.loopCount = file.frames.count > 1 ? file.loopCount : 1
        header.endsEarly = file.isTruncated || !file.hasTrailer
        if file.frames.first?.isInterlaced == true {
            header.facts.append(.init("interlace", "4 passes"))
        }
        if !file.comment.isEmpty {
            header.facts.append(
                .init("comment", String(decoding: file.comment, as: UTF8.self)))
        }
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let file = try GIFFile(bytes, limits: rows.limits)
        guard let frame = file.frames.first else { return }
        if frame.region == PixelRect(file.canvas),
            frame.region.size.area > maximumKeptIndexCount,
            try decodeRows(of: frame, file, bytes, into: &rows)
        {
            return
        }
        var indices = GIFLZWDecoder()
        let ending = try indices.decompress(
            frame, bytes, rows.workLimits, cancellation: rows.cancellation)
        let palette = GIFPalette(frame, bytes)
        let count = frame.region.size.area
        let isCut = ending == .truncated && (indices.count < count || !rows.acceptsTruncated)
        let isOpaque =
            frame.region == PixelRect(file.canvas)
            && (indices.count == count || ending == .truncated)
            && !palette.hasTransparency(among: indices)
        let format: PixelFormat = !isOpaque ? .rgba8 : palette.isGray ? .gray8 : .rgb8
        try rows.begin(file.canvas, format, file.colorProfile)
        let bytesPerPixel = format.bytesPerPixel
        let rowByteCount = file.canvas.width * bytesPerPixel
        let empty = [UInt8](repeating: 0, count: rowByteCount)
        var row = [UInt8](repeating: 0, count: rowByteCount + GIFPalette.writeAhead)
        for y in 0..<file.canvas.height {
            let line = y - frame.region.y
            guard line >= 0, line < frame.region.height else {
                try rows.append(empty.span)
                continue
            }
            let there = indices.row(line, of: frame)
            // Missing rows are not appended, so that the caller can tell them from transparent
            // ones.
            if isCut && there.isEmpty && !frame.isInterlaced { break }
            if there.count < frame.region.width {
                for index in row.indices { row[index] = 0 }
            }
            palette.color(
                indices.bytes, there, format, into: &row, at: frame.region.x * bytesPerPixel)
            try rows.append(row.span.extracting(first: rowByteCount))
        }
        let lacksEnd = file.isTruncated && file.frames.count == 1 && !rows.acceptsTruncated
        if isCut || lacksEnd {
            throw .truncated(byteCount: bytes.count)
        }
    }

    /// Decodes a large image, which fills the canvas, without keeping its indices.
    ///
    /// Its pixel format follows from the colour table alone, not from the indices that occur.
    ///
    /// - Returns: whether it was decoded; `false` for an interlaced image that is not much reduced.
    private func decodeRows(
        of frame: GIFFrame, _ file: GIFFile, _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) -> Bool {
        let size = frame.region.size
        try rows.limits.check(size)
        let palette = GIFPalette(frame, bytes)
        let format: PixelFormat =
            palette.mayBeTransparent ? .rgba8 : palette.isGray ? .gray8 : .rgb8
        if frame.isInterlaced, !rows.canRestart { return false }
        try rows.begin(size, format, file.colorProfile)
        if frame.isInterlaced, !rows.beginUnordered(maximumByteCount: size.area) {
            rows.restart()
            return false
        }
        let rowByteCount = size.width * format.bytesPerPixel
        var row = [UInt8](repeating: 0, count: rowByteCount + GIFPalette.writeAhead)
        var decoder = GIFRowDecoder(width: size.width, at: frame.dataOffset)
        let order = frame.isInterlaced ? GIFLZWDecoder.shownRows(size.height) : []
        let count = try decoder.forEachRow(size.height, in: bytes) {
            (stored, indices) throws(CodecError) in
            palette.color(indices, format, into: &row)
            let pixels = row.span.extracting(first: rowByteCount)
            if frame.isInterlaced {
                try rows.append(pixels, y: order[stored], from: 0, step: 1)
            } else {
                try rows.append(pixels)
            }
        }
        if count < size.height {
            if !frame.isInterlaced, file.isTruncated || !rows.canRestart {
                throw .truncated(byteCount: bytes.count)
            }
            // Which pixels are missing is known only if all indices are kept.
            rows.restart()
            return false
        }
        if frame.isInterlaced { rows.finishUnordered() }
        if file.isTruncated, file.frames.count == 1, !rows.acceptsTruncated {
            throw .truncated(byteCount: bytes.count)
        }
        return true
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        let file = try GIFFile(bytes, limits: limits)
        var blocks = MetadataBlocks()
        blocks.xmp = file.xmp.map { $0.map { bytes[$0] } }
        return blocks
    }

    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? {
        let file = try bytes.withBytes { bytes throws(CodecError) in
            try GIFFile(bytes, limits: limits)
        }
        return GIFFrameReader(bytes, file, limits)
    }
}

/// Reads the frames of an animation in order.
struct GIFFrameReader: FrameReader {
    private let bytes: EncodedBytes
    private let file: GIFFile
    private let limits: DecodeLimits
    private var indices = GIFLZWDecoder()
    private var index = 0

    init(_ bytes: EncodedBytes, _ file: GIFFile, _ limits: DecodeLimits) {
        self.bytes = bytes
        self.file = file
        self.limits = limits
    }

    mutating func next() throws(CodecError) -> StoredFrame? {
        guard index < file.frames.count else {
            if file.isTruncated { throw .truncated(byteCount: bytes.count) }
            return nil
        }
        let frame = file.frames[index]
        index += 1
        let size = frame.region.size
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: size, .rgba8))
        return try bytes.withBytes { bytes throws(CodecError) in
            let ending = try indices.decompress(frame, bytes, limits, cancellation: nil)
            if ending == .truncated, indices.count < size.area {
                throw .truncated(byteCount: bytes.count)
            }
            let palette = GIFPalette(frame, bytes)
            var buffer = MutablePixelBuffer(
                size: size, format: .rgba8, colorProfile: file.colorProfile)
            for y in 0..<size.height {
                let there = indices.row(y, of: frame)
                if there.isEmpty { continue }
                buffer.withMutableRow(y) { row in
                    palette.color(indices.bytes, there, into: &row)
                }
            }
            return StoredFrame(
                region: frame.region, duration: .milliseconds(frame.delay * 10),
                disposal: frame.disposal, blending: .over, image: buffer.finish())
        }
    }
}

extension GIFFile {
    var colorProfile: ColorProfile { profile.isEmpty ? .sRGB : .icc(profile) }
}

extension GIFLZWDecoder {
    /// Decompresses the indices of a frame after checking the limits.
    ///
    /// - Throws: ``CodecError/malformed(reason:offset:)`` for damaged data.
    fileprivate mutating func decompress(
        _ frame: GIFFrame, _ file: Span<UInt8>, _ limits: DecodeLimits,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> Ending {
        if cancellation?.isCancelled == true { throw .cancelled }
        try limits.check(frame.region.size)
        try limits.check(.memoryByteCount, frame.region.size.area)
        let ending = decompress(file, at: frame.dataOffset, count: frame.region.size.area)
        guard ending != .damaged else {
            throw .malformed(
                reason: "invalid LZW code", offset: frame.dataOffset)
        }
        return ending
    }

    /// Returns the range of the indices of a row, as far as they are present.
    fileprivate func row(_ y: Int, of frame: GIFFrame) -> Range<Int> {
        let stored = frame.isInterlaced ? Self.storedRow(y, frame.region.height) : y
        let start = min(stored * frame.region.width, count)
        return start..<min(start + frame.region.width, count)
    }

    /// Returns the rows of an interlaced image in stored order.
    fileprivate static func shownRows(_ height: Int) -> [Int] {
        [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: height, by: $1)) }
    }

    /// Returns the position of a row in an interlaced image (GIF89a, appendix E): first every
    /// eighth row, then the rows between.
    private static func storedRow(_ y: Int, _ height: Int) -> Int {
        let eighths = (height + 7) / 8
        if y % 8 == 0 { return y / 8 }
        if y % 8 == 4 { return eighths + y / 8 }
        let quarters = (height + 3) / 4
        if y % 4 == 2 { return quarters + y / 4 }
        return (height + 1) / 2 + y / 2
    }
}
