// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages
    internal import Pixels

    /// The rows of a file's picture from the top, as its samples become pixels.
    struct PNGRows {
        private let layout: PNGLayout
        private let samples: PNGSamples
        private let cancellation: CancellationFlag?

        init(
            _ layout: PNGLayout, _ samples: PNGSamples, cancellation: CancellationFlag? = nil
        ) {
            self.layout = layout
            self.samples = samples
            self.cancellation = cancellation
        }

        /// Calls `body` with each row; an interlaced picture is held whole before the first.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - source: the rows as they are compressed.
        ///   - body: takes as many bytes as the width and the format of the samples say.
        /// - Throws: ``CodecError`` for a damaged file, and what `body` throws.
        func forEach(
            in file: Span<UInt8>, _ source: inout PNGFilteredRows,
            _ body: (Span<UInt8>) throws(CodecError) -> Void
        ) throws(CodecError) {
            if layout.isInterlaced {
                try forEachInterlaced(file, &source, body)
            } else {
                try forEachInOrder(file, &source, body)
            }
        }

        private func forEachInOrder(
            _ file: Span<UInt8>, _ source: inout PNGFilteredRows,
            _ body: (Span<UInt8>) throws(CodecError) -> Void
        ) throws(CodecError) {
            let width = layout.size.width
            var room = [UInt8](repeating: 0, count: samples.roomByteCount(width: width))
            source.beginRows(byteCount: layout.rowByteCount(width: width))
            for _ in 0..<layout.size.height {
                try source.withNextRow(
                    file, distance: layout.filterDistance
                ) { row throws(CodecError) in
                    if samples.convert(row, width: width, into: &room) {
                        try body(
                            room.span.extracting(first: width * samples.format.bytesPerPixel))
                    } else {
                        try body(row)
                    }
                }
            }
        }

        /// Adam7: seven small pictures, each of every eighth, fourth or second pixel.
        private func forEachInterlaced(
            _ file: Span<UInt8>, _ source: inout PNGFilteredRows,
            _ body: (Span<UInt8>) throws(CodecError) -> Void
        ) throws(CodecError) {
            let passes = [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
                (0, 1, 1, 2),
            ]
            let bytesPerPixel = samples.format.bytesPerPixel
            var picture = MutablePixelBuffer(size: layout.size, format: samples.format)
            var room = [UInt8](
                repeating: 0, count: samples.roomByteCount(width: layout.size.width))
            for (left, top, columnStep, rowStep) in passes {
                let width = (layout.size.width - left + columnStep - 1) / columnStep
                guard width > 0, top < layout.size.height else { continue }
                source.beginRows(byteCount: layout.rowByteCount(width: width))
                for y in stride(from: top, to: layout.size.height, by: rowStep) {
                    if cancellation?.isCancelled == true { throw .cancelled }
                    try source.withNextRow(
                        file, distance: layout.filterDistance
                    ) { row throws(CodecError) in
                        if !samples.convert(row, width: width, into: &room) {
                            PNGRowKernels.copy(row, into: &room)
                        }
                        picture.withMutableRow(y) { result in
                            PNGRowKernels.spread(
                                room, count: width, bytesPerPixel: bytesPerPixel, into: &result,
                                first: left, step: columnStep)
                        }
                    }
                }
            }
            let whole = picture.finish()
            for y in 0..<layout.size.height { try body(whole.row(y)) }
        }
    }
#endif
