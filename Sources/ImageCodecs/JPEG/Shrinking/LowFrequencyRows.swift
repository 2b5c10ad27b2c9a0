// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// Turns the coefficients of rows of blocks into rows of samples, and gives these out.
    struct LowFrequencyRows {
        /// By component of the scan, and by row of blocks within a mcu.
        let rows: [[LowFrequencyRow]]
        /// The coefficients of one row of mcus; all zeros when it begins.
        var coefficients: [Int16]
        /// Which component of the picture each component of the scan is.
        private let components: [Int]
        /// By component of the scan: the size that is delivered, and how much of it has been.
        private let sizes: [PixelSize]
        private var delivered: [Int]
        /// The samples of a row of blocks.
        private var samples: [UInt8]

        /// - Parameters:
        ///   - picture: what is delivered.
        ///   - components: those that are in the scan.
        ///   - blocks: by component of the scan, blocks across the picture and down a mcu.
        init(_ picture: ShrunkPicture, _ components: [Int], blocks: [(across: Int, down: Int)]) {
            var count = 0
            var rows: [[LowFrequencyRow]] = []
            for (component, blocks) in zip(components, blocks) {
                rows.append([])
                for _ in 0..<blocks.down {
                    let row = LowFrequencyRow(
                        blockSide: picture.blockSides[component], blockCount: blocks.across,
                        quantization: picture.quantization[component], start: count)
                    rows[rows.count - 1].append(row)
                    count += row.count
                }
            }
            self.rows = rows
            self.components = components
            sizes = components.map { picture.size(of: $0) }
            delivered = components.map { _ in 0 }
            let sampleCount = rows.joined().reduce(0) { max($0, $1.sampleCount) }
            samples = Array(repeating: 0, count: sampleCount)
            coefficients = Array(repeating: 0, count: count)
        }

        /// Gives out the samples of a row of mcus, and makes room for the next one's coefficients.
        mutating func deliver(
            into sink: inout some ComponentSink & ~Copyable
        ) throws(CodecError) {
            for (index, component) in components.enumerated() {
                let size = sizes[index]
                for row in rows[index] where delivered[index] < size.height {
                    row.makeSamples(from: coefficients, into: &samples)
                    let count = min(row.blockSide, size.height - delivered[index])
                    for y in 0..<count {
                        let start = y * row.blockSide * row.stride
                        try sink.append(
                            samples.span.extracting(start..<start + size.width),
                            component: component)
                    }
                    delivered[index] += count
                }
            }
            for i in coefficients.indices { coefficients[i] = 0 }
        }
    }

    extension ProgressivePicture {
        func deliver(
            _ picture: ShrunkPicture, _ cancellation: CancellationFlag?,
            into sink: inout some ComponentSink & ~Copyable
        ) throws(CodecError) {
            let frame = picture.frame
            var rows = LowFrequencyRows(
                picture, Array(components.indices),
                blocks: components.indices.map {
                    (components[$0].blocksAcross, frame.components[$0].verticalSampling)
                })
            for y in 0..<frame.mcusDown {
                if cancellation?.isCancelled == true { throw .cancelled }
                for (index, component) in components.enumerated() {
                    for (j, row) in rows.rows[index].enumerated() {
                        copy(
                            component, y * rows.rows[index].count + j, row,
                            into: &rows.coefficients)
                    }
                }
                try rows.deliver(into: &sink)
            }
        }

        private func copy(
            _ component: Component, _ y: Int, _ row: LowFrequencyRow,
            into target: inout [Int16]
        ) {
            let size = component.blockSide * component.blockSide
            let start = component.start + y * component.blocksAcross * size
            let count = component.blocksAcross
            precondition(
                start + count * size <= coefficients.count && row.start + row.count <= target.count
                    && count <= row.stride, "a row is longer than its buffer")
            unsafe coefficients.withUnsafeBufferPointer { coefficients in
                unsafe target.withUnsafeMutableBufferPointer { target in
                    guard let coefficients = coefficients.baseAddress,
                        let target = target.baseAddress
                    else { return }
                    for (zigzag, place) in component.keptIndices.enumerated() where place >= 0 {
                        var source = unsafe coefficients + (start + place)
                        let row = unsafe target + (row.start + row.offset(ofZigzag: zigzag))
                        for x in 0..<count {
                            unsafe row[x] = source.pointee
                            unsafe source += size
                        }
                    }
                }
            }
        }
    }
#endif
