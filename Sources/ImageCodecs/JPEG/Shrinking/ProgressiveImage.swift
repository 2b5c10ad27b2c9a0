// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// The kept coefficients of a progressive image (T.81 G), which its scans refine.
struct ProgressiveImage {
    /// The layout and the state of a component.
    struct Component {
        /// The side *n*: the lowest *n* × *n* coefficients of each block are kept.
        let blockSide: Int
        /// The number of blocks in complete MCUs, across and down.
        let blocksAcross: Int
        let blocksDown: Int
        /// The index of its first element in ``ProgressiveImage/coefficients``.
        let start: Int
        /// The index of its first element in ``ProgressiveImage/nonZero``.
        let firstBlock: Int
        /// By zigzag index: Al of the last scan, the lowest bit decoded so far, or -1.
        fileprivate(set) var lowBits = [Int](repeating: -1, count: 64)
        /// By zigzag index: the index among the kept coefficients, or -1.
        let keptIndices: [Int]

        func keeps(any band: ClosedRange<Int>) -> Bool {
            band.contains { keptIndices[$0] >= 0 }
        }
    }

    private(set) var components: [Component] = []
    /// By component and block: the lowest *n* × *n* coefficients in natural order.
    var coefficients: [Int16]
    /// By component and block: the mask of the nonzero coefficients, by zigzag index.
    ///
    /// A refinement scan has a correction bit for each of them, kept or not (T.81 G.1.2.3).
    /// Empty if only DC coefficients are kept.
    var nonZero: [UInt64]

    /// Allocates the coefficients.
    ///
    /// - Parameters:
    ///   - frame: the frame header.
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

    /// Returns the number of bytes that the coefficients of an image take.
    static func byteCount(_ frame: JPEGFrame, blockSides: [Int]) -> Int {
        let needsNonZero = blockSides.contains { $0 > 1 }
        return frame.components.indices.reduce(0) { sum, index in
            let side = blockSides[index]
            let count = frame.paddedBlocksAcross(index) * frame.paddedBlocksDown(index)
            return sum + count * (side * side * 2 + (needsNonZero ? 8 : 0))
        }
    }

    /// Records the coefficients and bits of a scan.
    ///
    /// - Returns: whether the scan continues its predecessors as T.81 G.1.1.1 requires.
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

    /// Returns whether no further scan can change the kept coefficients, or, for a draft, add
    /// to them.
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
