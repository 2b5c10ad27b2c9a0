// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Selects how the pixels of an image are stored, by their content.
struct ContentCoding {
    let codecs: CodecSet
    let options: CatalogCompiler.Options

    /// A way to store an image, and why it was selected.
    struct Choice {
        var blob: StoredBlob
        var reason: String
    }

    /// The largest size in bytes of pixels that are stored without compression for speed.
    private static let directByteCount = 4_096
    /// The number of bytes per pixel above which lossless files are those of photographs.
    private static let photographByteCount = 1.0

    /// Returns the way to store an image.
    ///
    /// - Parameters:
    ///   - image: the decoded pixels, in sRGB.
    ///   - source: the file, if it may be stored as it is.
    ///   - allowsLoss: whether a photograph may be stored with loss.
    /// - Returns: the blob, and the reason.
    /// - Throws: `CodecError`.
    func choice(
        _ image: PixelBuffer, source: [UInt8]?, allowsLoss: Bool
    ) throws(CodecError) -> Choice {
        let direct = directChoices(image)
        // Small images need no attempt at compression unless size matters most.
        if options.preference == .speed,
            let small = direct.first(where: { $0.blob.bytes.count <= Self.directByteCount })
        {
            return small
        }
        var choices = direct
        if let source {
            choices.append(
                Choice(
                    blob: StoredBlob(kind: .image, size: image.size, bytes: source),
                    reason: "the file is the smallest"))
        }
        // WebP is smaller than PNG; it has no grey, and its codec may be missing.
        for format in ["webp", "png"] {
            guard let file = try losslessFile(image, format) else { continue }
            choices.append(
                Choice(
                    blob: StoredBlob(kind: .image, size: image.size, bytes: file),
                    reason: "lossless \(format) is the smallest"))
            break
        }
        guard var best = choices.min(by: { $0.blob.bytes.count < $1.blob.bytes.count }) else {
            throw .unsupported(feature: "pixels of the format \(image.format) in a catalog")
        }
        if allowsLoss, let lossy = try lossyChoice(image, than: best) { best = lossy }
        return best
    }

    /// The ways without a codec, the smallest first.
    private func directChoices(_ image: PixelBuffer) -> [Choice] {
        guard CompiledBlob.formats.contains(image.format) else { return [] }
        var choices: [Choice] = []
        let pixels = StoredBlob(
            kind: .pixels, size: image.size, format: image.format,
            bytes: Self.withoutPadding(image))
        choices.append(Choice(blob: pixels, reason: "few pixels"))
        if let mask = mask(image) { choices.append(Choice(blob: mask, reason: "one colour")) }
        if let palette = palette(image) {
            choices.append(Choice(blob: palette, reason: "\(palette.detail) colours"))
        }
        return choices.sorted { $0.blob.bytes.count < $1.blob.bytes.count }
    }

    /// The bytes of an image in which padding, which is undefined, is 0.
    private static func withoutPadding(_ image: PixelBuffer) -> [UInt8] {
        let image = image.withAlignedRows
        let bytes = image.bytes
        var result = [UInt8](repeating: 0, count: bytes.count)
        let used = image.size.width * image.format.bytesPerPixel
        for y in 0..<image.size.height {
            let start = y * image.bytesPerRow
            for offset in start..<start + used { result[offset] = bytes[offset] }
        }
        return result
    }

    /// The alpha of an image of one colour; `nil` if there are several.
    private func mask(_ image: PixelBuffer) -> StoredBlob? {
        guard image.format == .rgba8 else { return nil }
        var strongest: (alpha: UInt8, x: Int, y: Int) = (0, 0, 0)
        for y in 0..<image.size.height {
            let row = image.row(y)
            for x in 0..<image.size.width where row[x * 4 + 3] > strongest.alpha {
                strongest = (row[x * 4 + 3], x, y)
            }
        }
        let row = image.row(strongest.y)
        let straight = (0..<3).map {
            PremultipliedAlpha.divided(row[strongest.x * 4 + $0], by: strongest.alpha)
        }
        let color = SolidColor(Int(straight[0]) << 16 | Int(straight[1]) << 8 | Int(straight[2]))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(image.size.area)
        var expected = [UInt8](repeating: 0, count: 4)
        for y in 0..<image.size.height {
            let row = image.row(y)
            for x in 0..<image.size.width {
                var span = expected.mutableSpan
                color.write(alpha: row[x * 4 + 3], to: &span, at: 0)
                for channel in 0..<3 where row[x * 4 + channel] != expected[channel] { return nil }
                bytes.append(row[x * 4 + 3])
            }
        }
        return StoredBlob(
            kind: .mask, size: image.size, format: .rgba8, detail: color.value,
            bytes: Self.smaller(bytes, samples: bytes, image.size, bitCount: 8))
    }

