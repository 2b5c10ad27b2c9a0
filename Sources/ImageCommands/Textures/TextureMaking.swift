// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Textures

/// How an image is encoded as a texture.
struct TextureMaking {
    var format: TextureEncode.Format
    var bitsPerPixel = 4
    var quality = PVRTCEncoder.Quality.normal
    var alpha = TextureEncode.Alpha.premultiplied
    /// The maximum number of mip levels.
    var levelLimit = 1
    /// Whether progress is shown on a terminal.
    var showsProgress = true

    init(format: TextureEncode.Format, bitsPerPixel: Int = 4) {
        self.format = format
        self.bitsPerPixel = bitsPerPixel
    }

    /// Checks the memory that encoding takes.
    static func checkMemory(for size: PixelSize, _ path: String) throws(FileFailure) {
        do throws(CodecError) {
            try DecodeLimits().check(.memoryByteCount, size.area * PVRTCEncoder.bytesPerPixel)
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// Encodes an image and its mip levels.
    ///
    /// - Parameters:
    ///   - image: the image, premultiplied, of a size that the format allows.
    ///   - path: the file of the image, for errors.
    /// - Returns: the texture.
    /// - Throws: ``FileFailure``.
    func texture(of image: PixelBuffer, _ path: String) throws(FileFailure) -> Texture {
        var levels: [[UInt8]] = []
        var level = image
        let longer = max(image.size.width, image.size.height)
        let count = min(levelLimit, Int.bitWidth - longer.leadingZeroBitCount)
        let bar = ProgressBar(total: 100, isEnabled: showsProgress)
        defer { bar.end() }
        var shown = 0
        for number in 0..<count {
            let isStraight = alpha == .straight && format.hasAlpha
            let stored = isStraight ? level.withStraightAlpha() : level
            do throws(CodecError) {
                levels.append(
                    try blocks(of: stored) { share in
                        // The first level takes three quarters of the time of all.
                        while number == 0, shown < Int(share * 100) {
                            bar.advance(failed: false)
                            shown += 1
                        }
                        return true
                    })
            } catch {
                throw FileFailure(path, error)
            }
            guard number + 1 < count else { break }
            let half = PixelSize(
                width: max(1, level.size.width / 2), height: max(1, level.size.height / 2))
            level = level.resized(SampleRegion(level.size), to: half)
        }
        let hasAlpha = image.format == .rgba8 && format.hasAlpha
        return Texture(
            format.blocks ?? (bitsPerPixel == 4 ? .pvrtc4 : .pvrtc2), image.size,
            hasAlpha ? (alpha == .straight ? .straight : .premultiplied) : .opaque,
            levels: levels)
    }

    private func blocks(
        of level: PixelBuffer, progress: (Double) -> Bool
    ) throws(CodecError) -> [UInt8] {
        guard let blocks = format.blocks else {
            return try PVRTCEncoder.encode(
                level, quality, bitsPerPixel: bitsPerPixel, progress: progress)
        }
        return try BlockEncoder.encode(level, blocks, quality, progress: progress)
    }
}
