// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels

/// Creates all tiles of a pyramid in one pass over the rows of the image.
///
/// Memory is proportional to the width of the image: each level holds one row of tiles, all levels
/// together the equivalent of two at full width. A row of tiles is encoded as soon as it is
/// complete. Tiles are upright whatever the orientation of the image.
final class PyramidMaker: RowConsumer {
    private let pyramid: TilePyramid
    private let orientation: Orientation
    private let encoders: TileEncoders
    private let limits: DecodeLimits
    private let writer: any TileWriter
    private var top: PyramidLevel?
    private var destination: ImageDestination?
    private var bytesPerPixel = 0
    /// A row with its columns in upright order.
    private var reversed: [UInt8] = []
    /// The error of the tile store.
    private(set) var storeFailure: LoadError?

    /// Creates a maker.
    ///
    /// - Parameters:
    ///   - pyramid: the pyramid of the upright image.
    ///   - orientation: the orientation of the rows.
    ///   - encoders: the encoders of the tiles.
    ///   - limits: the maximum memory.
    ///   - writer: receives the tiles.
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
            throw .unsupported(feature: "tiles of an image that is decoded at another size")
        }
        // Means are computed from 8-bit samples.
        guard [.gray8, .rgb8, .rgba8].contains(format) else {
            throw .unsupported(feature: "tiles of an image in the format \(format)")
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

    /// Writes the tiles of one row.
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

/// The encoders of tiles and their colour space.
struct TileEncoders: Sendable {
    let opaque: ImageDestination
    let alpha: ImageDestination
    let colorConverter: (any ColorConverter)?

    /// Encodes a tile.
    func file(_ tile: PixelBuffer) throws(CodecError) -> EncodedTile {
        let destination = tile.format.hasAlpha ? alpha : opaque
        return EncodedTile(
            bytes: try destination.encode(tile), mediaType: destination.format.mediaType)
    }

    /// Decodes a tile that one of the encoders wrote.
    func file(_ bytes: [UInt8]) -> EncodedTile {
        let isAlpha = alpha.format.signatures.contains { $0.matches(bytes.span) }
        return EncodedTile(bytes: bytes, mediaType: (isAlpha ? alpha : opaque).format.mediaType)
    }

    func converted(_ strip: PixelBuffer) throws(CodecError) -> PixelBuffer {
        guard let colorConverter, !strip.colorProfile.isSRGB else { return strip }
        return try colorConverter.convertedToSRGB(strip)
    }
}
