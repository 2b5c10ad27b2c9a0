// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A composited frame of an animation.
public struct ImageFrame: Sendable {
    /// The whole canvas at the size of the options.
    public let image: PixelBuffer
    /// The duration in the file; 0 if the file states none.
    public let duration: Duration
    /// The region of the canvas that the frame changed, in stored pixels.
    public let region: PixelRect
    /// How the region is changed before the next frame.
    public let disposal: StoredFrame.Disposal
    /// How the frame was combined with the canvas.
    public let blending: StoredFrame.Blending

    /// A frame; see the properties of the same names.
    public init(
        image: PixelBuffer, duration: Duration, region: PixelRect,
        disposal: StoredFrame.Disposal, blending: StoredFrame.Blending
    ) {
        self.image = image
        self.duration = duration
        self.region = region
        self.disposal = disposal
        self.blending = blending
    }
}

/// The frames of an animation, each of which is composited on request.
///
/// Memory: the canvas, one frame and, while a frame is to be undone, the pixels that it covers.
public struct ImageFrames: ~Copyable {
    /// The colour space and the pixel format of the frames.
    struct FrameForm {
        let options: DecodeOptions
        let codecs: CodecSet
    }

    private enum Source {
        case animation(any FrameReader, DecodePlan, FrameForm)
        case still(ImageSource, DecodeOptions)
        case remote(any RemoteFrames, ResultForm)
        case ended
    }

    private var source: Source
    private var canvas: FrameCanvas?
    private let cancellation: CancellationFlag?
    private let limits: DecodeLimits
    private let storedSize: PixelSize
    /// The file of an animation; `nil` for a still image.
    private let bytes: EncodedBytes?
    private var frameCount = 0
    /// The number of times that the animation is played; 0 means infinitely.
    public let loopCount: Int

    init(only source: ImageSource, _ options: DecodeOptions, _ cancellation: CancellationFlag?) {
        self.source = .still(source, options)
        self.cancellation = cancellation
        limits = source.limits
        bytes = nil
        storedSize = source.header.storedSize
        loopCount = source.header.loopCount
    }

    init(
        _ frames: any RemoteFrames, _ form: ResultForm, of bytes: EncodedBytes,
        _ header: ImageHeader, _ limits: DecodeLimits, _ cancellation: CancellationFlag?
    ) {
        source = .remote(frames, form)
        self.bytes = bytes
        self.limits = limits
        storedSize = header.storedSize
        self.cancellation = cancellation
        loopCount = header.loopCount
    }

    init(
        _ reader: any FrameReader, of bytes: EncodedBytes, _ header: ImageHeader,
        _ limits: DecodeLimits, _ plan: DecodePlan, _ form: FrameForm,
        _ cancellation: CancellationFlag?
    ) {
        self.bytes = bytes
        self.limits = limits
        storedSize = header.storedSize
        source = .animation(reader, plan, form)
        canvas = FrameCanvas(header.storedSize, header.colorProfile)
        self.cancellation = cancellation
        loopCount = header.loopCount
    }

    /// Decodes and composites the next frame.
    ///
    /// - Returns: `nil` after the last, and at the end of a truncated file with
    ///   ``DecodeOptions/acceptsTruncated``.
    /// - Throws: ``CodecError``; no frame follows an error.
    public mutating func next() throws(CodecError) -> ImageFrame? {
        if cancellation?.isCancelled == true { throw .cancelled }
        let frame: ImageFrame?
        do throws(CodecError) {
            frame = try decodedNext()
        } catch {
            try endIfChanged()
            throw error
        }
        try endIfChanged()
        return frame
    }

    private mutating func endIfChanged() throws(CodecError) {
        do throws(CodecError) {
            try bytes?.checkUnchanged()
        } catch {
            source = .ended
            throw error
        }
    }

    private mutating func decodedNext() throws(CodecError) -> ImageFrame? {
        let current = source
        source = .ended
        switch current {
        case .ended:
            return nil
        case .still(let still, let options):
            let image = try still.image(options, cancellation: cancellation)
            return ImageFrame(
                image: image, duration: .zero, region: PixelRect(still.header.storedSize),
                disposal: .keep, blending: .replace)
        case .remote(let frames, let form):
            guard let frame = try frames.next() else { return nil }
            try countFrame()
            try form.check(frame.image)
            source = current
            return frame
        case .animation(var reader, let plan, let form):
            do throws(CodecError) {
                guard let frame = try reader.next() else { return nil }
                try countFrame()
                try limits.check(frame.region.size)
                source = .animation(reader, plan, form)
                return try shown(frame, plan, form)
            } catch {
                guard case .truncated = error, plan.acceptsTruncated else { throw error }
                return nil
            }
        }
    }

    /// Counts a frame, since the file may have more frames than its header states.
    private mutating func countFrame() throws(CodecError) {
        frameCount += 1
        try limits.check(frameCount: frameCount, of: storedSize)
    }

    private mutating func shown(
        _ frame: StoredFrame, _ plan: DecodePlan, _ form: FrameForm
    ) throws(CodecError) -> ImageFrame? {
        guard var canvas = canvas.take() else { return nil }
        canvas.draw(frame)
        let drawn = canvas.image(plan)
        self.canvas = consume canvas
        let image = try form.codecs.finished(drawn, form.options, limits)
        return ImageFrame(
            image: image, duration: frame.duration, region: frame.region,
            disposal: frame.disposal, blending: frame.blending)
    }
}
