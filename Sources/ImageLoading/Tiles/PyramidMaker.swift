// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels

/// Makes every tile of a pyramid in one pass over the rows of the picture.
///
/// Memory is in proportion to the picture's width: for each level as many rows as a tile is high,
/// in all those of two tiles at the picture's width. Tiles are encoded as soon as a row of them is
/// whole. A picture that is stored turned makes tiles that stand upright.
final class PyramidMaker: RowConsumer {
    private let pyramid: TilePyramid
    private let orientation: Orientation
    private let encoders: TileEncoders
    private let limits: DecodeLimits
    private let writer: any TileWriter
    private var top: PyramidLevel?
    private var destination: ImageDestination?
    private var bytesPerPixel = 0
    /// A row with its columns in the order in which they are shown.
    private var reversed: [UInt8] = []
    /// Why the store did not take a tile.
    private(set) var storeFailure: LoadError?

    /// - Parameters:
    ///   - pyramid: that of the picture as it is shown.
    ///   - orientation: how the rows that come must be turned for that.
    ///   - encoders: how tiles are written.
    ///   - limits: the memory that may be taken.
    ///   - writer: what keeps the tiles.
    init(
        _ pyramid: TilePyramid, _ orientation: Orientation, _ encoders: TileEncoders,
        limits: DecodeLimits, to writer: any TileWriter
    ) {
        self.pyramid = pyramid
        self.orientation = orientation
        self.encoders = encoders
        self.limits = limits
        self.writer = writer
    }

    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError) {
        guard orientation.oriented(size) == pyramid.size else {
            throw .unsupported(feature: "tiles of a picture that is decoded at another size")
        }
        // Means are those of 8-bit samples.
        guard [.gray8, .rgb8, .rgba8].contains(format) else {
            throw .unsupported(feature: "tiles of a picture in the format \(format)")
        }
        let stored = TilePyramid(
            size, tileSide: pyramid.tileSide,
            endsInOnePixel: pyramid.levelCount == pyramid.deepZoomLevelCount)
        try limits.check(.memoryByteCount, PyramidLevel.byteCount(stored, format))
        destination = format.hasAlpha ? encoders.alpha : encoders.opaque
        bytesPerPixel = format.bytesPerPixel
        if orientation.reversesColumns {
            reversed = Array(repeating: 0, count: size.width * bytesPerPixel)
        }
        top = PyramidLevel(
            stored, format, colorProfile, isFromBottom: orientation.reversesRows)
    }

    func append(_ row: Span<UInt8>) throws(CodecError) {
        guard let top else { return }
        guard orientation.reversesColumns else { return try top.append(row, emit) }
        var reversed: [UInt8] = []
        swap(&reversed, &self.reversed)
        for start in stride(from: 0, to: row.count, by: bytesPerPixel) {
            for byte in 0..<bytesPerPixel {
                reversed[row.count - start - bytesPerPixel + byte] = row[start + byte]
            }
        }
        try top.append(reversed.span, emit)
        swap(&reversed, &self.reversed)
    }

    /// Writes the tiles of a row of them.
    private func emit(_ level: Int, _ y: Int, _ strip: PixelBuffer) throws(CodecError) {
        let levelSize = orientation.oriented(pyramid.size(ofLevel: level))
        let side = pyramid.tileSide
        let height = min(side, levelSize.height - y * side)
        let converted = try encoders.converted(strip)
        for x in 0..<(levelSize.width - 1) / side + 1 {
            let tile = converted.cut(
                PixelRect(
                    x: x * side, y: 0, width: min(side, levelSize.width - x * side),
                    height: height))
            guard let destination else { return }
            let file = try destination.encode(
                orientation.swapsSides ? tile.turned(.transposed) : tile)
            let address =
                orientation.swapsSides
                ? TileAddress(level: level, x: y, y: x) : TileAddress(level: level, x: x, y: y)
            do throws(LoadError) {
                try writer.write(file, as: address)
            } catch {
                storeFailure = error
                throw .cancelled
            }
        }
    }
}

/// How tiles are written, and in which colours.
struct TileEncoders: Sendable {
    let opaque: ImageDestination
    let alpha: ImageDestination
    let colorConverter: (any ColorConverter)?

    /// A tile as a file.
    func file(_ tile: PixelBuffer) throws(CodecError) -> EncodedTile {
        let destination = tile.format.hasAlpha ? alpha : opaque
        return EncodedTile(
            bytes: try destination.encode(tile), mediaType: destination.format.mediaType)
    }

    /// A tile that one of them wrote.
    func file(_ bytes: [UInt8]) -> EncodedTile {
        let isAlpha = alpha.format.signatures.contains { $0.matches(bytes.span) }
        return EncodedTile(bytes: bytes, mediaType: (isAlpha ? alpha : opaque).format.mediaType)
    }

    func converted(_ strip: PixelBuffer) throws(CodecError) -> PixelBuffer {
        guard let colorConverter, !strip.colorProfile.isSRGB else { return strip }
        return try colorConverter.convertedToSRGB(strip)
    }
}
