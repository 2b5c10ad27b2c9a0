// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// The chunk `fcTL`: region, duration, disposal and blending of a frame.
struct PNGFrameControl {
    /// The minimum number of bytes of a frame in the file: 26 of data, 12 of length, type and
    /// CRC.
    static let chunkByteCount = 38

    let region: PixelRect
    let duration: Duration
    let disposal: StoredFrame.Disposal
    let blending: StoredFrame.Blending

    init?(_ body: Span<UInt8>) {
        guard body.count >= 26, let width = body.integer(at: 4, byteCount: 4),
            let height = body.integer(at: 8, byteCount: 4),
            let x = body.integer(at: 12, byteCount: 4),
            let y = body.integer(at: 16, byteCount: 4),
            let fraction = body.integer(at: 20, byteCount: 4),
            width > 0, height > 0
        else { return nil }
        region = PixelRect(x: x, y: y, width: width, height: height)
        // A denominator of 0 means 100.
        let denominator = fraction & 0xFFFF
        duration =
            .milliseconds(1_000) * (fraction >> 16) / (denominator == 0 ? 100 : denominator)
        disposal = body[24] == 1 ? .clear : body[24] == 2 ? .restore : .keep
        blending = body[25] == 1 ? .over : .replace
    }
}

/// Reads the frames of an animated PNG: the default image, if it is one, then those in `fdAT`.
struct PNGFrameReader: FrameReader {
    private let bytes: EncodedBytes
    private let header: PNGHeader
    private let samples: PNGSamples
    private let limits: DecodeLimits
    private var chunks: PNGChunkCursor
    private var index = 0

    init(_ bytes: EncodedBytes, _ header: PNGHeader, _ limits: DecodeLimits) {
        self.bytes = bytes
        self.header = header
        self.limits = limits
        samples = PNGSamples(header)
        chunks = header.dataChunks
    }

    mutating func next() throws(CodecError) -> StoredFrame? {
        guard index < header.imageHeader.frameCount else { return nil }
        let isFirst = index == 0
        index += 1
        return try bytes.withBytes { file throws(CodecError) in
            if isFirst, let first = header.firstFrame {
                return try frame(first, file, isLater: false)
            }
            while true {
                let chunk = try chunks.next(file)
                if chunk.type == "IEND" { return nil }
                guard chunk.type == "fcTL" else { continue }
                guard let control = PNGFrameControl(file.extracting(chunk.body)) else {
                    throw .malformed(
                        reason: "invalid fcTL chunk", offset: chunk.body.lowerBound)
                }
                return try frame(control, file, isLater: true)
            }
        }
    }

    /// Decodes the frame whose data chunks come next, and advances past them.
    private mutating func frame(
        _ control: PNGFrameControl, _ file: Span<UInt8>, isLater: Bool
    ) throws(CodecError) -> StoredFrame {
        let size = control.region.size
        guard PixelRect(header.layout.size).contains(control.region) else {
            throw .malformed(
                reason: "frame exceeds the image of \(header.layout.size)",
                offset: chunks.offset)
        }
        try limits.check(
            .memoryByteCount, 2 * PixelBuffer.byteCount(of: size, samples.format))
        var layout = header.layout
        layout.size = size
        var buffer = MutablePixelBuffer(size: size, format: samples.format)
        var source = try PNGFilteredRows(chunks, isLaterFrame: isLater)
        var y = 0
        var rows = PNGRows(layout, samples)
        try rows.forEach(in: file, &source) { row in
            buffer.withMutableRow(y) { result in
                for index in row.indices { result[index] = row[index] }
            }
            y += 1
        }
        chunks = try source.finishStream(file)
        return StoredFrame(
            region: control.region, duration: control.duration, disposal: control.disposal,
            blending: control.blending, image: buffer.finish())
    }
}
#endif
