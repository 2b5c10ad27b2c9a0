// SPDX-License-Identifier: Apache-2.0

#if TIFF && JPEG
internal import EncodedImages
internal import Pixels

/// Tiles with JPEG compression, returned as JPEG files without decoding them.
///
/// - SeeAlso: *Adobe Photoshop TIFF Technical Notes*, draft technical note 2, on compression 7.
extension TIFFDecoder {
    func jpegTiles(
        _ tiles: [StoredTile], of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> [[UInt8]?] {
        let pages = try TIFFPages(bytes, limits: limits)
        let whole = try TIFFImage(try pages.directory(ofPage: page, bytes), bytes)
        let areAllWhole = tiles.allSatisfy { $0.levelSize == whole.size }
        let versions =
            areAllWhole ? [] : pages.reducedVersions(ofPage: page, whole, bytes)
        var files: [[UInt8]?] = []
        for tile in tiles {
            let level =
                whole.size == tile.levelSize
                ? whole
                : versions.first { version in
                    // Some programs round the sides of reduced versions down.
                    (0...1).contains(tile.levelSize.width - version.size.width)
                        && (0...1).contains(tile.levelSize.height - version.size.height)
                }
            files.append(try? level?.jpegTile(tile, bytes, limits))
        }
        return files
    }
}

extension TIFFImage {
    /// The size of the tiles, if each contains a JPEG image of its own; `nil` otherwise.
    var jpegTileSize: PixelSize? {
        let isGray = photometric == 1 && sampleCount == 1
        guard compression == 7, isTiled, !isPlanar, bitsPerSample == 8, sampleFormat == .unsigned,
            isGray || sampleCount == 3 && (photometric == 2 || photometric == 6)
        else { return nil }
        return blockSize
    }

    /// Returns the tile that covers a part of the image; `nil` if no file can contain it as it is.
    fileprivate func jpegTile(
        _ tile: StoredTile, _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        let rect = tile.rect
        guard jpegTileSize != nil, !rect.isEmpty, rect.x >= 0, rect.y >= 0,
            rect.x % blockSize.width == 0, rect.y % blockSize.height == 0,
            PixelRect(x: rect.x, y: rect.y, width: blockSize.width, height: blockSize.height)
                .intersection(PixelRect(size)) == rect
        else { return nil }
        let range = try checkBlock(
            rect.y / blockSize.height * blockCounts.x + rect.x / blockSize.width, bytes)
        let tables = directory.range(.jpegTables) ?? 0..<0
        guard range.count + tables.count < StoredTile.maximumByteCount else { return nil }
        var file = AbbreviatedJPEG(
            componentCount: sampleCount, isRGB: photometric == 2, size: blockSize)
        guard try file.add(tables: bytes.extracting(tables)),
            try file.add(image: bytes.extracting(range))
        else { return nil }
        // Tiles at the right and bottom edges are stored with samples that are not part of the image.
        let tile =
            rect.size == blockSize
            ? file.bytes : try JPEGPart.corner(rect.size, of: file.bytes, limits)
        // DC differences are encoded with more bits.
        return tile.flatMap { $0.count <= StoredTile.maximumByteCount ? $0 : nil }
    }
}

/// Joins abbreviated streams for tables and for an image (T.81 B.4 and B.5) to a JPEG file.
///
/// Only segments that decoding depends on are copied. The colour space is that of the TIFF file,
/// whatever the streams state.
private struct AbbreviatedJPEG {
    private static let (dht, sof0, dqt, dri): (UInt8, UInt8, UInt8, UInt8) = (
        0xC4, 0xC0, 0xDB, 0xDD
    )

    let componentCount: Int
    let size: PixelSize
    private(set) var bytes: [UInt8] = [0xFF, 0xD8]
    private var hasFrame = false

    init(componentCount: Int, isRGB: Bool, size: PixelSize) {
        self.componentCount = componentCount
        self.size = size
        if componentCount == 3 {
            // The segment APP14 states whether colours are converted to Y′CbCr.
            bytes += [0xFF, 0xEE, 0, 14] + "Adobe".utf8 + [0, 100, 0, 0, 0, 0, isRGB ? 0 : 1]
        }
    }

    /// Adds the tables that all images share; an empty stream has none.
    ///
    /// - Returns: whether the stream is supported.
    mutating func add(tables stream: Span<UInt8>) throws(CodecError) -> Bool {
        if stream.isEmpty { return true }
        guard stream.count >= 2, stream.integer(at: 0, byteCount: 2) == 0xFFD8 else { return false }
        var segments = JPEGSegments()
        while true {
            let segment = try segments.next(stream)
            switch segment.marker {
            case JPEGSegments.endOfImage: return true
            case Self.dht, Self.dqt: copy(segment, stream)
            default: break
            }
        }
    }

    /// Adds an image of one scan.
    ///
    /// - Returns: whether the stream is supported.
    mutating func add(image stream: Span<UInt8>) throws(CodecError) -> Bool {
        guard stream.count >= 4, stream.integer(at: 0, byteCount: 2) == 0xFFD8,
            stream.integer(at: stream.count - 2, byteCount: 2) == 0xFFD9
        else { return false }
        var segments = JPEGSegments()
        while true {
            let segment = try segments.next(stream)
            switch segment.marker {
            case Self.dht, Self.dqt, Self.dri: copy(segment, stream)
            case Self.sof0:
                guard !hasFrame, isSupported(stream.extracting(segment.body)) else { return false }
                hasFrame = true
                copy(segment, stream)
            case JPEGSegments.startOfScan:
                guard hasFrame, !segment.body.isEmpty,
                    stream[segment.body.lowerBound] == componentCount
                else { return false }
                copy(segment.body.lowerBound - 4..<stream.count, stream)
                return true
            case 0xE0...0xEF, 0xFE: break
            default: return false
            }
        }
    }

    /// Whether a frame header has the size and the components of the tile.
    private func isSupported(_ frame: Span<UInt8>) -> Bool {
        frame.count == 6 + 3 * componentCount && frame[0] == 8
            && frame.integer(at: 1, byteCount: 2) == size.height
            && frame.integer(at: 3, byteCount: 2) == size.width && Int(frame[5]) == componentCount
    }

    private mutating func copy(_ segment: JPEGSegments.Segment, _ stream: Span<UInt8>) {
        copy(segment.body.lowerBound - 4..<segment.body.upperBound, stream)
    }

    private mutating func copy(_ range: Range<Int>, _ stream: Span<UInt8>) {
        unsafe stream.extracting(range).withUnsafeBufferPointer {
            unsafe bytes.append(contentsOf: $0)
        }
    }
}
#endif
