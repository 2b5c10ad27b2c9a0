// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// One level of a pyramid while its rows come in: as many of them as a tile is high.
///
/// Columns come from the left of the picture as it is shown. Rows may come from its bottom; tiles
/// and means are then those of the shown picture nevertheless.
final class PyramidLevel {
    private let level: Int
    private let size: PixelSize
    private let tileSide: Int
    private let isFromBottom: Bool
    private let next: PyramidLevel?
    private let channelCount: Int
    private var strip: MutablePixelBuffer
    private var arrivedCount = 0
    /// The row that waits for the other of its pair.
    private var pending: [UInt8]
    private var isPending = false
    private var means: [UInt8]

    init(
        _ pyramid: TilePyramid, level: Int = 0, _ format: PixelFormat, _ colorProfile: ColorProfile,
        isFromBottom: Bool
    ) {
        self.level = level
        self.isFromBottom = isFromBottom
        size = pyramid.size(ofLevel: level)
        tileSide = pyramid.tileSide
        channelCount = format.channelCount
        strip = MutablePixelBuffer(
            size: PixelSize(width: size.width, height: min(tileSide, size.height)), format: format,
            colorProfile: colorProfile)
        let hasNext = level + 1 < pyramid.levelCount
        pending = Array(repeating: 0, count: hasNext ? size.width * channelCount : 0)
        means = Array(repeating: 0, count: hasNext ? (size.width + 1) / 2 * channelCount : 0)
        next =
            hasNext
            ? PyramidLevel(
                pyramid, level: level + 1, format, colorProfile, isFromBottom: isFromBottom) : nil
    }

    /// The bytes that are held for this level and all coarser ones.
    static func byteCount(_ pyramid: TilePyramid, _ format: PixelFormat) -> Int {
        (0..<pyramid.levelCount).reduce(0) { sum, level in
            let size = pyramid.size(ofLevel: level)
            let strip = PixelSize(
                width: size.width, height: min(pyramid.tileSide, size.height))
            let rows = (size.width + (size.width + 1) / 2) * format.bytesPerPixel
            let count = PixelBuffer.byteCount(of: strip, format)
            return count > Int.max / 4 - sum - rows ? Int.max / 4 : sum + count + rows
        }
    }

    /// Takes the next row.
    ///
    /// - Parameters:
    ///   - row: as many bytes as the level's width needs.
    ///   - body: called with each row of tiles that became whole: its level, its number from the
    ///     top, and its pixels.
    /// - Throws: what `body` throws.
    func append(
        _ row: Span<UInt8>,
        _ body: (_ level: Int, _ y: Int, _ strip: PixelBuffer) throws(CodecError) -> Void
    ) throws(CodecError) {
        let y = isFromBottom ? size.height - 1 - arrivedCount : arrivedCount
        arrivedCount += 1
        strip.withMutableRow(y % tileSide) { $0.copy(row, at: 0) }
        let isLast = arrivedCount == size.height
        if isLast || (isFromBottom ? y % tileSide == 0 : y % tileSide == tileSide - 1) {
            try body(level, y / tileSide, strip.snapshot)
        }
        guard let next else { return }
        // The last row of an odd number is alone, and comes first if rows come from the bottom.
        let isAlone = y == size.height - 1 && size.height % 2 == 1
        if isPending || isAlone {
            // Taken out while they are read, so that nothing is copied.
            var means: [UInt8] = []
            swap(&means, &self.means)
            if isPending {
                let pending = pending
                halveRows(pending.span, row, channelCount: channelCount, into: &means)
            } else {
                halveRows(row, row, channelCount: channelCount, into: &means)
            }
            isPending = false
            try next.append(means.span, body)
            swap(&means, &self.means)
        } else {
            var target = pending.mutableSpan
            target.copy(row, at: 0)
            isPending = true
        }
    }
}
