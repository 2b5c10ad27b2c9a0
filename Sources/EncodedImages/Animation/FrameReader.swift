// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A frame of an animation as its file stores it.
public struct StoredFrame: Sendable {
    /// What becomes of the frame's place before the next one is drawn.
    public enum Disposal: String, Hashable, Sendable, CaseIterable {
        /// It stays.
        case keep
        /// Its place becomes transparent.
        case clear
        /// What was there before the frame comes back.
        case restore
    }

    /// How the frame is drawn onto what is there.
    public enum Blending: String, Hashable, Sendable, CaseIterable {
        /// What is there shows through the frame.
        case over
        /// What is there gives way, also where the frame is transparent.
        case replace
    }

    /// The frame's place on the canvas; what lies outside of the canvas is not drawn.
    public var region: PixelRect
    /// How long it is shown, as the file says; 0 where it says nothing.
    public var duration: Duration
    public var disposal: Disposal
    public var blending: Blending
    /// The pixels of ``region``, in any interleaved format.
    public var image: PixelBuffer

    public init(
        region: PixelRect, duration: Duration, disposal: Disposal = .keep,
        blending: Blending = .replace, image: PixelBuffer
    ) {
        precondition(image.size == region.size, "a frame is as large as its place")
        self.region = region
        self.duration = duration
        self.disposal = disposal
        self.blending = blending
        self.image = image
    }
}

/// Reads an animation frame by frame, from the first.
public protocol FrameReader {
    /// Decodes the next frame.
    ///
    /// - Returns: `nil` after the last.
    /// - Throws: ``CodecError``; no frame comes after an error.
    mutating func next() throws(CodecError) -> StoredFrame?
}

/// Writes an animation frame by frame.
public protocol AnimationWriter {
    /// Takes the next frame.
    ///
    /// - Parameters:
    ///   - image: a picture of the animation's size in any format.
    ///   - duration: how long it is to be shown; rounded to what the format can say.
    /// - Throws: ``CodecError``.
    mutating func append(_ image: PixelBuffer, duration: Duration) throws(CodecError)

    /// - Returns: the bytes of a whole file; at least one frame must have been taken.
    mutating func finish() throws(CodecError) -> [UInt8]
}
