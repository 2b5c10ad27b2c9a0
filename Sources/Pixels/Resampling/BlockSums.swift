// SPDX-License-Identifier: Apache-2.0

/// The sums of blocks of whole pixels that are added in any order, such as those of an interlaced
/// image.
///
/// A ``RowResampler`` makes the same result from the sums as from the rows. Memory is proportional
/// to the number of blocks.
public struct BlockSums: Sendable {
    private let width: Int
    private let height: Int
    private let channelCount: Int
    private let blockWidth: Int
    private let blockHeight: Int
    private let columnCount: Int
    /// Whether the sums of all blocks fit in 16 bits, as those of up to 257 pixels do.
    private let isNarrow: Bool
    /// The sums of each channel, block by block; one of the arrays is empty.
    private var narrowSums: [UInt16] = []
    private var wideSums: [UInt32] = []

    init(_ reducer: BoxReducer, height: Int) {
        width = reducer.width
        self.height = height
        channelCount = reducer.channelCount
        blockWidth = reducer.horizontalFactor
        blockHeight = reducer.verticalFactor
        columnCount = (width + blockWidth - 1) / blockWidth
        isNarrow = blockWidth * blockHeight * 255 <= Int(UInt16.max)
    }

    /// The number of rows of blocks.
    var rowCount: Int { (height + blockHeight - 1) / blockHeight }

    /// The memory of the sums once a pixel is added, in bytes.
    public var byteCount: Int {
        columnCount * rowCount * channelCount
            * (isNarrow ? MemoryLayout<UInt16>.stride : MemoryLayout<UInt32>.stride)
    }

    /// Adds pixels at equal distances in a row.
    ///
    /// - Parameters:
    ///   - pixels: the pixels, with 8 bits per sample and without padding.
    ///   - y: the row in the source.
    ///   - column: the column of the first pixel.
    ///   - step: the number of columns from one pixel to the next, at least 1.
    public mutating func add(_ pixels: Span<UInt8>, y: Int, from column: Int, step: Int) {
        let count = pixels.count / channelCount
        precondition(
            (0..<height).contains(y) && column >= 0 && step >= 1
                && column + (count - 1) * step < width, "the pixels are outside of the image")
        let places = Places(
            count: count, column: column, step: step, blockWidth: blockWidth,
            firstBlock: y / blockHeight * columnCount)
        let sumCount = columnCount * rowCount * channelCount
        if isNarrow {
            if narrowSums.isEmpty { narrowSums = Array(repeating: 0, count: sumCount) }
            Self.add(pixels, channelCount, at: places, to: &narrowSums)
        } else {
            if wideSums.isEmpty { wideSums = Array(repeating: 0, count: sumCount) }
            Self.add(pixels, channelCount, at: places, to: &wideSums)
        }
    }

    @inline(always)
    private static func add<Sum: FixedWidthInteger>(
        _ pixels: Span<UInt8>, _ channelCount: Int, at places: Places, to sums: inout [Sum]
    ) {
        var blocks = sums.mutableSpan
        // Constants, so that the compiler specializes the loop for each.
        switch channelCount {
        case 1: add(pixels, 1, at: places, to: &blocks)
        case 3: add(pixels, 3, at: places, to: &blocks)
        default: add(pixels, channelCount, at: places, to: &blocks)
        }
    }

    /// The columns of pixels and of blocks.
    private struct Places {
        let count: Int
        let column: Int
        let step: Int
        let blockWidth: Int
        /// The first block of the row.
        let firstBlock: Int
    }

    @inline(always)
    private static func add<Sum: FixedWidthInteger>(
        _ pixels: Span<UInt8>, _ channelCount: Int, at places: Places,
        to blocks: inout MutableSpan<Sum>
    ) {
        var place = (places.firstBlock + places.column / places.blockWidth) * channelCount
        var x = places.column % places.blockWidth
        var offset = 0
        let end = places.count &* channelCount
        while offset < end {
            var sums = SIMD4<UInt32>.zero
            repeat {
                for channel in 0..<channelCount {
                    sums[channel] &+= unsafe UInt32(pixels[unchecked: offset &+ channel])
                }
                offset &+= channelCount
                x &+= places.step
            } while x < places.blockWidth && offset < end
            for channel in 0..<channelCount {
                blocks[place &+ channel] &+= Sum(truncatingIfNeeded: sums[channel])
            }
            while x >= places.blockWidth {
                x &-= places.blockWidth
                place &+= channelCount
            }
        }
    }

    /// Writes the means of a row of blocks, as ``RowKernels`` does for rows in order.
    func writeMeans(ofRow y: Int, into result: inout [Float], at offset: Int) {
        guard !narrowSums.isEmpty || !wideSums.isEmpty else { return }
        let rows = min(blockHeight, height - y * blockHeight)
        for block in 0..<columnCount {
            let scale = 1 / Float(min(blockWidth, width - block * blockWidth) * rows)
            for channel in 0..<channelCount {
                let place = (y * columnCount + block) * channelCount + channel
                let sum = isNarrow ? UInt32(narrowSums[place]) : wideSums[place]
                result[offset + block * channelCount + channel] = Float(sum) * scale
            }
        }
    }
}
