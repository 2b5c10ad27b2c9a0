// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
internal import EncodedImages
internal import Pixels

/// Decodes both files at the same size and joins them row by row.
struct JPNGDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let footer = try footer(of: bytes)
        var header = try JPEGDecoder().header(
            of: bytes.extracting(footer.color), limits: limits)
        let mask = try PNGDecoder().header(of: bytes.extracting(footer.mask), limits: limits)
        guard mask.storedSize == header.storedSize else {
            throw .malformed(
                reason:
                    "mask of \(mask.storedSize) pixels for an image of \(header.storedSize)",
                offset: footer.mask.lowerBound)
        }
        header.hasAlpha = true
        header.facts.append(
            .init("JPNG version", "\(footer.majorVersion).\(footer.minorVersion)"))
        if footer.isOverWhite { header.facts.append(.init("matte", "white")) }
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let footer = try footer(of: bytes)
        let header = try header(of: bytes, limits: rows.limits)
        let factor = try rows.choose { $0.shrinkFactor(of: [2, 4, 8, 16]) }
        // Rounded down, because both images are resampled to this size; a side rounded up would
        // imply a partial last block.
        let size = PixelSize(
            width: max(1, header.storedSize.width / factor),
            height: max(1, header.storedSize.height / factor))
        // Both images and the result are in memory.
        try rows.limits.check(
            .memoryByteCount,
            PixelBuffer.byteCount(of: size, .rgb8) + PixelBuffer.byteCount(of: size, .gray8)
                + rows.resultByteCount(.rgba8))
        var options = DecodeOptions(box: size, mode: .stretch)
        options.appliesOrientation = false
        options.convertsToSRGB = false
        options.quality = rows.quality
        options.verifiesChecksums = rows.verifiesChecksums
        let color = try JPEGDecoder().decodedImage(
            nested: bytes.extracting(footer.color), options, limits: rows.limits,
            cancellation: rows.cancellation)
        let mask = try PNGDecoder().decodedImage(
            nested: bytes.extracting(footer.mask), options, limits: rows.limits,
            cancellation: rows.cancellation)
        rows.report = color.report
        rows.report.decoder = "jpng, \(color.report.decoder)"
        try rows.begin(size, .rgba8, header.colorProfile)
        var row = [UInt8](repeating: 0, count: size.width * 4)
        var alpha = [UInt8](repeating: 0, count: size.width)
        for y in 0..<size.height {
            var pixels = row.mutableSpan
            color.image.row(y).convert(from: color.image.format, to: .rgba8, into: &pixels)
            guard Self.read(mask.image.row(y), mask.image.format, into: &alpha) else {
                throw .malformed(
                    reason: "mask is neither grey nor has alpha", offset: footer.mask.lowerBound
                )
            }
            Self.join(&row, alpha, isOverWhite: footer.isOverWhite)
            try rows.append(row.span)
        }
    }

    private func footer(of bytes: Span<UInt8>) throws(CodecError) -> JPNGFooter {
        guard let footer = JPNGFooter(bytes) else { throw .truncated(byteCount: bytes.count) }
        guard footer.majorVersion <= 1 else {
            throw .unsupported(feature: "JPNG version \(footer.majorVersion)")
        }
        return footer
    }

    /// Copies the alpha channel of a mask, or its grey samples if it has none.
    ///
    /// - Returns: false if the mask has neither.
    private static func read(
        _ row: Span<UInt8>, _ format: PixelFormat, into alpha: inout [UInt8]
    ) -> Bool {
        let step = format.channelCount
        switch format {
        case .gray8: for x in alpha.indices { alpha[x] = row[x] }
        case .rgba8: for x in alpha.indices { alpha[x] = row[x * step + 3] }
        default:
            for x in alpha.indices {
                alpha[x] = row[x * step]
                if row[x * step + 1] != alpha[x] || row[x * step + 2] != alpha[x] {
                    return false
                }
            }
        }
        return true
    }

    /// Sets the alpha of opaque pixels and premultiplies them.
    private static func join(_ row: inout [UInt8], _ alpha: [UInt8], isOverWhite: Bool) {
        for x in alpha.indices where alpha[x] < 255 {
            let place = x * 4
            for channel in place..<place + 3 {
                if isOverWhite {
                    // Subtracts the white; JPEG's errors can exceed the valid range.
                    let white = 255 - alpha[x]
                    row[channel] = min(
                        alpha[x], row[channel] > white ? row[channel] - white : 0)
                } else {
                    row[channel] = PremultipliedAlpha.multiplied(row[channel], by: alpha[x])
                }
            }
            row[place + 3] = alpha[x]
        }
    }
}
#endif
