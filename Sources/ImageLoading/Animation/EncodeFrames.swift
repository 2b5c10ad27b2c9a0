// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels
internal import Synchronization

extension ImagePipeline {
    /// Whether a rendition shows all frames of an animation whose first one is there.
    func staysAnimated(_ first: LoadedImage, _ request: RenditionRequest) -> Bool {
        guard first.originalFrameCount > 1, let format = request.animationFormat,
            let destination = try? ImageDestination(format: format, codecs: codecs),
            destination.writesAnimations
        else { return false }
        return [first.originalSize, first.image.size].allSatisfy {
            pixelCount(first.originalFrameCount, $0) <= animatedRenditionPixelCount
        }
    }

    /// Bytes, then frame after frame: decode, process, encode; keep.
    ///
    /// Frames are decoded one ahead of the one that is encoded, and each is queued for by itself, so
    /// that a long animation keeps nobody waiting.
    func encodedFrames(
        of original: OriginalIdentity, _ request: RenditionRequest, _ key: RenditionKey,
        _ context: LoadContext<NoUpdate>
    ) async throws(LoadError) -> Rendition {
        let urgency = context.urgency
        let kept = try await lookups.run(urgency) { [self] _ throws(LoadError) in
            keptMeanwhile(key, request)
        }
        if let kept { return kept }
        let salt = request.image.isShared ? 0 : nextSalt()
        let data = try await loadData(
            request.image, DataKey(request.image, of: original, salt: salt),
            SharedData.Consumer(
                urgency: urgency, storeWish: { context.storeWish().intersection(.original) },
                failurePolicy: request.image.failurePolicy, story: context.story))
        var image = request.image
        // Of an animation that ends early the frames that are there are shown, as browsers do.
        image.options.acceptsTruncated = true
        // Few programs that play animations look for a profile in one.
        image.options.convertsToSRGB = true
        var animation = try await self.animation(
            of: data.bytes, for: image, urgency: urgency, countAhead: 1)
        animation.isPlayedOnce = true
        let writer = try FrameWriter(animation, request, animatedRenditionPixelCount)
        try await animatedRenditions.enter(urgency.priority)
        defer { animatedRenditions.leave() }
        var frames = animation.makeAsyncIterator()
        while let frame = try await frames.next() {
            try await encodes.run(urgency, continuing: true) { _ throws(LoadError) in
                try writer.append(frame)
            }
        }
        return try await encodes.run(urgency, continuing: true) { [self] _ throws(LoadError) in
            let rendition = try writer.finish(data.original)
            metrics.recordEncode(writer.duration)
            context.story.add(
                LoadStep(
                    .encode,
                    "\(writer.frameCount) frames, \(rendition.bytes.count) bytes of "
                        + rendition.mediaType,
                    duration: writer.duration))
            if try isCurrent(data, original) {
                keep(
                    rendition, RenditionKey(data.original, request), data.storability, context)
            }
            return rendition
        }
    }

    /// Whether bytes are still those of the original.
    private func isCurrent(
        _ data: LoadedData, _ original: OriginalIdentity
    ) throws(LoadError) -> Bool {
        guard case .file(let file) = original else { return !data.isOutOfDate }
        return try FileIdentity(path: file.path) == file
    }
}

/// Pixels of so many frames; the most that there can be if that cannot be said.
private func pixelCount(_ frameCount: Int, _ size: PixelSize) -> Int {
    let (count, overflow) = size.area.multipliedReportingOverflow(by: frameCount)
    return overflow ? .max : count
}

/// Writes the frames of an animation into a file, in the order in which they come.
///
/// A lock: held by the one frame that is encoded.
private final class FrameWriter: Sendable {
    private struct State {
        var writer: (any AnimationWriter)?
        var size = PixelSize(width: 0, height: 0)
        var frameCount = 0
        var duration = Duration.zero
    }

    private let name: String
    private let destination: ImageDestination
    private let loopCount: Int
    private let maximumPixelCount: Int
    private let clock = ContinuousClock()
    private let state = Mutex(State())

    init(
        _ animation: ImageAnimation, _ request: RenditionRequest, _ maximumPixelCount: Int
    ) throws(LoadError) {
        name = request.image.source.name
        loopCount = animation.loopCount
        self.maximumPixelCount = maximumPixelCount
        do throws(CodecError) {
            destination = try ImageDestination(
                format: request.animationFormat ?? "", codecs: animation.pipeline.codecs,
                options: request.encodeOptions)
        } catch {
            throw .encodingFailed(path: name, error)
        }
    }

    var frameCount: Int { state.withLock(\.frameCount) }
    /// How long encoding took so far.
    var duration: Duration { state.withLock(\.duration) }

    func append(_ frame: AnimationFrame) throws(LoadError) {
        let start = clock.now
        try state.withLock { state throws(LoadError) in
            state.frameCount += 1
            let needed = pixelCount(state.frameCount, frame.image.size)
            guard needed <= maximumPixelCount else {
                throw .decodingFailed(
                    path: name,
                    .limitExceeded(
                        .animationPixelCount, needed: needed, allowed: maximumPixelCount))
            }
            do throws(CodecError) {
                if state.writer == nil {
                    state.size = frame.image.size
                    state.writer = try destination.animationWriter(
                        frame.image.size, loopCount: loopCount)
                }
                try state.writer?.append(frame.image, duration: frame.duration)
            } catch {
                throw .encodingFailed(path: name, error)
            }
            state.duration += start.duration(to: clock.now)
        }
    }

    func finish(_ original: OriginalVersion) throws(LoadError) -> Rendition {
        let start = clock.now
        return try state.withLock { state throws(LoadError) in
            guard state.frameCount > 0 else {
                throw .decodingFailed(path: name, .truncated(byteCount: 0))
            }
            do throws(CodecError) {
                let bytes = try state.writer?.finish() ?? []
                state.duration += start.duration(to: clock.now)
                return Rendition(
                    bytes: bytes, mediaType: destination.format.mediaType, pixelSize: state.size,
                    original: original)
            } catch {
                throw .encodingFailed(path: name, error)
            }
        }
    }
}
