// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PlainJPEG {
    /// A component with all its coefficients.
    public struct Component: Sendable {
        public let identifier: Int
        public let horizontalSampling: Int
        public let verticalSampling: Int
        /// The width in samples, rounded up (A.1.1).
        public private(set) var width = 0
        public private(set) var height = 0
        /// The number of blocks that cover ``width`` and ``height``.
        public var blocksAcross: Int { width.divided(roundedUpBy: 8) }
        public var blocksDown: Int { height.divided(roundedUpBy: 8) }
        /// The quantization table: 64 elements in natural order, row by row.
        public internal(set) var quantization: [Int] = []

        /// The component identifier of the frame header.
        let quantizationTable: Int
        /// The coefficients in natural order, 64 per block, including the padding of the last MCUs.
        var storage: [Int32] = []
        var storedAcross = 0
        private var imageSize = (width: 0, height: 0)
        private var maximumSampling = (horizontal: 1, vertical: 1)

        init(
            identifier: Int, horizontalSampling: Int, verticalSampling: Int, quantizationTable: Int
        ) {
            self.identifier = identifier
            self.horizontalSampling = horizontalSampling
            self.verticalSampling = verticalSampling
            self.quantizationTable = quantizationTable
        }

        /// Computes the dimensions of a component (A.1.1, A.2.4).
        mutating func allocate(
            imageSize: (width: Int, height: Int),
            maximumSampling: (horizontal: Int, vertical: Int), units: (across: Int, down: Int)
        ) {
            self.imageSize = imageSize
            self.maximumSampling = maximumSampling
            width = (imageSize.width * horizontalSampling)
                .divided(roundedUpBy: maximumSampling.horizontal)
            height = (imageSize.height * verticalSampling)
                .divided(roundedUpBy: maximumSampling.vertical)
            storedAcross = units.across * horizontalSampling
            let storedDown = units.down * verticalSampling
            storage = Array(repeating: 0, count: storedAcross * storedDown * 64)
        }

        /// Returns the 64 quantized coefficients of a block in natural order.
        public func coefficients(blockX: Int, blockY: Int) -> [Int] {
            precondition((0..<blocksAcross).contains(blockX) && (0..<blocksDown).contains(blockY))
            let start = (blockY * storedAcross + blockX) * 64
            return storage[start..<start + 64].map(Int.init)
        }

        /// Returns the component at a reduced size, from the lowest coefficients of each block.
        ///
        /// Each block becomes `size` × `size` samples by an inverse DCT of that many points. Its
        /// scale preserves flat blocks. Samples are neither rounded nor clamped.
        ///
        /// - Parameter size: 1, 2 or 4, or 8 for full size.
        /// - Returns: the samples row by row, cropped to the image.
        public func lowFrequencyPlane(
            size: Int
        ) -> (width: Int, height: Int, samples: [Double]) {
            precondition([1, 2, 4, 8].contains(size), "a plane is made of 1, 2, 4 or 8 samples")
            let width = (imageSize.width * horizontalSampling * size)
                .divided(roundedUpBy: maximumSampling.horizontal * 8)
            let height = (imageSize.height * verticalSampling * size)
                .divided(roundedUpBy: maximumSampling.vertical * 8)
            var samples = [Double](repeating: 0, count: width * height)
            let basis = cosines(size)
            for blockY in 0..<blocksDown {
                for blockX in 0..<blocksAcross {
                    let block = inverseTransform(blockX, blockY, size, basis)
                    for y in blockY * size..<min(height, (blockY + 1) * size) {
                        for x in blockX * size..<min(width, (blockX + 1) * size) {
                            samples[y * width + x] = block[y % size * size + x % size]
                        }
                    }
                }
            }
            return (width, height, samples)
        }

        /// Returns the samples of a block: 128 + 1/8 · Σu Σv B(u, x) · B(v, y) · F(u, v).
        ///
        /// u and x are horizontal, v and y vertical (A.3.3 with another scale). The IDCT is
        /// computed separably.
        private func inverseTransform(
            _ blockX: Int, _ blockY: Int, _ size: Int, _ basis: [Double]
        ) -> [Double] {
            let start = (blockY * storedAcross + blockX) * 64
            var across = [Double](repeating: 0, count: size * size)
            for v in 0..<size {
                for u in 0..<size {
                    let index = v * 8 + u
                    guard storage[start + index] != 0 else { continue }
                    let value = Double(Int(storage[start + index]) * quantization[index])
                    for x in 0..<size { across[v * size + x] += basis[u * size + x] * value }
                }
            }
            var samples = [Double](repeating: 0, count: size * size)
            for y in 0..<size {
                for x in 0..<size {
                    var sum = 0.0
                    for v in 0..<size { sum += basis[v * size + y] * across[v * size + x] }
                    samples[y * size + x] = 128 + sum / 8
                }
            }
            return samples
        }

        /// B(u, x), for each u in turn: 1 for u = 0, else √2 · cos((2x + 1)uπ / 2size).
        private func cosines(_ size: Int) -> [Double] {
            var values = [Double](repeating: 1, count: size * size)
            for u in 1..<size {
                for x in 0..<size {
                    let angle = Double((2 * x + 1) * u) * .pi / Double(2 * size)
                    values[u * size + x] = 2.0.squareRoot() * cos(angle)
                }
            }
            return values
        }
    }
}
