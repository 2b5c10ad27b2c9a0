// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// The coefficients that are kept while the scans of a progressive file bring them bit by bit.
    struct ProgressivePicture {
        struct Component {
            /// n: the lowest n × n coefficients of each block are kept.
            let blockSide: Int
            /// Blocks of whole mcus.
            let blocksAcross: Int
            let blocksDown: Int
            /// Where the component's coefficients begin.
            let start: Int
            /// Where its part of ``ProgressivePicture/nonZero`` begins.
            let firstBlock: Int
            /// By coefficient in zigzag order: the lowest bit that has come, or -1.
            fileprivate(set) var lowBits = [Int](repeating: -1, count: 64)
            /// By coefficient in zigzag order: its place among those that are kept, or -1.
            let keptIndices: [Int]

            func keeps(any band: ClosedRange<Int>) -> Bool {
                band.contains { keptIndices[$0] >= 0 }
            }
        }

        private(set) var components: [Component] = []
        /// By component and block: the lowest n × n coefficients in natural order.
        var coefficients: [Int16]
        /// By component and block: which coefficients are not 0, in zigzag order.
        ///
        /// A later scan has a bit for each of those, also for those that are not kept. Empty if
        /// only the first coefficients are wanted.
        var nonZero: [UInt64]

        /// - Parameters:
        ///   - frame: the picture.
        ///   - blockSides: by component, 1, 2, 4 or 8.
        init(_ frame: JPEGFrame, blockSides: [Int]) {
            var (start, block) = (0, 0)
            for index in frame.components.indices {
                let side = blockSides[index]
                let component = Component(
                    blockSide: side, blocksAcross: frame.paddedBlocksAcross(index),
                    blocksDown: frame.paddedBlocksDown(index), start: start, firstBlock: block,
                    keptIndices: zip(ZigzagOrder.rows, ZigzagOrder.columns).map { row, column in
                        row < side && column < side ? row * side + column : -1
                    })
                let count = component.blocksAcross * component.blocksDown
                start += count * side * side
                block += count
                components.append(component)
            }
            coefficients = Array(repeating: 0, count: start)
            let needsNonZero = blockSides.contains { $0 > 1 }
            nonZero = Array(repeating: 0, count: needsNonZero ? block : 0)
        }

        /// The bytes that a picture takes.
        static func byteCount(_ frame: JPEGFrame, blockSides: [Int]) -> Int {
            let needsNonZero = blockSides.contains { $0 > 1 }
            return frame.components.indices.reduce(0) { sum, index in
                let side = blockSides[index]
                let count = frame.paddedBlocksAcross(index) * frame.paddedBlocksDown(index)
                return sum + count * (side * side * 2 + (needsNonZero ? 8 : 0))
            }
        }

        /// Notes what a scan brings.
        ///
        /// - Returns: whether it goes on where the scans before it ended.
        mutating func record(_ scan: JPEGScan) -> Bool {
            for component in scan.components {
                for index in scan.spectralSelection {
                    let low = components[component.frameIndex].lowBits[index]
                    guard scan.highBit == max(low, 0), (low < 0) == (scan.highBit == 0) else {
                        return false
                    }
                    components[component.frameIndex].lowBits[index] = scan.lowBit
                }
            }
            return true
        }

        var hasEveryFirstCoefficient: Bool { components.allSatisfy { $0.lowBits[0] >= 0 } }

        /// Whether no further scan can change what is kept, or in a draft add to it.
        func isComplete(asDraft isDraft: Bool) -> Bool {
            components.allSatisfy { component in
                component.keptIndices.indices.allSatisfy {
                    component.keptIndices[$0] < 0 || component.lowBits[$0] == 0
                        || isDraft && component.lowBits[$0] > 0
                }
            }
        }
    }
#endif
