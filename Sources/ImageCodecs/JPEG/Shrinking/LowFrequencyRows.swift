// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// Turns the coefficients of rows of blocks into rows of samples.
    struct LowFrequencyRows {
        /// By component of the scan, and by row of blocks within a unit.
        let rows: [[LowFrequencyRow]]
        /// The coefficients of one row of units; all zeros when it begins.
        var coefficients: [Int16]
        /// Which component of the picture each component of the scan is.
        private let components: [Int]

        /// - Parameters:
        ///   - picture: what is delivered.
        ///   - components: those that are in the scan.
        ///   - blocks: by component of the scan, blocks across the picture and down a unit.
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
            coefficients = Array(repeating: 0, count: count)
        }

        /// Makes the samples of a row of units, and room for the next one's coefficients.
        mutating func makeSamples(into planes: inout StoredPlanes) {
            for (part, component) in components.enumerated() {
                for row in rows[part] { planes.append(row, coefficients, component: component) }
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
            var planes = StoredPlanes(picture, unitsDown: 1)
            for y in 0..<frame.unitsDown {
                for (index, component) in components.enumerated() {
                    for (j, row) in rows.rows[index].enumerated() {
                        copy(
                            component, y * rows.rows[index].count + j, row,
                            into: &rows.coefficients)
                    }
                }
                rows.makeSamples(into: &planes)
                try planes.deliver(cancellation, into: &sink)
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
                    for (zigzag, place) in component.places.enumerated() where place >= 0 {
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
