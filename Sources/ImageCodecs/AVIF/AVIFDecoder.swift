// SPDX-License-Identifier: Apache-2.0

#if AVIF
internal import EncodedImages
internal import Pixels

/// Decodes AVIF with libavif.
struct AVIFDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let reader = try AVIFReader(limits, readsMetadata: false)
        try reader.parse(bytes)
        var header = try reader.info.header(limits)
        if header.frameCount > 1 {
            header.loopCount = SequenceLoops.count(bytes)
        } else {
            header.hasGainMap = ItemGainMap.isPresent(in: bytes)
        }
        return header
    }

    func gainMap(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> GainMap? {
        try ItemGraph.check(bytes, limits)
        return ItemGainMap.read(bytes, limits)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let reader = try AVIFReader(rows.limits, readsMetadata: false)
        try reader.parse(bytes)
        let info = reader.info
        try rows.workLimits.check(.memoryByteCount, info.memoryByteCount)
        if rows.cancellation?.isCancelled == true { throw .cancelled }
        let profile = try info.header(rows.limits).colorProfile
        rows.report = DecodeReport(decoder: "libavif")
        let isDecoded = try reader.next(bytes) { image throws(CodecError) in
            rows.report.shrinkFactors = image.planes.map { _ in 1 }
            try image.append(to: &rows, profile)
        }
        guard isDecoded else { throw .malformed(reason: "no image item", offset: 0) }
    }

    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? {
        try AVIFFrameReader(bytes, limits)
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        let reader = try AVIFReader(limits, readsMetadata: true)
        try reader.parse(bytes)
        return try reader.metadata(limits)
    }
}

/// Reads the frames of a sequence; each covers the whole image.
private final class AVIFFrameReader: FrameReader {
    private let bytes: EncodedBytes
    private let reader: AVIFReader
    private let profile: ColorProfile

    init(_ bytes: EncodedBytes, _ limits: DecodeLimits) throws(CodecError) {
        let reader = try AVIFReader(limits, readsMetadata: false)
        try bytes.withBytes { file throws(CodecError) in try reader.parse(file) }
        let info = reader.info
        try limits.check(.memoryByteCount, info.memoryByteCount)
        profile = try info.header(limits).colorProfile
        self.bytes = bytes
        self.reader = reader
    }

    func next() throws(CodecError) -> StoredFrame? {
        var frame: StoredFrame?
        let profile = profile
        try bytes.withBytes { file throws(CodecError) in
            _ = try reader.next(file) { picture in
                let image = picture.image(profile)
                frame = StoredFrame(
                    region: PixelRect(image.size), duration: .zero, image: image)
            }
        }
        frame?.duration = reader.duration
        return frame
    }
}
#endif
