// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Foundation
internal import ImageCodecs
internal import ImageLoading
internal import Pixels
internal import Synchronization

/// Counts the pictures that were decoded, those that somebody still holds, and those that were ever
/// shown.
final class PictureLedger: Sendable {
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
        /// Pictures that are alive, by identity, which may be used again after the end of one.
        var alive: [ObjectIdentifier: Entry] = [:]
        var decoded = Sum()
        var unshown = Sum()
        var failures: [String: String] = [:]
    }

    private let state = Mutex(State())

    /// Takes in a picture that was made.
    func note(_ image: LoadedImage) {
        state.withLock { state in
            // The same object again, unless another one had this identity before.
            if let known = state.alive[ObjectIdentifier(image)], known.image === image { return }
            state.alive[ObjectIdentifier(image)] = Entry(
                image: image, byteCount: image.image.byteCount)
            state.decoded.add(image.image.byteCount)
            state.unshown.add(image.image.byteCount)
        }
    }

    /// Takes in why a picture could not be made.
    func note(_ reason: String, _ path: String) {
        state.withLock { $0.failures[path] = reason }
    }

    /// Takes in that a picture was shown.
    func show(_ image: LoadedImage) {
        note(image)
        state.withLock { state in
            guard state.alive[ObjectIdentifier(image)]?.wasShown == false else { return }
            state.alive[ObjectIdentifier(image)]?.wasShown = true
            state.unshown.add(image.image.byteCount, times: -1)
        }
    }

    /// The bytes of the pictures that somebody holds.
    func liveByteCount() -> Int {
        state.withLock { state in
            state.alive = state.alive.filter { $0.value.image != nil }
            return state.alive.values.reduce(0) { $0 + $1.byteCount }
        }
    }

    /// What was made so far.
    var decoded: Sum { state.withLock { $0.decoded } }

    /// What of that was not shown so far.
    var unshown: Sum { state.withLock { $0.unshown } }

    /// Why pictures could not be made, by path.
    var failures: [String: String] { state.withLock { $0.failures } }

    /// Reads a file here and now.
    ///
    /// - Returns: `nil` if that fails, which is noted.
    func read(_ path: String) -> EncodedBytes? {
        do throws(CodecError) {
            return try EncodedBytes(reading: path)
        } catch {
            note(error.description, path)
            return nil
        }
    }

    /// Loads and decodes a picture here and now.
    ///
    /// - Returns: `nil` if that fails, which is noted.
    func decode(_ request: ImageRequest) -> LoadedImage? {
        guard case .file(let path) = request.source, let bytes = read(path) else { return nil }
        return decode(request, path, bytes)
    }

    /// Decodes a picture of `path`, whose bytes are there, here and now.
    func decode(_ request: ImageRequest, _ path: String, _ bytes: EncodedBytes) -> LoadedImage? {
        let start = ContinuousClock.now
        do throws(CodecError) {
            let source = try ImageSource(bytes, codecs: builtInCodecs)
            let image = LoadedImage(
                try source.image(request.options),
                key: ImageKey(original: .named(path), options: request.options),
                originalSize: source.pixelSize, cost: start.duration(to: .now))
            note(image)
            return image
        } catch {
            note(error.description, path)
            return nil
        }
    }

    /// Decodes a picture at the smallest of its size, half of it, half of that and so on that is no
    /// smaller than asked for, and cuts it into tiles.
    ///
    /// - Returns: nothing if that fails, which is noted.
    func decodeTiles(_ request: ImageRequest, side: Int) -> [LoadedImage] {
        guard case .file(let path) = request.source, let bytes = read(path) else { return [] }
        do throws(CodecError) {
            return try tiles(of: ImageSource(bytes, codecs: builtInCodecs), path, request, side)
        } catch {
            note(error.description, path)
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
        let picture = try source.image(options)
        let key = ImageKey(original: .named(path), options: options)
        var tiles: [LoadedImage] = []
        for y in stride(from: 0, to: size.height, by: side) {
            for x in stride(from: 0, to: size.width, by: side) {
                let part = PixelRect(
                    x: x, y: y, width: min(side, size.width - x),
                    height: min(side, size.height - y))
                tiles.append(
                    LoadedImage(
                        picture.cut(part), key: key, originalSize: source.pixelSize,
                        cost: start.duration(to: .now)))
            }
        }
        for tile in tiles { note(tile) }
        return tiles
    }
}
