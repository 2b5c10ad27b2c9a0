// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import LoadScheduling
public import Pixels
internal import Synchronization

extension TiledImage {
    /// The size of a band in bytes: small enough that its memory is used again for the next one.
    private static let bandByteCount = 16 << 20

    /// Decodes a part of the image at its own size, in horizontal bands on the threads of ``queue``.
    ///
    /// The pixels are those of `ImageSource.image(_:cancellation:)`. An image without an
    /// index, which ``Configuration-swift.struct/usesIndex`` requires, is decoded in one piece.
    ///
    /// - Parameters:
    ///   - part: the part, in pixels of the upright image, which must contain some of it; `nil` for all.
    ///   - bandCount: the maximum number of bands; `nil` for bands of about 16 MB.
    ///   - priority: the priority of the request.
    /// - Returns: the pixels, in sRGB.
    /// - Throws: `LoadError`.
    public func image(
        in part: PixelRect? = nil, bandCount: Int? = nil, priority: LoadPriority = .visible
    ) async throws(LoadError) -> PixelBuffer {
        let whole = PixelRect(source.pixelSize)
        let part = part.map(whole.intersection) ?? whole
        precondition(
            !part.isEmpty, "the part is outside of the image of \(source.pixelSize) pixels")
        var source = source
        var bands = [part]
        let byteCount = source.resultByteCount(options(for: part))
        if case .made(let indexed) = try await makeIndex(priority) {
            source = indexed
            bands = part.bands(bandCount ?? byteCount / Self.bandByteCount)
        }
        // The bands in work are held in addition to the result.
        let bandByteCount =
            bands.count > 1 ? queue.reading.width * (byteCount / bands.count) : 0
        let room = try await cache.budget?.reserve(byteCount + bandByteCount, priority: priority)
        defer { room?.release() }
        guard bands.count > 1 else {
            return try await decoded(part, of: source, priority) { $0 }
        }
        let canvas = BandCanvas(part)
        if let failure = await decode(bands, of: source, into: canvas, priority) { throw failure }
        guard let image = canvas.image else {
            throw .unreadable(path: name, reason: "the file changed")
        }
        return image
    }

    /// Decodes as many bands at a time as the queue has threads, so that other work keeps its turn.
    ///
    /// - Returns: the first error, if any.
    private func decode(
        _ bands: [PixelRect], of source: ImageSource, into canvas: BandCanvas,
        _ priority: LoadPriority
    ) async -> LoadError? {
        await withTaskGroup(of: LoadError?.self) { group in
            var waiting = bands[...]
            var failure: LoadError?
            var runningCount = 0
            repeat {
                while failure == nil, runningCount < queue.reading.width,
                    let band = waiting.popFirst()
                {
                    runningCount += 1
                    group.addTask {
                        do throws(LoadError) {
                            try await self.decoded(band, of: source, priority) {
                                image throws(CodecError) in try canvas.write(image, at: band)
                            }
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                if let error = await group.next() ?? nil, failure == nil {
                    failure = error
                    group.cancelAll()
                }
                runningCount -= 1
            } while runningCount > 0 || failure == nil && !waiting.isEmpty
            return failure
        }
    }

    private func options(for part: PixelRect) -> DecodeOptions {
        var options = DecodeOptions()
        options.region = part
        options.acceptsTruncated = configuration.acceptsTruncated
        return options
    }

    /// Decodes a part and passes it to `use`, on a thread of the queue.
    private func decoded<Value: Sendable>(
        _ part: PixelRect, of source: ImageSource, _ priority: LoadPriority,
        _ use: @escaping @Sendable (PixelBuffer) throws(CodecError) -> Value
    ) async throws(LoadError) -> Value {
        try await queue.reading.run(PriorityHandle.fixed(priority)) {
            cancellation throws(LoadError) in
            do throws(CodecError) {
                return try use(
                    try source.image(self.options(for: part), cancellation: cancellation))
            } catch {
                throw LoadError(decoding: self.name, error)
            }
        }
    }
}

extension PixelRect {
    /// Divides the rectangle into at most `count` bands, which start at multiples of the largest MCU's
    /// 16 rows.
    fileprivate func bands(_ count: Int) -> [PixelRect] {
        let bottom = y + height
        var edges = [y]
        for index in 1...max(1, count) {
            let edge = index == count ? bottom : (y + height * index / count) / 16 * 16
            if edge > edges[edges.count - 1] { edges.append(edge) }
        }
        return zip(edges, edges.dropFirst()).map { top, end in
            PixelRect(x: x, y: top, width: width, height: end - top)
        }
    }
}

/// The memory into which threads write the bands of an image.
///
/// Lock: held while the memory is made, not while it is written, each part by one thread.
private final class BandCanvas: Sendable {
    private struct Pixels {
        let mapping: MemoryMapping
        let format: PixelFormat
        let colorProfile: ColorProfile
    }

    private let part: PixelRect
    private let pixels = Mutex<Pixels?>(nil)

    init(_ part: PixelRect) { self.part = part }

    /// Writes a band.
    ///
    /// - Throws: ``CodecError``.
    func write(_ image: PixelBuffer, at band: PixelRect) throws(CodecError) {
        let byteCount = PixelBuffer.byteCount(of: part.size, image.format)
        let pixels = self.pixels.withLock { pixels in
            if pixels == nil, let mapping = MemoryMapping(byteCount: byteCount) {
                pixels = Pixels(
                    mapping: mapping, format: image.format, colorProfile: image.colorProfile)
            }
            return pixels
        }
        guard let pixels else {
            throw .library(message: "no memory for an image of \(byteCount) bytes")
        }
        guard image.size == band.size, image.format == pixels.format,
            image.colorProfile == pixels.colorProfile
        else { throw .fileChanged }
        let aligned = image.withAlignedRows
        pixels.mapping.write(aligned.bytes, at: (band.y - part.y) * aligned.bytesPerRow)
    }

    /// The image, after all bands have been written.
    var image: PixelBuffer? {
        pixels.withLock { $0 }.map {
            PixelBuffer(
                $0.mapping, size: part.size, format: $0.format, colorProfile: $0.colorProfile)
        }
    }
}
