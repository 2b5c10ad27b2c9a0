// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import EncodedImages
internal import Pixels

/// Reads the frames of an animation, each from its own `ANMF` chunk.
struct WebPFrameReader: FrameReader {
    private let bytes: EncodedBytes
    private let container: WebPContainer
    private let limits: DecodeLimits
    private var index = 0

    init(_ bytes: EncodedBytes, _ container: WebPContainer, _ limits: DecodeLimits) {
        self.bytes = bytes
        self.container = container
        self.limits = limits
    }

    mutating func next() throws(CodecError) -> StoredFrame? {
        guard index < container.frames.count else {
            if container.isTruncated { throw .truncated(byteCount: bytes.count) }
            return nil
        }
        let chunk = container.frames[index]
        index += 1
        return try bytes.withBytes { file throws(CodecError) in
            let frame = try WebPFrame(file, chunk, canvas: container.canvas)
            return StoredFrame(
                region: frame.region, duration: .milliseconds(frame.milliseconds),
                disposal: frame.clearsRegion ? .clear : .keep,
                blending: frame.isBlended ? .over : .replace,
                image: try image(frame.bitstream, file))
        }
    }

    private func image(
        _ bitstream: WebPBitstream, _ file: Span<UInt8>
    ) throws(CodecError) -> PixelBuffer {
        let format: PixelFormat = bitstream.hasAlpha ? .rgba8 : .rgb8
        try limits.check(
            .memoryByteCount,
            bitstream.memoryByteCount + PixelBuffer.byteCount(of: bitstream.size, format))
        var buffer = MutablePixelBuffer(size: bitstream.size, format: format)
        var y = 0
        var reader = try WebPReader(bitstream.hasAlpha ? .rgba : .rgb)
        try reader.forEachRow(
            bitstream, file, nil
        ) { row, _ throws(CodecError) in
            buffer.withMutableRow(y) { result in
                if format == .rgba8 {
                    PremultipliedAlpha.multiply(row, into: &result)
                } else {
                    for index in row.indices { result[index] = row[index] }
                }
            }
            y += 1
        }
        return buffer.finish()
    }
}
#endif
