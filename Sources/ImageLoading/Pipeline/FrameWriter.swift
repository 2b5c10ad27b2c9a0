// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import Pixels
internal import Synchronization

/// Writes the frames of an animation into a file, in the order in which they are appended.
///
/// A lock: held while a frame is encoded.
final class FrameWriter: Sendable {
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

    /// - Parameters:
    ///   - animation: the animation to write.
    ///   - request: the format and its options.
    ///   - maximumPixelCount: the maximum number of pixels of all frames.
    /// - Throws: ``LoadError/encodingFailed(path:_:)`` for an unknown format.
    init(
        _ animation: ImageAnimation, _ request: RenditionRequest, _ maximumPixelCount: Int
    ) throws(LoadError) {
        name = request.image.source.name
        loopCount = animation.loopCount
        self.maximumPixelCount = maximumPixelCount
        do throws(CodecError) {
            destination = try ImageDestination(
                format: request.animationFormat ?? "", codecs: animation.resources.codecs,
                options: request.encodeOptions)
        } catch {
            throw .encodingFailed(path: name, error)
        }
    }

    var frameCount: Int { state.withLock(\.frameCount) }
    /// The time that encoding has taken so far.
    var duration: Duration { state.withLock(\.duration) }

    func append(_ frame: AnimationFrame) throws(LoadError) {
        let start = clock.now
        try state.withLock { state throws(LoadError) in
            state.frameCount += 1
            let needed = frame.image.size.area(ofFrames: state.frameCount)
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

extension PixelSize {
    /// The pixels of frames of this size; `Int.max` if the number overflows.
    func area(ofFrames count: Int) -> Int {
        let (area, overflow) = area.multipliedReportingOverflow(by: count)
        return overflow ? .max : area
    }
}
