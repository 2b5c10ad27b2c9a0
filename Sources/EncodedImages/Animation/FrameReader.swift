// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A frame of an animation as it is stored in the file.
public struct StoredFrame: Sendable {
    /// How the region of a frame is changed before the next frame is drawn.
    public enum Disposal: String, Hashable, Sendable, CaseIterable {
        /// The frame remains.
        case keep
        /// The region becomes transparent.
        case clear
        /// The pixels before the frame are restored.
        case restore
    }

    /// How a frame is combined with the canvas.
    public enum Blending: String, Hashable, Sendable, CaseIterable {
        /// The frame is composited over the canvas.
        case over
        /// The frame replaces the canvas, including transparent pixels.
        case replace
    }

    /// The region of the canvas; pixels outside of the canvas are not drawn.
    public var region: PixelRect
    /// The duration in the file; 0 if the file states none.
    public var duration: Duration
    /// How the region is changed before the next frame.
    public var disposal: Disposal
    /// How the frame is combined with the canvas.
    public var blending: Blending
    /// The pixels of ``region``, in any interleaved format.
    public var image: PixelBuffer

    /// A frame whose image has the size of its region.
    public init(
        region: PixelRect, duration: Duration, disposal: Disposal = .keep,
        blending: Blending = .replace, image: PixelBuffer
    ) {
        precondition(image.size == region.size, "the image has the size of the region")
        self.region = region
        self.duration = duration
        self.disposal = disposal
        self.blending = blending
        self.image = image
    }
}

/// A reader of the frames of an animation, from the first.
public protocol FrameReader {
    /// Decodes the next frame.
    ///
    /// - Returns: `nil` after the last.
    /// - Throws: ``CodecError``; no frame comes after an error.
    mutating func next() throws(CodecError) -> StoredFrame?
}

/// A writer of the frames of an animation.
public protocol AnimationWriter {
    /// Appends the next frame.
    ///
    /// - Parameters:
    ///   - image: an image of the size of the animation, in any pixel format.
    ///   - duration: its duration, which is rounded to the unit of the format.
    /// - Throws: ``CodecError``.
    mutating func append(_ image: PixelBuffer, duration: Duration) throws(CodecError)

    /// Ends the file.
    ///
    /// - Returns: the bytes of a whole file.
    /// - Throws: ``CodecError``.
    /// - Precondition: at least one frame has been appended.
    mutating func finish() throws(CodecError) -> [UInt8]
}
