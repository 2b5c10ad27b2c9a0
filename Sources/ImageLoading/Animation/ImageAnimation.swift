// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import LoadScheduling
public import Pixels

/// A frame of an animation.
public struct AnimationFrame: Sendable {
    /// The whole canvas, resized and processed as requested.
    public let image: PixelBuffer
    /// The duration that the file specifies; 0 if it specifies none.
    public let duration: Duration
    /// The index of the frame in the animation, from 0.
    public let index: Int
}

/// The frames of an animation in the order in which they are shown, repeated as the file specifies.
///
/// Each iteration plays the animation from the start. Frames are decoded on the pipeline's threads,
/// some ahead of the one that is shown. Decoding ends when the iteration ends or its task is
/// cancelled. A still image is a single frame.
///
/// Memory: during an iteration, the ``MemoryBudget`` accounts for composing, the frame that is shown
/// and those ahead. The iteration waits for the first two. If there is no memory for more, fewer
/// frames are decoded ahead; no frame is skipped. Frames shown earlier are not in the budget.
public struct ImageAnimation: AsyncSequence, Sendable {
    /// A frame.
    public typealias Element = AnimationFrame
    /// The error of an iteration.
    public typealias Failure = LoadError

    /// The default number of frames that are decoded ahead of the one that is shown.
    public static let usualCountAhead = 2
    /// The maximum number of bytes of all frames ahead.
    public static let maximumByteCountAhead = 64 << 20

    let resources: PipelineResources
    let request: ImageRequest
    let urgency: PriorityHandle
    let source: ImageSource
    let countAhead: Int
    /// Whether it ends after one pass, whatever the file specifies.
    var isPlayedOnce = false

    /// The number of frames of one pass.
    public var frameCount: Int { source.header.frameCount }

    /// The number of passes that the file specifies; 0 means that it repeats forever.
    public var loopCount: Int { source.header.loopCount }

    /// The size of each frame before it is processed.
    ///
    /// Frames may be smaller if ``ImageRequest/acceptsSmaller`` is set and memory is short.
    public var pixelSize: PixelSize { source.resultSize(request.options) }

    /// Begins to play the animation from the start.
    public func makeAsyncIterator() -> Iterator { Iterator(FrameLookAhead(self)) }

    /// One play of the animation.
    public struct Iterator: AsyncIteratorProtocol {
        /// Ends the work with the last reference.
        private final class Consumer {
            let frames: FrameLookAhead

            init(_ frames: FrameLookAhead) { self.frames = frames }

            deinit { frames.stop() }
        }

        private let consumer: Consumer

        init(_ frames: FrameLookAhead) { consumer = Consumer(frames) }

        /// Returns the next frame, which replaces the one before.
        ///
        /// - Returns: `nil` after the last.
        /// - Throws: `LoadError`; `LoadError/cancelled` as soon as the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LoadError) -> AnimationFrame? {
            try await consumer.frames.next()
        }
    }
}

extension ImageAnimation {
    /// Reads the header of an animation; decodes none of its frames.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - request: the size and the processors of each frame.
    ///   - resources: the queues, the codecs and the budget.
    ///   - urgency: the priority of all frames.
    ///   - countAhead: the number of frames to decode ahead.
    /// - Throws: ``LoadError``.
    init(
        opening bytes: EncodedBytes, for request: ImageRequest, _ resources: PipelineResources,
        urgency: PriorityHandle, countAhead: Int
    ) async throws(LoadError) {
        let source = try await resources.queues.lookups.run(urgency) {
            [codecs = resources.codecs, limits = resources.limits] _ throws(LoadError) in
            do throws(CodecError) {
                return try ImageSource(bytes, codecs: codecs, limits: limits)
            } catch {
                throw LoadError(decoding: request.source.name, error)
            }
        }
        self.init(
            resources: resources, request: request, urgency: urgency, source: source,
            countAhead: countAhead)
    }
}
