// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

/// Measures the time to load and decode images in many formats.
struct FormatBenchmark {
    /// The result of a series of repetitions.
    struct Result {
        let format: String
        let image: String
        let size: PixelSize
        let byteCount: Int
        /// Whether the file was read from disk, not from the page cache.
        let isCold: Bool
        /// Whether the image was decoded at the size of `display`, not at full size.
        let isShrunk: Bool
        /// The median times of loading, and of loading and decoding.
        let load: Duration
        let total: Duration
        let repetitions: Int
    }

    let folder: String
    let formats: [String]
    let encoding: EncodeOptions
    let display: Int
    let duration: Duration

    func seriesCount(_ images: [BenchImage]) -> Int {
        let shrunk = BenchImage.sizes.filter { $0.largestSide > display }.count
        return images.count * formats.count * (BenchImage.sizes.count + shrunk) * 2
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
        for picture in images {
            for size in BenchImage.sizes {
                let image = picture.resized(to: size)
                for format in formats {
                    let path = "\(folder)/picture.\(format)"
                    let byteCount = try write(image, format, to: path)
                    for isShrunk in size.largestSide > display ? [false, true] : [false] {
                        for isCold in [false, true] {
                            if isInterrupted() { return results }
                            defer { didFinish() }
                            guard
                                let times = try series(path, isCold: isCold, isShrunk: isShrunk)
                            else { continue }
                            results.append(
                                Result(
                                    format: format, picture: picture.name, size: size,
                                    byteCount: byteCount, isCold: isCold, isShrunk: isShrunk,
                                    load: times.load, total: times.total,
                                    repetitions: times.count))
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
            let destination = try ImageDestination(
                format: format, codecs: builtInCodecs, options: encoding)
            let file = try destination.encode(image)
            try ImageDestination.write(file, to: path)
            return file.count
        } catch {
            throw FileFailure(path, error)
        }
    }

    private func series(
        _ path: String, isCold: Bool, isShrunk: Bool
    ) throws(FileFailure) -> (load: Duration, total: Duration, count: Int)? {
        do throws(CodecError) {
            var options = DecodeOptions()
            if isShrunk { options.box = PixelSize(width: display, height: display) }
            var loads: [Duration] = []
            var totals: [Duration] = []
            var spent = Duration.zero
            let clock = ContinuousClock()
            repeat {
                if isCold, !PageCache.evict(path) { return nil }
                let start = clock.now
                let bytes = try EncodedBytes(reading: path)
                let loaded = clock.now
                _ = try ImageSource(bytes, codecs: builtInCodecs).image(options)
                let end = clock.now
                loads.append(loaded - start)
                totals.append(end - start)
                spent += end - start
            } while spent < duration || totals.count < 3
            return (Self.median(loads), Self.median(totals), totals.count)
        } catch {
            throw FileFailure(path, error)
        }
    }

    private static func median(_ durations: [Duration]) -> Duration {
        durations.sorted()[durations.count / 2]
    }
}
