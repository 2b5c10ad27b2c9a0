// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages
    internal import Pixels

    /// Decodes row by row; an interlaced picture takes memory for all of it.
    struct PNGDecoder: ImageDecoder {
        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            try PNGHeader(bytes, limits: limits).imageHeader
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            let header = try PNGHeader(bytes, limits: rows.limits)
            let samples = PNGSamples(header)
            let size = header.layout.size
            if header.layout.isInterlaced {
                try rows.limits.check(
                    .memoryByteCount, PixelBuffer.byteCount(of: size, samples.format))
            }
            try rows.begin(size, samples.format, header.imageHeader.colorProfile)
            var source = try PNGFilteredRows(dataOffset: header.dataOffset)
            if header.layout.isInterlaced {
                try decodeInterlaced(bytes, header.layout, samples, &source, &rows)
            } else {
                try decodeRows(bytes, header.layout, samples, &source, &rows)
            }
            try source.finish(bytes)
        }

        private func decodeRows(
            _ bytes: Span<UInt8>, _ layout: PNGLayout, _ samples: PNGSamples,
            _ source: inout PNGFilteredRows, _ rows: inout RowSink
        ) throws(CodecError) {
            let width = layout.size.width
            let rowByteCount = layout.rowByteCount(width: width)
            var previous = [UInt8](repeating: 0, count: rowByteCount)
            var pixels = [UInt8](repeating: 0, count: width * samples.format.bytesPerPixel)
            for _ in 0..<layout.size.height {
                try source.withNextRow(
                    bytes, byteCount: rowByteCount, distance: layout.filterDistance,
                    previous: &previous
                ) { row throws(CodecError) in
                    if samples.isIdentity { return try rows.append(row.span) }
                    samples.convert(row.span, width: width, into: &pixels)
                    try rows.append(pixels.span)
                }
            }
        }

        /// Adam7: seven small pictures, each of every eighth, fourth or second pixel.
        private func decodeInterlaced(
            _ bytes: Span<UInt8>, _ layout: PNGLayout, _ samples: PNGSamples,
            _ source: inout PNGFilteredRows, _ rows: inout RowSink
        ) throws(CodecError) {
            let passes = [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
                (0, 1, 1, 2),
            ]
            let pixelByteCount = samples.format.bytesPerPixel
            var picture = MutablePixelBuffer(size: layout.size, format: samples.format)
            var pixels = [UInt8](repeating: 0, count: layout.size.width * pixelByteCount)
            for (left, top, columnStep, rowStep) in passes {
                let width = (layout.size.width - left + columnStep - 1) / columnStep
                guard width > 0, top < layout.size.height else { continue }
                let rowByteCount = layout.rowByteCount(width: width)
                var previous = [UInt8](repeating: 0, count: rowByteCount)
                for y in stride(from: top, to: layout.size.height, by: rowStep) {
                    if rows.cancellation?.isCancelled == true { throw .cancelled }
                    try source.withNextRow(
                        bytes, byteCount: rowByteCount, distance: layout.filterDistance,
                        previous: &previous
                    ) { row throws(CodecError) in
                        if samples.isIdentity {
                            for i in 0..<width * pixelByteCount { pixels[i] = row[i] }
                        } else {
                            samples.convert(row.span, width: width, into: &pixels)
                        }
                    }
                    picture.withMutableRow(y) { result in
                        for x in 0..<width {
                            let place = (left + x * columnStep) * pixelByteCount
                            for byte in 0..<pixelByteCount {
                                result[place + byte] = pixels[x * pixelByteCount + byte]
                            }
                        }
                    }
                }
            }
            let whole = picture.finish()
            for y in 0..<layout.size.height { try rows.append(whole.row(y)) }
        }
    }
#endif
