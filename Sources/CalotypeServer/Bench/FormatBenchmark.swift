// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import EncodedImages
internal import ImageCodecs
internal import Pixels
internal import Textures

/// Measures the time to load and decode images in many formats.
struct FormatBenchmark {
    /// The result of a series of repetitions.
    struct Result {
        let format: String
        let image: String
        let size: PixelSize
        let byteCount: Int
        /// The memory of the pixels, or of the blocks of a texture, in bytes.
        let memoryByteCount: Int
        /// Whether the file was read from disk, not from the page cache.
        let isCold: Bool
        /// Whether the image was decoded at the size of `display`, not at full size.
        let isShrunk: Bool
        /// The median times of loading, and of loading and decoding.
        let load: Duration
        let total: Duration
        let repetitions: Int
    }

    /// Textures, which are displayed without being decoded.
    static let textures: KeyValuePairs<String, TextureFormat> = [
        "pvrtc": .pvrtc4, "etc2": .etc2, "bc7": .bc7,
    ]

    static func texture(_ name: String) -> TextureFormat? {
        textures.first { $0.key == name }?.value
    }

    let folder: String
    let formats: [String]
    let encoding: EncodeOptions
    let display: Int
    let duration: Duration

    func seriesCount(_ images: [BenchImage]) -> Int {
        let shrunk = BenchImage.sizes.filter { $0.largestSide > display }.count
        let decoded = formats.filter { Self.texture($0) == nil }.count
        return images.count * 2 * (formats.count * BenchImage.sizes.count + decoded * shrunk)
    }

    /// Measures all combinations of images, sizes and formats.
    ///
    /// - Returns: The results, ordered by image, size and format. Cold results are missing on
    ///   systems that do not evict a file from the page cache.
    /// - Throws: ``FileFailure`` if a file cannot be written, read or decoded.
    func run(
        _ images: [BenchImage], isInterrupted: () -> Bool, didFinish: () -> Void
    ) throws(FileFailure) -> [Result] {
        var results: [Result] = []
        for original in images {
            for size in BenchImage.sizes {
                let image = original.resized(to: size)
                for format in formats {
                    let path = "\(folder)/picture.\(format)"
                    let byteCount = try write(image, format, to: path)
                    // A smaller texture is a mip level, which is stored.
                    let canShrink = size.largestSide > display && Self.texture(format) == nil
                    for isShrunk in canShrink ? [false, true] : [false] {
                        for isCold in [false, true] {
                            if isInterrupted() { return results }
                            defer { didFinish() }
                            guard
                                let times = try series(
                                    path, format, isCold: isCold, isShrunk: isShrunk)
                            else { continue }
                            results.append(
                                Result(
                                    format: format, image: original.name, size: size,
                                    byteCount: byteCount, memoryByteCount: times.memory,
                                    isCold: isCold, isShrunk: isShrunk, load: times.load,
                                    total: times.total, repetitions: times.count))
                        }
                    }
                }
            }
        }
        return results
    }

    private func write(
        _ image: PixelBuffer, _ format: String, to path: String
    ) throws(FileFailure) -> Int {
        do throws(CodecError) {
            let file =
                if let texture = Self.texture(format) {
                    try Self.file(image, texture)
                } else {
                    try ImageDestination(
                        format: format, codecs: builtInCodecs, options: encoding
                    ).encode(image)
                }
            try ImageDestination.write(file, to: path)
            return file.count
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// Returns a PVR file; PVRTC stretches the image to the next larger square of a power of two.
    private static func file(
        _ image: PixelBuffer, _ format: TextureFormat
    ) throws(CodecError) -> [UInt8] {
        guard format.isPVRTC else {
            let blocks = try BlockEncoder.encode(image, format, .fastest)
            return Texture(format, image.size, .opaque, levels: [blocks]).pvr3File()
        }
        let side = 1 << (Int.bitWidth - (image.size.largestSide - 1).leadingZeroBitCount)
        let size = PixelSize(width: side, height: side)
        let square = image.resized(SampleRegion(image.size), to: size)
        let blocks = try PVRTCEncoder.encode(square, .fastest)
        return Texture(format, size, .opaque, levels: [blocks]).pvr3File()
    }

    /// Decodes a file, or finds the blocks of a texture.
    ///
    /// - Returns: the memory of the result in bytes.
    private static func decode(
        _ bytes: EncodedBytes, _ format: String, _ options: DecodeOptions
    ) throws(CodecError) -> Int {
        guard texture(format) == nil else {
            let header = try bytes.withBytes { file throws(CodecError) in try TextureHeader(file) }
            return header.levels[0].count
        }
        let image = try ImageSource(bytes, codecs: builtInCodecs).image(options)
        return PixelBuffer.byteCount(of: image.size, image.format)
    }

    private func series(
        _ path: String, _ format: String, isCold: Bool, isShrunk: Bool
    ) throws(FileFailure) -> (load: Duration, total: Duration, memory: Int, count: Int)? {
        do throws(CodecError) {
            var options = DecodeOptions()
            if isShrunk { options.box = PixelSize(width: display, height: display) }
            var loads: [Duration] = []
            var totals: [Duration] = []
            var memory = 0
            var spent = Duration.zero
            let clock = ContinuousClock()
            repeat {
                if isCold, !PageCache.evict(path) { return nil }
                let start = clock.now
                let bytes = try EncodedBytes(reading: path)
                let loaded = clock.now
                memory = try Self.decode(bytes, format, options)
                let end = clock.now
                loads.append(loaded - start)
                totals.append(end - start)
                spent += end - start
            } while spent < duration || totals.count < 3
            return (Self.median(loads), Self.median(totals), memory, totals.count)
        } catch {
            throw FileFailure(path, error)
        }
    }

    private static func median(_ durations: [Duration]) -> Duration {
        durations.sorted()[durations.count / 2]
    }
}
