// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageCodecs
internal import ImageLoading
internal import Pixels
internal import Synchronization

/// Counts the images that were decoded, displayed, and are still in memory.
final class ImageLedger: Sendable {
    private struct Entry {
        weak var image: LoadedImage?
        let byteCount: Int
        var wasShown = false
    }

    struct Sum {
        var count = 0
        var byteCount = 0

        mutating func add(_ byteCount: Int, times sign: Int = 1) {
            count += sign
            self.byteCount += sign * byteCount
        }
    }

    private struct State {
        /// The images in memory.
        ///
        /// Identifiers can be reused after an image is deallocated.
        var alive: [ObjectIdentifier: Entry] = [:]
        var decoded = Sum()
        var unshown = Sum()
        var failures: [String: String] = [:]
    }

    private let state = Mutex(State())

    /// Records a decoded image.
    func record(_ image: LoadedImage) {
        state.withLock { state in
            // Another object may have had this identifier before.
            if let known = state.alive[ObjectIdentifier(image)], known.image === image { return }
            state.alive[ObjectIdentifier(image)] = Entry(
                image: image, byteCount: image.image.byteCount)
            state.decoded.add(image.image.byteCount)
            state.unshown.add(image.image.byteCount)
        }
    }

    /// Records the error of an image.
    func record(_ reason: String, _ path: String) {
        state.withLock { $0.failures[path] = reason }
    }

    /// Records that an image was displayed.
    func show(_ image: LoadedImage) {
        record(image)
        state.withLock { state in
            guard state.alive[ObjectIdentifier(image)]?.wasShown == false else { return }
            state.alive[ObjectIdentifier(image)]?.wasShown = true
            state.unshown.add(image.image.byteCount, times: -1)
        }
    }

    /// The bytes of images that are in memory.
    func liveByteCount() -> Int {
        state.withLock { state in
            state.alive = state.alive.filter { $0.value.image != nil }
            return state.alive.values.reduce(0) { $0 + $1.byteCount }
        }
    }

    /// The images that have been decoded.
    var decoded: Sum { state.withLock { $0.decoded } }

    /// The decoded images that have not been displayed.
    var unshown: Sum { state.withLock { $0.unshown } }

    /// The errors of images that could not be decoded, by path.
    var failures: [String: String] { state.withLock { $0.failures } }

    /// Reads a file synchronously.
    ///
    /// - Returns: The file; `nil` after an error, which is recorded.
    func read(_ path: String) -> EncodedBytes? {
        do throws(CodecError) {
            return try EncodedBytes(reading: path)
        } catch {
            record(error.description, path)
            return nil
        }
    }

    /// Loads and decodes an image synchronously.
    ///
    /// - Returns: The image; `nil` after an error, which is recorded.
    func decode(_ request: ImageRequest) -> LoadedImage? {
        guard case .file(let path) = request.source, let bytes = read(path) else { return nil }
        return decode(request, path, bytes)
    }

    /// Decodes the image of `path` from its bytes.
    func decode(_ request: ImageRequest, _ path: String, _ bytes: EncodedBytes) -> LoadedImage? {
        let start = ContinuousClock.now
        do throws(CodecError) {
            let source = try ImageSource(bytes, codecs: builtInCodecs)
            let image = LoadedImage(
                try source.image(request.options),
                key: ImageKey(original: .named(path), options: request.options),
                originalSize: source.pixelSize, cost: start.duration(to: .now))
            record(image)
            return image
        } catch {
            record(error.description, path)
            return nil
        }
    }

    /// Decodes an image at the smallest power-of-two reduction that is not smaller than requested,
    /// and splits it into tiles.
    ///
    /// - Returns: The tiles; an empty array after an error, which is recorded.
    func decodeTiles(_ request: ImageRequest, side: Int) -> [LoadedImage] {
        guard case .file(let path) = request.source, let bytes = read(path) else { return [] }
        do throws(CodecError) {
            return try tiles(of: ImageSource(bytes, codecs: builtInCodecs), path, request, side)
        } catch {
            record(error.description, path)
            return []
        }
    }

    private func tiles(
        of source: ImageSource, _ path: String, _ request: ImageRequest, _ side: Int
    ) throws(CodecError) -> [LoadedImage] {
        let start = ContinuousClock.now
        let wanted = source.resultSize(request.options)
        var size = source.pixelSize
        while size.width / 2 >= wanted.width, size.height / 2 >= wanted.height {
            size = PixelSize(width: size.width / 2, height: size.height / 2)
        }
        var options = request.options
        options.box = size
        options.mode = .stretch
        let image = try source.image(options)
        let key = ImageKey(original: .named(path), options: options)
        var tiles: [LoadedImage] = []
        for y in stride(from: 0, to: size.height, by: side) {
            for x in stride(from: 0, to: size.width, by: side) {
                let part = PixelRect(
                    x: x, y: y, width: min(side, size.width - x),
                    height: min(side, size.height - y))
                tiles.append(
                    LoadedImage(
                        image.cut(part), key: key, originalSize: source.pixelSize,
                        cost: start.duration(to: .now)))
            }
        }
        for tile in tiles { record(tile) }
        return tiles
    }
}
