// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The position of a frame in an animation that repeats.
struct FramePlace: Hashable, Comparable, Sendable {
    var pass = 0
    var index = 0

    var next: FramePlace { FramePlace(pass: pass, index: index + 1) }

    static func < (one: FramePlace, other: FramePlace) -> Bool {
        (one.pass, one.index) < (other.pass, other.index)
    }
}

/// Composes frames of an animation at any position; fastest in their order.
struct FrameCursor: ~Copyable {
    private let source: ImageSource
    /// The number of passes; 0 means that it repeats forever.
    private let passCount: Int
    private let processors: [any ImageProcessor]
    private let cancellation: CancellationFlag
    private var frames: ImageFrames?
    /// The index of the next frame of `frames`.
    private var nextIndex = 0

    init(_ animation: ImageAnimation, _ cancellation: CancellationFlag) {
        source = animation.source
        passCount = animation.isPlayedOnce ? 1 : source.header.loopCount
        processors = animation.request.processors
        self.cancellation = cancellation
    }

    /// Returns the frame at a position, or the first of the next pass if the pass ends before it.
    ///
    /// - Parameters:
    ///   - place: the position of the frame.
    ///   - options: the size and the form of the frame, the same for each call.
    /// - Returns: the frame and its position; `nil` after the last pass.
    /// - Throws: ``CodecError``; no frame follows an error.
    mutating func frame(
        at place: FramePlace, _ options: DecodeOptions
    ) throws(CodecError) -> (frame: AnimationFrame, place: FramePlace)? {
        if let frame = try frame(at: place.index, options) { return (frame, place) }
        let pass = place.pass + 1
        // A single frame that repeats forever is returned once.
        guard place.index > 1, passCount == 0 || pass < passCount,
            let frame = try frame(at: 0, options)
        else { return nil }
        return (frame, FramePlace(pass: pass))
    }

    private mutating func frame(
        at index: Int, _ options: DecodeOptions
    ) throws(CodecError) -> AnimationFrame? {
        if index < nextIndex { frames = nil }
        if frames == nil {
            frames = try source.frames(options, cancellation: cancellation)
            nextIndex = 0
        }
        // Most formats encode only the difference of a frame to the one before.
        while let frame = try nextFrame() {
            guard nextIndex > index else { continue }
            var image = frame.image
            for processor in processors { image = try processor.process(image, cancellation) }
            return AnimationFrame(image: image, duration: frame.duration, index: index)
        }
        // The canvas is not needed until the next pass begins.
        frames = nil
        return nil
    }

    private mutating func nextFrame() throws(CodecError) -> ImageFrame? {
        guard var current = frames.take() else { return nil }
        let frame = try current.next()
        frames = consume current
        if frame != nil { nextIndex += 1 }
        return frame
    }
}