    /// The indices of an image of at most 256 colours; `nil` if there are more.
    private func palette(_ image: PixelBuffer) -> StoredBlob? {
        let channelCount = image.format.channelCount
        var indices: [UInt32: Int] = [:]
        var colors: [UInt8] = []
        var last: (color: UInt32, index: Int)?
        var pixels: [UInt8] = []
        pixels.reserveCapacity(image.size.area)
        for y in 0..<image.size.height {
            let row = image.row(y)
            for x in 0..<image.size.width {
                var color: UInt32 = 0
                for channel in 0..<channelCount {
                    color = color << 8 | UInt32(row[x * channelCount + channel])
                }
                if last?.color != color {
                    if let known = indices[color] {
                        last = (color, known)
                    } else {
                        guard indices.count < 256 else { return nil }
                        last = (color, indices.count)
                        indices[color] = indices.count
                        for channel in 0..<4 {
                            colors.append(
                                channel < channelCount ? row[x * channelCount + channel] : 0)
                        }
                    }
                }
                pixels.append(UInt8(truncatingIfNeeded: last?.index ?? 0))
            }
        }
        let bitCount = Int(colorCount: indices.count)
        let plain = Self.packed(pixels, image.size, bitCount)
        return StoredBlob(
            kind: .palette, size: image.size, format: image.format, detail: indices.count,
            bytes: colors
                + Self.smaller(plain, samples: pixels, image.size, bitCount: bitCount))
    }

    /// The bytes of samples, or their codes if these are smaller.
    private static func smaller(
        _ plain: [UInt8], samples: [UInt8], _ size: PixelSize, bitCount: Int
    ) -> [UInt8] {
        guard samples.count <= PackedSamples.maximumCount else { return plain }
        let packed = PackedSamples(width: size.width, count: size.area, bitCount: bitCount)
            .packed(samples)
        return packed.count < plain.count ? packed : plain
    }

    private static func packed(_ pixels: [UInt8], _ size: PixelSize, _ bitCount: Int) -> [UInt8] {
        let bytesPerRow = PackedIndices.bytesPerRow(of: size.width, bitCount: bitCount)
        var bytes = [UInt8](repeating: 0, count: bytesPerRow * size.height)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let position = x * bitCount
                bytes[y * bytesPerRow + position / 8] |=
                    pixels[y * size.width + x] << (8 - bitCount - position % 8)
            }
        }
        return bytes
    }

    /// A lossless file of an image; `nil` without the codec, or if it does not give the same pixels.
    private func losslessFile(_ image: PixelBuffer, _ format: String) throws(CodecError) -> [UInt8]?
    {
        var encoding = EncodeOptions()
        encoding.isLossless = true
        encoding.compressionLevel = 9
        guard
            let destination = try? ImageDestination(
                format: format, codecs: codecs.decodedInProcess, options: encoding)
        else { return nil }
        let file = try destination.encode(image)
        // This program has encoded the file itself.
        let decoded = try ImageSource(EncodedBytes(file), codecs: codecs.decodedInProcess).image()
        return Self.isEqual(decoded, image) ? file : nil
    }

    /// Whether images have the same pixels; files of opaque images need no alpha.
    private static func isEqual(_ decoded: PixelBuffer, _ image: PixelBuffer) -> Bool {
        let isWithoutAlpha = decoded.format == .rgb8 && image.format == .rgba8
        let (one, other) = (isWithoutAlpha ? decoded.converted(to: .rgba8) : decoded, image)
        guard one.size == other.size, one.format == other.format else { return false }
        for y in 0..<one.size.height {
            let (row, otherRow) = (one.row(y), other.row(y))
            for index in row.indices where row[index] != otherRow[index] { return false }
        }
        return true
    }

    /// A photograph with loss; `nil` if the image is none, or if little is gained.
    private func lossyChoice(
        _ image: PixelBuffer, than lossless: Choice
    ) throws(CodecError) -> Choice? {
        let byteCount = lossless.blob.bytes.count
        guard lossless.blob.kind == .image,
            Double(byteCount) > Double(image.size.area) * Self.photographByteCount
        else { return nil }
        var encoding = EncodeOptions()
        encoding.targetSSIM = options.targetSSIM
        guard
            let destination = try? ImageDestination(
                format: "webp", codecs: codecs.decodedInProcess, options: encoding)
        else { return nil }
        let file = try destination.encode(image)
        guard file.count < byteCount / 2 else { return nil }
        return Choice(
            blob: StoredBlob(kind: .image, size: image.size, bytes: file),
            reason: "a photograph, lossy webp with SSIM \(options.targetSSIM)")
    }
}
