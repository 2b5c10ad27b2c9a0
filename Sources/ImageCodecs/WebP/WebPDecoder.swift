// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import EncodedImages
internal import Pixels

/// Decodes with libwebp, which holds the whole image until its last row has been delivered.
struct WebPDecoder: ImageDecoder {
    /// The reduction from which the effect of the deblocking filter is invisible.
    private static let unfilteredReduction = 8.0

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let container = try WebPContainer(bytes)
        var header = ImageHeader(
            storedSize: container.canvas, colorModel: .rgb, bitsPerComponent: 8)
        header.hasAlpha = container.hasAlpha
        header.colorProfile = profile(container, bytes, limits)
        header.frameCount = max(1, container.frames.count)
        header.loopCount = container.isAnimated ? container.loopCount : 1
        header.endsEarly = container.lacksChunks
        if let exif = container.exifBlock {
            try limits.check(.metadataByteCount, exif.count)
            header.orientation = EXIF(bytes.extracting(exif)).orientation ?? .upright
        }
        if let still = container.still {
            header.facts.append(
                .init("compression", still.isLossless ? "lossless" : "lossy"))
        }
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let container = try WebPContainer(bytes)
        let profile = profile(container, bytes, rows.limits)
        rows.report = DecodeReport(decoder: "libwebp", shrinkFactors: [1])
        if let still = container.still {
            try rows.workLimits.check(.memoryByteCount, still.memoryByteCount)
            // Truncated planes cannot be completed.
            let isWhole = still.range.upperBound <= bytes.count
            let isPlanar = isWhole && !still.isLossless && !still.hasAlpha
            let isWorthPlanes = try rows.choose { self.isWorthPlanes($0) }
            if isPlanar && isWorthPlanes {
                try decodePlanes(still, bytes, profile, into: &rows)
            } else {
                let format: PixelFormat = still.hasAlpha ? .rgba8 : .rgb8
                try rows.begin(still.size, format, profile)
                try decode(still, bytes, into: &rows)
            }
        } else if let first = container.frames.first {
            try decode(
                try WebPFrame(bytes, first, canvas: container.canvas), container.canvas, bytes,
                profile, into: &rows)
        }
        let image = container.still?.range ?? container.frames.first?.body
        let isComplete = image.map { $0.upperBound <= bytes.count } ?? false
        if container.isTruncated, !rows.acceptsTruncated || !isComplete {
            throw .truncated(byteCount: bytes.count)
        }
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        let container = try WebPContainer(bytes)
        var blocks = MetadataBlocks()
        if let exif = container.exifBlock {
            try limits.check(.metadataByteCount, exif.count)
            blocks.exif = exif.map { bytes[$0] }
        }
        if let xmp = container.xmp {
            try limits.check(.metadataByteCount, xmp.count)
            blocks.xmp = xmp.map { bytes[$0] }
        }
        return blocks
    }

    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? {
        let container = try bytes.withBytes { file throws(CodecError) in
            try WebPContainer(file)
        }
        guard container.isAnimated else { return nil }
        return WebPFrameReader(bytes, container, limits)
    }

    func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? { WebPIncrementalDecoder() }

    func profile(
        _ container: WebPContainer, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) -> ColorProfile {
        guard let range = container.profile, !range.isEmpty,
            limits.allowsProfile(byteCount: range.count)
        else { return .sRGB }
        return .icc(range.map { file[$0] })
    }

    /// Decodes the first frame onto the transparent canvas.
    private func decode(
        _ frame: WebPFrame, _ canvas: PixelSize, _ file: Span<UInt8>, _ profile: ColorProfile,
        into rows: inout RowSink
    ) throws(CodecError) {
        try rows.workLimits.check(.memoryByteCount, frame.bitstream.memoryByteCount)
        if frame.region.size == canvas {
            let format: PixelFormat = frame.bitstream.hasAlpha ? .rgba8 : .rgb8
            try rows.begin(canvas, format, profile)
            return try decode(frame.bitstream, file, into: &rows)
        }
        try rows.begin(canvas, .rgba8, profile)
        let empty = [UInt8](repeating: 0, count: canvas.width * 4)
        var row = empty
        for _ in 0..<frame.region.y { try rows.append(empty.span) }
        var reader = try WebPReader(.rgba)
        try reader.forEachRow(
            frame.bitstream, file, rows.cancellation
        ) { pixels, _ throws(CodecError) in
            let left = frame.region.x * 4
            for index in pixels.indices { row[left + index] = pixels[index] }
            var span = row.mutableSpan
            PremultipliedAlpha.multiply(&span)
            try rows.append(row.span)
        }
        let bottom = frame.region.y + frame.region.height
        for _ in bottom..<canvas.height { try rows.append(empty.span) }
    }

    private func decode(
        _ bitstream: WebPBitstream, _ file: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) {
        var reader = try WebPReader(bitstream.hasAlpha ? .rgba : .rgb)
        guard bitstream.hasAlpha else {
            return try reader.forEachRow(
                bitstream, file, rows.cancellation
            ) { row, _ throws(CodecError) in try rows.append(row) }
        }
        var premultiplied = [UInt8](repeating: 0, count: bitstream.size.width * 4)
        try reader.forEachRow(
            bitstream, file, rows.cancellation
        ) { row, _ throws(CodecError) in
            var span = premultiplied.mutableSpan
            PremultipliedAlpha.multiply(row, into: &span)
            try rows.append(premultiplied.span)
        }
    }

    /// Returns whether planes are resampled separately: that avoids converting pixels that are
    /// discarded, and a JPEG is encoded from them without a detour through RGB.
    private func isWorthPlanes(_ plan: DecodePlan) -> Bool {
        plan.keepsYCbCr || plan.reduction(ofChroma: false) > 1.25
    }

    private func decodePlanes(
        _ bitstream: WebPBitstream, _ file: Span<UInt8>, _ profile: ColorProfile,
        into rows: inout RowSink
    ) throws(CodecError) {
        let size = bitstream.size
        let half = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        let color = SourcePlane(size: half, horizontalScale: 0.5, verticalScale: 0.5)
        try rows.beginYCbCr(
            [SourcePlane(size: size, horizontalScale: 1, verticalScale: 1), color, color],
            profile)
        rows.report.shrinkFactors = [1, 2, 2]
        var full = [UInt8](repeating: 0, count: size.width)
        let smoothing = try rows.choose {
            $0.reduction(ofChroma: false) < Self.unfilteredReduction
        }
        var reader = try WebPReader(.yuv, smoothsBlocks: smoothing)
        try reader.forEachRow(
            bitstream, file, rows.cancellation
        ) { row, plane throws(CodecError) in
            VideoRange.widen(row, isColor: plane > 0, into: &full)
            try rows.append(full.span.extracting(first: row.count), plane: plane)
        }
    }
}
#endif
