// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// Transforms rows of blocks into rows of samples, and passes these to a sink.
struct LowFrequencyRows {
    /// By scan component and row of blocks within an MCU (T.81 A.2).
    let rows: [[LowFrequencyRow]]
    /// The coefficients of one row of MCUs; zeros before decoding.
    var coefficients: [Int16]
    /// By scan component: the index of the component in the frame.
    private let components: [Int]
    /// By scan component: the size to deliver, and the number of rows delivered.
    private let sizes: [PixelSize]
    private var delivered: [Int]
    /// By scan component: the rows whose samples matter.
    private let used: [Range<Int>]
    /// The samples of a row of blocks.
    private var samples: [UInt8]

    /// Allocates the buffers.
    ///
    /// - Parameters:
    ///   - image: the image to deliver.
    ///   - components: the components of the scan.
    ///   - blocks: by scan component, the number of blocks across the image and down an MCU.
    ///   - sink: what will consume the samples.
    init(
        _ image: ShrunkImage, _ components: [Int], blocks: [(across: Int, down: Int)],
        for sink: inout some ComponentSink & ~Copyable
    ) {
        var count = 0
        var rows: [[LowFrequencyRow]] = []
        for (component, blocks) in zip(components, blocks) {
            rows.append([])
            for _ in 0..<blocks.down {
                let row = LowFrequencyRow(
                    blockSide: image.blockSides[component], blockCount: blocks.across,
                    quantization: image.quantization[component], start: count)
                rows[rows.count - 1].append(row)
                count += row.count
            }
        }
        self.rows = rows
        self.components = components
        sizes = components.map { image.size(of: $0) }
        delivered = components.map { _ in 0 }
        used = components.map { sink.usedRows(of: $0) }
        let sampleCount = rows.joined().reduce(0) { max($0, $1.sampleCount) }
        samples = Array(repeating: 0, count: sampleCount)
        coefficients = Array(repeating: 0, count: count)
    }

    /// Whether any sample of the next row of MCUs matters.
    var isNextUsed: Bool {
        rows.indices.contains { index in
            isUsed(index, rowCount: rows[index].reduce(0) { $0 + $1.blockSide })
        }
    }

    /// Whether any of the next rows of a component matters.
    private func isUsed(_ index: Int, rowCount: Int) -> Bool {
        used[index].overlaps(delivered[index]..<delivered[index] + rowCount)
    }

    /// Passes the samples of a row of MCUs to a sink, and clears the coefficients.
    ///
    /// Rows of blocks that do not matter have the samples of other ones.
    mutating func deliver(
        into sink: inout some ComponentSink & ~Copyable
    ) throws(CodecError) {
        for (index, component) in components.enumerated() {
            let size = sizes[index]
            for row in rows[index] where delivered[index] < size.height {
                if isUsed(index, rowCount: row.blockSide) {
                    row.makeSamples(from: coefficients, into: &samples)
                }
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

extension ProgressiveImage {
    func deliver(
        _ image: ShrunkImage, _ cancellation: CancellationFlag?,
        into sink: inout some ComponentSink & ~Copyable
    ) throws(CodecError) {
        let frame = image.frame
        var rows = LowFrequencyRows(
            image, Array(components.indices),
            blocks: components.indices.map {
                (components[$0].blocksAcross, frame.components[$0].verticalSampling)
            }, for: &sink)
        for y in 0..<frame.mcusDown {
            if cancellation?.isCancelled == true { throw .cancelled }
            for (index, component) in components.enumerated() where rows.isNextUsed {
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
