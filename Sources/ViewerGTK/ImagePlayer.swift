// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import ImageLoading
internal import ViewerModel

/// Shows the frames of an animation at their times.
@MainActor
final class ImagePlayer {
    let frameCount: Int
    private(set) var isPlaying = false
    private let pipeline: ImagePipeline
    private let request: ImageRequest
    private let show: (Texture) -> Void
    private var frames: ImageAnimation.Iterator?
    private var playback = FramePlayback()
    /// The work that was started last; each waits for the one before, because frames have an order.
    private var work: Task<Void, Never>?

    init(
        _ pipeline: ImagePipeline, _ request: ImageRequest, frameCount: Int,
        show: @escaping (Texture) -> Void
    ) {
        self.pipeline = pipeline
        self.request = request
        self.frameCount = frameCount
        self.show = show
    }

    /// The position of the frame that is shown.
    var index: Int { playback.index }

    func play() {
        guard !isPlaying else { return }
        isPlaying = true
        start { player in
            while player.isPlaying, let due = await player.showNext() {
                try? await Task.sleep(until: due, clock: .continuous)
                if Task.isCancelled { return }
            }
            player.isPlaying = false
        }
    }

    func pause() {
        isPlaying = false
        playback.pause()
    }

    /// Shows the next frame, or the previous one, which is decoded from the start.
    func step(_ count: Int) {
        pause()
        start { player in
            if count > 0 {
                // After the last frame, the first.
                if await player.showNext() == nil { _ = await player.showNext() }
            } else {
                await player.seek(player.playback.previous(of: player.frameCount))
            }
            player.playback.pause()
        }
    }

    func stop() {
        isPlaying = false
        work?.cancel()
    }

    private func start(_ body: @escaping @MainActor (ImagePlayer) async -> Void) {
        let before = work
        work = Task { [weak self] in
            await before?.value
            guard let self, !Task.isCancelled else { return }
            await body(self)
        }
    }

    /// Shows a frame, or the last one before it of an animation with fewer frames than its header
    /// specifies.
    private func seek(_ index: Int) async {
        frames = nil
        var last: AnimationFrame?
        // An animation may repeat forever.
        while let frame = await nextFrame(), frame.index >= last?.index ?? 0 {
            last = frame
            if frame.index >= index { break }
        }
        if let last { show(last) }
    }

    /// Shows the next frame; returns when the one after it is due, or `nil` after the last.
    private func showNext() async -> ContinuousClock.Instant? {
        guard let frame = await nextFrame() else {
            frames = nil
            return nil
        }
        return show(frame)
    }

    @discardableResult
    private func show(_ frame: AnimationFrame) -> ContinuousClock.Instant {
        show(Texture(frame.image))
        return playback.show(frame.index, duration: frame.duration, at: .now)
    }

    private func nextFrame() async -> AnimationFrame? {
        if frames == nil {
            frames = try? await pipeline.animation(for: request).makeAsyncIterator()
        }
        guard var iterator = frames else { return nil }
        let frame = try? await iterator.next()
        frames = iterator
        return frame
    }
}
#endif
