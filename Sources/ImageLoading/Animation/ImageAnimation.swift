// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import LoadScheduling
public import Pixels

/// A frame of an animation that is played.
public struct AnimationFrame: Sendable {
    /// The whole canvas, resized and processed as it was asked for.
    public let image: PixelBuffer
    /// How long it is shown, as the file says; 0 where it says nothing.
    public let duration: Duration
    /// Its place in the animation, from 0.
    public let index: Int
}

/// The frames of an animation in the order in which they are shown, as often as the file says.
///
/// Each loop over it plays the animation from the start: frames are decoded on the pipeline's
/// threads, some ahead of the one that is shown, and decoding ends when the loop does or its task is
/// cancelled. A picture that does not move is its own only frame.
///
/// Memory: while it is played, ``MemoryBudget`` is charged for what composing frames takes, the frame
/// that is shown and those that are ahead. The first two it waits for; when there is no room for
/// more, fewer frames are decoded ahead, and no frame is left out. A frame that was shown before is
/// its consumer's alone.
public struct ImageAnimation: AsyncSequence, Sendable {
    public typealias Element = AnimationFrame
    public typealias Failure = LoadError

    /// Frames that are decoded ahead of the one that is shown, unless told otherwise.
    public static let usualCountAhead = 2
    /// The bytes that frames ahead take at most, whatever their number.
    public static let maximumByteCountAhead = 64 << 20

    let resources: PipelineResources
    let request: ImageRequest
    let urgency: LoadUrgency
    let source: ImageSource
    let countAhead: Int
    /// Whether it ends after one pass, however often the file wants it to be shown.
    var isPlayedOnce = false

    /// The frames of one pass.
    public var frameCount: Int { source.header.frameCount }

    /// How often the file wants all of it to be shown; 0 means for ever.
    public var loopCount: Int { source.header.loopCount }

    /// The size of each frame before it is processed, unless
    /// ``ImageRequest/acceptsSmaller`` allows a smaller one and memory asks for it.
    public var pixelSize: PixelSize { source.resultSize(request.options) }

    public func makeAsyncIterator() -> Iterator { Iterator(FrameLookAhead(self)) }

    public struct Iterator: AsyncIteratorProtocol {
        /// Ends the work with the last reference.
        private final class Consumer {
            let frames: FrameLookAhead

            init(_ frames: FrameLookAhead) { self.frames = frames }

            deinit { frames.stop() }
        }

        private let consumer: Consumer

        init(_ frames: FrameLookAhead) { consumer = Consumer(frames) }

        /// The next frame, to be shown in place of the one before.
        ///
        /// - Returns: `nil` after the last.
        /// - Throws: ``LoadError``; ``LoadError/cancelled`` as soon as the task is cancelled.
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
        urgency: LoadUrgency, countAhead: Int
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

extension ImagePipeline {
    /// Returns the frames of an animation, or a still image as the only frame.
    ///
    /// - Parameters:
    ///   - request: the original; its size and its processors apply to each frame.
    ///   - urgency: the priority, which may change; by default that of the request.
    ///   - countAhead: the number of frames to decode ahead of the one that is shown.
    /// - Returns: an animation that can be played any number of times; no frame is decoded yet.
    /// - Throws: ``LoadError``.
    public func animation(
        for request: ImageRequest, urgency: LoadUrgency? = nil,
        countAhead: Int = ImageAnimation.usualCountAhead
    ) async throws(LoadError) -> ImageAnimation {
        precondition(countAhead >= 0, "countAhead is negative")
        let urgency = urgency ?? LoadUrgency.fixed(request.priority)
        let bytes = try await data(for: request, urgency: urgency)
        return try await ImageAnimation(
            opening: bytes, for: request, resources, urgency: urgency, countAhead: countAhead)
    }
}
