// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages
    internal import Pixels

    /// The rows of a file's picture from the top, as its samples become pixels.
    struct PNGRows {
        private let header: PNGHeader
        private let samples: PNGSamples
        private let verifiesChecksums: Bool
        private let cancellation: CancellationFlag?

        init(
            _ header: PNGHeader, _ samples: PNGSamples, verifiesChecksums: Bool = true,
            cancellation: CancellationFlag? = nil
        ) {
            self.header = header
            self.samples = samples
            self.verifiesChecksums = verifiesChecksums
            self.cancellation = cancellation
        }

        /// Calls `body` with each row; an interlaced picture is held whole before the first.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - body: takes as many bytes as the width and the format of the samples say.
        /// - Throws: ``CodecError`` for a damaged file, and what `body` throws.
        func forEach(
            in file: Span<UInt8>, _ body: (Span<UInt8>) throws(CodecError) -> Void
        ) throws(CodecError) {
            var source = try PNGFilteredRows(
                dataOffset: header.dataOffset, verifiesChecksums: verifiesChecksums)
            if header.layout.isInterlaced {
                try decodeInterlaced(file, header.layout, samples, &source, body)
            } else {
                try decodeRows(file, header.layout, samples, &source, body)
            }
            try source.finish(file)
        }

        private func decodeRows(
            _ bytes: Span<UInt8>, _ layout: PNGLayout, _ samples: PNGSamples,
            _ source: inout PNGFilteredRows, _ body: (Span<UInt8>) throws(CodecError) -> Void
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
                    if samples.isIdentity { return try body(row.span) }
                    samples.convert(row.span, width: width, into: &pixels)
                    try body(pixels.span)
                }
            }
        }

        /// Adam7: seven small pictures, each of every eighth, fourth or second pixel.
        private func decodeInterlaced(
            _ bytes: Span<UInt8>, _ layout: PNGLayout, _ samples: PNGSamples,
            _ source: inout PNGFilteredRows, _ body: (Span<UInt8>) throws(CodecError) -> Void
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
                    if cancellation?.isCancelled == true { throw .cancelled }
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
            for y in 0..<layout.size.height { try body(whole.row(y)) }
        }
    }
#endif
