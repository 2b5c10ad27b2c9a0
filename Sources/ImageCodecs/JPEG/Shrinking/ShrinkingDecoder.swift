// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// What a ``ShrinkingDecoder`` is going to deliver.
    struct ShrunkPicture {
        var frame: JPEGFrame
        var colorSpace: JPEGScanReader.ColorSpace
        /// Whether amounts of ink are stored as amounts of light, as Adobe's programs do.
        var isInverted: Bool
        /// By component: the samples across and down that a block becomes.
        var blockSides: [Int]
        /// By component: 64 factors in zigzag order.
        var quantization: [[UInt16]]

        func size(of component: Int) -> PixelSize {
            frame.size(of: component, blockSide: blockSides[component])
        }

        /// The samples of all components.
        var sampleCount: Int { blockSides.indices.reduce(0) { $0 + size(of: $1).area } }
    }

    /// Takes the rows of the components of a picture, each component's from the top.
    protocol ComponentSink: ~Copyable {
        /// Called first of all.
        ///
        /// - Returns: by component the samples across and down that a block becomes: 1, 2, 4 or 8;
        ///   `nil` where the picture as a whole is needed at its full size.
        mutating func blockSides(
            _ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace
        ) throws(CodecError) -> [Int]?
        /// Called once, before the first row.
        mutating func begin(_ picture: ShrunkPicture) throws(CodecError)
        mutating func append(_ row: Span<UInt8>, component: Int) throws(CodecError)
    }

    /// Decodes of each block only the coefficients that a smaller picture shows.
    ///
    /// A file that is damaged, or of a kind that is not handled here, goes to libjpeg-turbo from its
    /// beginning, so who takes the rows forgets those that came before that was known.
    struct ShrinkingDecoder {
        let limits: DecodeLimits
        let cancellation: CancellationFlag?
        /// Gives back the memory of what has been read of the file.
        var releaseInput: (@Sendable (Range<Int>) -> Void)?
        /// Whether the scans that refine a progressive picture are left out.
        var isDraft = false
        /// How much of a sequential scan is looked at at a time; tests ask for less.
        var windowByteCount = EntropyCodedData.windowByteCount
        /// From how many blocks on a ``BandTable`` is made; tests ask for fewer.
        var leastBlocksOfTable = BandTable.leastBlockCount

        func decode(
            _ file: Span<UInt8>, into sink: inout some ComponentSink & ~Copyable
        ) throws(ShrinkingStop) {
            var script = JPEGScanReader()
            guard let first = try script.next(file), let frame = script.frame else {
                throw .notHandled
            }
            // What colours are meant is settled before the first scan, as in libjpeg-turbo; a
            // marker behind it changes nothing.
            guard let sides = try blockSides(frame, script.colorSpace, &sink) else {
                throw .notHandled
            }
            var picture = ShrunkPicture(
                frame: frame, colorSpace: script.colorSpace, isInverted: script.isInverted,
                blockSides: sides, quantization: [])
            if frame.isProgressive {
                try decodeProgressive(first, &picture, &script, file, into: &sink)
            } else {
                try decodeSequential(first, &picture, &script, file, into: &sink)
            }
        }

        private func checkCancellation() throws(ShrinkingStop) {
            if cancellation?.isCancelled == true { throw .failed(.cancelled) }
        }

        private func check(_ name: DecodeLimits.Name, _ needed: Int) throws(ShrinkingStop) {
            try ShrinkingStop.wrap { () throws(CodecError) in try limits.check(name, needed) }
        }

        private func blockSides(
            _ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace,
            _ sink: inout some ComponentSink & ~Copyable
        ) throws(ShrinkingStop) -> [Int]? {
            try ShrinkingStop.wrap { () throws(CodecError) in try sink.blockSides(frame, space) }
        }

        private func begin(
            _ picture: ShrunkPicture, _ sink: inout some ComponentSink & ~Copyable
        ) throws(ShrinkingStop) {
            try ShrinkingStop.wrap { () throws(CodecError) in try sink.begin(picture) }
        }

        // MARK: Sequential

        private func decodeSequential(
            _ first: JPEGScan, _ picture: inout ShrunkPicture, _ script: inout JPEGScanReader,
            _ file: Span<UInt8>, into sink: inout some ComponentSink & ~Copyable
        ) throws(ShrinkingStop) {
            let frame = picture.frame
            // Rows of components that have scans of their own wait for one another.
            let isInterleaved = first.parts.count == frame.components.count
            let left = limits.maximumMemoryByteCount - (isInterleaved ? 0 : picture.sampleCount)
            let window = min(windowByteCount, file.count)
            guard window * SequentialScan.byteCountPerByte <= left else { throw .notHandled }
            try begin(picture, &sink)
            var next: JPEGScan? = first
            var missing = Set(frame.components.indices)
            while let scan = next {
                for part in scan.parts where missing.remove(part.component) == nil {
                    throw .notHandled
                }
                picture.quantization = script.quantization.map { $0 ?? [] }
                let end = try SequentialScan(scan, frame).read(
                    file, windowByteCount: window, memoryByteCount: left, picture, cancellation,
                    releaseInput, into: &sink)
                script.skip(to: end)
                // What stands behind the last scan is nobody's business.
                next = missing.isEmpty ? nil : try script.next(file)
            }
            guard missing.isEmpty else { throw .notHandled }
        }

        // MARK: Progressive

        /// Reads the scans that bring what is kept, and only looks for the ends of the others.
        private func decodeProgressive(
            _ first: JPEGScan, _ picture: inout ShrunkPicture, _ script: inout JPEGScanReader,
            _ file: Span<UInt8>, into sink: inout some ComponentSink & ~Copyable
        ) throws(ShrinkingStop) {
            let frame = picture.frame
            try check(
                .memoryByteCount,
                ProgressivePicture.byteCount(frame, blockSides: picture.blockSides))
            var coefficients = ProgressivePicture(frame, blockSides: picture.blockSides)
            var next: JPEGScan? = first
            var count = 0
            while let scan = next {
                count += 1
                try check(.scanCount, count)
                try checkCancellation()
                guard coefficients.note(scan) else { throw .notHandled }
                let end: Int
                if isWanted(scan, coefficients) {
                    let data = EntropyCodedData(file, from: scan.dataStart, releaseInput)
                    end = data.end
                    try ProgressiveScan(scan, frame, data).read(
                        into: &coefficients, leastBlocksOfTable: leastBlocksOfTable)
                } else {
                    end = EntropyCodedData.end(file, from: scan.dataStart, releaseInput)
                }
                script.skip(to: end)
                releaseInput?(scan.dataStart..<end)
                next = coefficients.isComplete(asDraft: isDraft) ? nil : try script.next(file)
            }
            guard coefficients.hasEveryFirstCoefficient else { throw .notHandled }
            picture.quantization = script.quantization.map { $0 ?? [] }
            try begin(picture, &sink)
            try ShrinkingStop.wrap { () throws(CodecError) in
                try coefficients.deliver(picture, cancellation, into: &sink)
            }
        }

        private func isWanted(_ scan: JPEGScan, _ coefficients: ProgressivePicture) -> Bool {
            guard !isDraft || scan.high == 0 else { return false }
            guard scan.band.lowerBound > 0 else { return true }
            let component = coefficients.components[scan.parts[0].component]
            guard component.blockSide > 1 else { return false }
            return !isDraft || component.keeps(any: scan.band)
        }
    }
#endif
