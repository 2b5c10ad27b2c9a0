// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A frame of an animation as it is shown.
public struct ImageFrame: Sendable {
    /// The whole canvas at the size that was asked for.
    public let image: PixelBuffer
    /// How long it is shown, as the file says; 0 where it says nothing.
    public let duration: Duration
    /// What the frame changed on the canvas, in stored pixels.
    public let region: PixelRect
    public let disposal: StoredFrame.Disposal
    public let blending: StoredFrame.Blending

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

/// The frames of an animation, each composed when it is asked for.
///
/// Memory: the canvas, one frame and, only while a frame is to be taken back, what it covers.
public struct ImageFrames: ~Copyable {
    /// The colours and the format in which frames are given.
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
    /// The file of an animation.
    private let bytes: EncodedBytes?
    private var frameCount = 0
    /// How often the animation is shown in all; 0 means for ever.
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

    /// Decodes and composes the next frame.
    ///
    /// - Returns: `nil` after the last.
    /// - Throws: ``CodecError``; no frame comes after an error, unless it says that the file ends
    ///   early and that was to be accepted, which ends the animation.
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

    /// More frames may come than the header announced.
    private mutating func countFrame() throws(CodecError) {
        frameCount += 1
        try limits.check(frameCount: frameCount, of: storedSize)
    }

    private mutating func shown(
        _ frame: StoredFrame, _ plan: DecodePlan, _ form: FrameForm
    ) throws(CodecError) -> ImageFrame? {
        guard var canvas = canvas.take() else { return nil }
        canvas.draw(frame)
        let picture = canvas.picture(plan)
        self.canvas = consume canvas
        let image = try form.codecs.finished(picture, form.options, limits)
        return ImageFrame(
            image: image, duration: frame.duration, region: frame.region,
            disposal: frame.disposal, blending: frame.blending)
    }
}
