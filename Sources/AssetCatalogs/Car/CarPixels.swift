// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decodes the pixels of a rendition, which are compressed in chunks of rows.
struct CarPixels {
    enum Failure: Error {
        case malformed(String)
        case unsupported(String)
    }

    /// The names of the compressions by their numbers, for errors.
    private static let compressions = [
        "no compression", "RLE", "zip", "LZVN", "LZFSE", "JPEG with LZFSE", "blurred", "ASTC",
        "palette", "HEVC", "deepmap with LZFSE", "deepmap 2",
    ]

    private let size: PixelSize
    private let bytesPerRow: Int
    private let content: Range<Int>

    init(_ rendition: CarRendition) {
        size = rendition.pixelSize
        bytesPerRow = rendition.bytesPerRow
        content = rendition.content
    }

    /// Decodes all chunks.
    func image(_ file: Span<UInt8>) throws(Failure) -> PixelBuffer {
        let start = content.lowerBound
        guard content.count >= 16, file.text(at: start, byteCount: 4) == "MLEC" else {
            throw .malformed("no pixels")
        }
        let isChunked = file.littleEndian(at: start + 4, byteCount: 4) == 1
        let compression = file.littleEndian(at: start + 8, byteCount: 4)
        let count = file.littleEndian(at: start + 12, byteCount: 4)
        guard compression == 0 || compression == 4 else {
            let names = Self.compressions
            throw .unsupported(
                "the compression \(compression)"
                    + (names.indices.contains(compression) ? " (\(names[compression]))" : ""))
        }
        let chunks =
            isChunked ? try chunks(file, count) : [(start + 16..<start + 16 + count, size.height)]
        // Memory for the image is taken only when all of its rows are there.
        var rows: [[UInt8]] = []
        for (range, rowCount) in chunks {
            guard range.upperBound <= content.upperBound else {
                throw .malformed("the pixels end early")
            }
            rows.append(try decompressed(file, range, compression, bytesPerRow * rowCount))
        }
        var image = MutablePixelBuffer(size: size, format: .rgba8)
        var y = 0
        for (bytes, (_, rowCount)) in zip(rows, chunks) {
            copy(bytes.span, y..<y + rowCount, &image)
            y += rowCount
        }
        return image.finish()
    }

    /// The bytes and the number of rows of each chunk; each has at least one row.
    private func chunks(
        _ file: Span<UInt8>, _ count: Int
    ) throws(Failure) -> [(bytes: Range<Int>, rowCount: Int)] {
        var chunks: [(Range<Int>, Int)] = []
        var offset = content.lowerBound + 16
        var y = 0
        for _ in 0..<count {
            guard offset <= content.upperBound - 20, file.text(at: offset, byteCount: 4) == "KCBC"
            else { throw .malformed("a chunk of rows is missing") }
            let rowCount = file.littleEndian(at: offset + 12, byteCount: 4)
            let byteCount = file.littleEndian(at: offset + 16, byteCount: 4)
            offset += 20
            guard byteCount <= content.upperBound - offset, rowCount > 0,
                rowCount <= size.height - y
            else { throw .malformed("invalid chunk of rows") }
            chunks.append((offset..<offset + byteCount, rowCount))
            offset += byteCount
            y += rowCount
        }
        guard y == size.height else { throw .malformed("\(y) rows instead of \(size.height)") }
        return chunks
    }

    private func decompressed(
        _ file: Span<UInt8>, _ range: Range<Int>, _ compression: Int, _ byteCount: Int
    ) throws(Failure) -> [UInt8] {
        if compression == 0 {
            guard range.count >= byteCount else { throw .malformed("the pixels end early") }
            return range.prefix(byteCount).map { file[$0] }
        }
        do throws(LZFSEError) {
            return try LZFSE.decompressed(file, range, byteCount: byteCount)
        } catch {
            switch error {
            case .malformed(let reason): throw .malformed(reason)
            case .unsupported(let feature): throw .unsupported(feature)
            }
        }
    }

    /// Converts premultiplied BGRA to RGBA.
    private func copy(_ bytes: Span<UInt8>, _ rows: Range<Int>, _ image: inout MutablePixelBuffer) {
        for y in rows {
            let start = (y - rows.lowerBound) * bytesPerRow
            image.withMutableRow(y) { row in
                for x in 0..<size.width {
                    row[x * 4] = bytes[start + x * 4 + 2]
                    row[x * 4 + 1] = bytes[start + x * 4 + 1]
                    row[x * 4 + 2] = bytes[start + x * 4]
                    row[x * 4 + 3] = bytes[start + x * 4 + 3]
                }
            }
        }
    }
}
