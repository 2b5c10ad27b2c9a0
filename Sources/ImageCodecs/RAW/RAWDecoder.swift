// SPDX-License-Identifier: Apache-2.0

#if RAW
internal import CRAW
internal import EncodedImages
internal import Pixels

/// Decodes a sufficiently large preview, otherwise develops the sensor data with LibRaw.
struct RAWDecoder: ImageDecoder {
    /// The maximum relative difference of a preview's proportions; cameras crop previews a
    /// little.
    private static let maximumDistortion = 0.02

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let (info, camera) = try info(of: bytes, limits)
        var header = ImageHeader(
            storedSize: PixelSize(width: Int(info.width), height: Int(info.height)),
            colorModel: info.channels == 1 ? .gray : .rgb, bitsPerComponent: 16)
        guard header.storedSize.width > 0, header.storedSize.height > 0 else {
            throw .malformed(reason: "invalid image size: \(header.storedSize)", offset: 0)
        }
        header.orientation =
            Orientation(rawValue: UInt8(clamping: info.orientation)) ?? .upright
        header.facts.append(.init("camera", camera))
        let previews = previews(bytes, limits)
        header.thumbnail = previews.first { isSimilar($0.size, header.storedSize) }?.range
        if let largest = previews.last {
            header.facts.append(.init("preview", "\(largest.size)"))
        }
        return header
    }

    private func info(
        of bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> (calotype_raw_info, camera: String) {
        try unsafe bytes.withUnsafeBufferPointer {
            buffer throws(CodecError) -> (calotype_raw_info, camera: String) in
            let reader = try unsafe RAWReader.opening(buffer, limits: limits)
            let camera = reader.camera
            return (try reader.info(), camera)
        }
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        var blocks = EXIFExtraction.blocks(inTIFF: bytes)
        #if JPEG
        if blocks.exif == nil, let preview = previews(bytes, limits).last {
            blocks = try JPEGMetadata.read(bytes.extracting(preview.range), limits)
        }
        #endif
        let count = [blocks.exif, blocks.xmp, blocks.iptc].compactMap { $0?.count }.max() ?? 0
        try limits.check(.metadataByteCount, count)
        return blocks
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        #if JPEG
        if try decodePreview(bytes, into: &rows) { return }
        #endif
        try develop(bytes, into: &rows)
    }

    // MARK: Previews

    private struct Preview {
        let range: Range<Int>
        let size: PixelSize
    }

    /// Returns the previews that can be decoded, the smallest first.
    private func previews(_ file: Span<UInt8>, _ limits: DecodeLimits) -> [Preview] {
        #if JPEG
        var previews: [Preview] = []
        for range in RAWDirectories.previewRanges(file) {
            if let size = imageSize(file.extracting(range), limits) {
                previews.append(Preview(range: range, size: size))
            }
        }
        return previews.sorted { $0.size.area < $1.size.area }
        #else
        return []
        #endif
    }

    private func isSimilar(_ preview: PixelSize, _ image: PixelSize) -> Bool {
        let ratio =
            Double(preview.width) * Double(image.height)
            / (Double(preview.height) * Double(image.width))
        return abs(ratio - 1) <= Self.maximumDistortion
    }

    #if JPEG
    /// Returns the size of a JPEG preview; `nil` for sensor data, which may be a lossless
    /// JPEG.
    private func imageSize(_ file: Span<UInt8>, _ limits: DecodeLimits) -> PixelSize? {
        guard let header = try? JPEGDecoder().header(of: file, limits: limits),
            header.bitsPerComponent == 8, header.colorModel != .cmyk,
            !header.facts.contains(where: { $0.value.hasPrefix("lossless") }),
            (try? limits.check(header.storedSize)) != nil
        else { return nil }
        return header.storedSize
    }

    /// Returns whether a preview is large enough for the result.
    private func isSufficient(_ size: PixelSize, for plan: DecodePlan) -> Bool {
        isSimilar(size, plan.storedSize)
            && plan.stored(at: size).reduction(ofChroma: false) >= 1
    }

    /// Decodes from a preview if one is large enough.
    ///
    /// - Returns: whether it did; otherwise no row was appended.
    private func decodePreview(
        _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) -> Bool {
        guard try rows.choose({ $0.reduction(ofChroma: false) > 1 }) else { return false }
        let previews = previews(bytes, rows.limits)
        let index = try rows.choose { plan in
            previews.firstIndex { isSufficient($0.size, for: plan) }
        }
        if let index {
            let preview = previews[index]
            try decode(bytes.extracting(preview.range), preview.size, into: &rows)
            return true
        }
        guard let file = try largestPreview(bytes, &rows),
            let size = imageSize(file.span, rows.limits),
            try rows.choose({ isSufficient(size, for: $0) })
        else { return false }
        try decode(file.span, size, into: &rows)
        return true
    }

    private func decode(
        _ preview: Span<UInt8>, _ size: PixelSize, into rows: inout RowSink
    ) throws(CodecError) {
        rows.decodes(copyOfSize: size)
        try JPEGDecoder().decode(preview, into: &rows)
        rows.report.decoder = "preview of \(size), \(rows.report.decoder)"
    }

    /// Returns LibRaw's preview, for files whose structure only LibRaw parses.
    private func largestPreview(
        _ bytes: Span<UInt8>, _ rows: inout RowSink
    ) throws(CodecError) -> [UInt8]? {
        let limits = rows.limits
        let info = try info(of: bytes, limits).0
        guard info.has_jpeg, info.jpeg_count <= bytes.count else { return nil }
        let stated = PixelSize(
            width: Int(info.jpeg_width), height: Int(info.jpeg_height))
        let maySuffice = try rows.choose {
            stated.width <= 0 || stated.height <= 0 || isSufficient(stated, for: $0)
        }
        guard maySuffice else { return nil }
        try limits.check(.memoryByteCount, info.jpeg_count)
        return try unsafe bytes.withUnsafeBufferPointer {
            buffer throws(CodecError) -> [UInt8]? in
            try unsafe RAWReader.opening(buffer, limits: limits).preview()
        }
    }
    #endif

    // MARK: Developing

    private func develop(
        _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) {
        let info = try info(of: bytes, rows.limits).0
        let shrink = info.is_mosaic ? try rows.choose { $0.shrinkFactor(of: [2]) } : 1
        // The sensor data, the image in four 16-bit channels, and the result in three.
        let sensor = Int(info.sensor_width) * Int(info.sensor_height)
        let image = rows.storedSize.area / (shrink * shrink)
        try rows.workLimits.check(
            .memoryByteCount, sensor * (info.is_mosaic ? 2 : 8) + image * (8 + 6))
        let limits = rows.limits
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(CodecError) in
            let reader = try unsafe RAWReader.opening(buffer, limits: limits)
            try develop(reader, shrink, byteCount: buffer.count, into: &rows)
        }
    }

    private func develop(
        _ reader: borrowing RAWReader, _ shrink: Int, byteCount: Int,
        into rows: inout RowSink
    ) throws(CodecError) {
        try reader.decode(
            isHalved: shrink == 2, isDraft: rows.quality == .fast, rows.cancellation)
        rows.report = DecodeReport(decoder: "LibRaw", shrinkFactors: [shrink])
        try reader.withPixels { size, channelCount, pixels throws(CodecError) in
            try rows.begin(size, channelCount == 1 ? .gray16 : .rgb16, .sRGB)
            let bytesPerRow = size.width * channelCount * 2
            for y in 0..<size.height {
                let start = y * bytesPerRow
                try rows.append(pixels.extracting(start..<start + bytesPerRow))
            }
        }
        // LibRaw continues after damage; its image then has holes.
        let problem: CodecError? =
            reader.isTruncated
            ? .truncated(byteCount: byteCount)
            : reader.isDamaged
                ? .malformed(reason: "damaged sensor data", offset: 0) : nil
        guard let problem else { return }
        guard rows.acceptsTruncated, reader.isTruncated else { throw problem }
        rows.report.problem = problem
    }
}
#endif
