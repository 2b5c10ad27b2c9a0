// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// One level of a pyramid while its rows are received; it holds the rows of one row of tiles.
///
/// Columns run from the left of the upright image. Rows may run from its bottom; tiles and means
/// are those of the upright image in either case.
final class PyramidLevel {
    private let level: Int
    private let size: PixelSize
    private let tileSide: Int
    private let isFromBottom: Bool
    private let next: PyramidLevel?
    private let channelCount: Int
    private var strip: MutablePixelBuffer
    private var arrivedCount = 0
    /// The first row of an incomplete pair.
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

    /// The memory of this level and all coarser ones, in bytes.
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

    /// Appends the next row.
    ///
    /// - Parameters:
    ///   - row: a row with the width of the level.
    ///   - body: called with each complete row of tiles: its level, its index from the top, its
    ///     pixels.
    /// - Throws: the errors of `body`.
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
        // With an odd height the last row has no pair; it is the first if rows run from the bottom.
        let isAlone = y == size.height - 1 && size.height % 2 == 1
        if isPending || isAlone {
            // Moved out while they are read, to avoid a copy.
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
