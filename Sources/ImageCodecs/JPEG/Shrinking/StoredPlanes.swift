// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// Keeps rows of samples until they are given out to a ``ComponentSink``.
    struct StoredPlanes {
        private let picture: ShrunkPicture
        /// Rows of units for which there is to be room.
        private let unitsDown: Int
        private var planes: [Plane]

        /// Some rows of a component.
        private struct Plane {
            var samples: [UInt8] = []
            /// Bytes from one row to the next.
            var stride = 1
            /// Rows that have been given out before.
            var delivered = 0
        }

        /// - Parameters:
        ///   - picture: what is delivered.
        ///   - unitsDown: as many rows of units as are kept at a time.
        init(_ picture: ShrunkPicture, unitsDown: Int) {
            self.picture = picture
            self.unitsDown = unitsDown
            planes = Array(repeating: Plane(), count: picture.frame.components.count)
        }

        /// The bytes that all rows of a picture take.
        static func byteCount(_ picture: ShrunkPicture) -> Int {
            let frame = picture.frame
            return frame.components.indices.reduce(0) { count, component in
                let side = picture.blockSides[component]
                let stride = LowFrequencyRow.stride(frame.paddedBlocksAcross(component)) * side
                return count + stride * side * frame.paddedBlocksDown(component)
            }
        }

        /// Adds a row of blocks to those of a component.
        mutating func append(
            _ row: LowFrequencyRow, _ coefficients: [Int16], component: Int
        ) {
            let stride = row.stride * row.blockSide
            let start = planes[component].samples.count
            if start == 0 {
                planes[component].stride = stride
                planes[component].samples.reserveCapacity(
                    unitsDown * rowsPerUnit(component) * stride)
            }
            planes[component].samples += Array(repeating: 0, count: row.blockSide * stride)
            row.makeSamples(from: coefficients, into: &planes[component].samples, at: start)
        }

        /// Gives out all rows, those of the components in turn, and forgets them.
        mutating func deliver(
            _ cancellation: CancellationFlag?, into sink: inout some ComponentSink & ~Copyable
        ) throws(CodecError) {
            for unit in 0..<unitsDown {
                if cancellation?.isCancelled == true { throw .cancelled }
                for component in planes.indices {
                    let plane = planes[component]
                    let size = picture.size(of: component)
                    let count = rowsPerUnit(component)
                    let end = min(
                        (unit + 1) * count, plane.samples.count / plane.stride,
                        size.height - plane.delivered)
                    for row in min(unit * count, end)..<end {
                        let start = row * plane.stride
                        try sink.append(
                            plane.samples.span.extracting(start..<start + size.width),
                            component: component)
                    }
                }
            }
            for component in planes.indices {
                planes[component].delivered += unitsDown * rowsPerUnit(component)
                planes[component].samples.removeAll(keepingCapacity: true)
            }
        }

        private func rowsPerUnit(_ component: Int) -> Int {
            picture.frame.components[component].verticalSampling * picture.blockSides[component]
        }
    }
#endif
