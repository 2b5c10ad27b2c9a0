// SPDX-License-Identifier: Apache-2.0

/// The progress of loading the bytes of an original.
public struct LoadProgress: Hashable, Sendable {
    /// The number of bytes received so far.
    public let receivedByteCount: Int
    /// The total number of bytes; `nil` if it is unknown.
    public let expectedByteCount: Int?
}

/// An event of a load of an image.
public struct ImageEvent: Sendable {
    /// The kinds of events, in the order in which they occur.
    public enum Kind: Sendable {
        /// Another image of the same original, to be shown until a better one follows.
        case placeholder(LoadedImage)
        /// The number of received bytes has changed.
        case progress(LoadProgress)
        /// The part of the image that has been received; its ``LoadedImage/isPreview`` is set.
        case preview(LoadedImage)
        /// The image. It is the last event, unless it is stale and the server has a newer one, which
        /// follows.
        case image(LoadedImage)
    }

    /// Identifies the request; a view that shows another image by now ignores the event.
    public let identity: RequestIdentity
    /// The kind of the event, with its image or progress.
    public let kind: Kind
}

/// An update of a load of an image.
struct ImageUpdate: LoadUpdate {
    var progress: LoadProgress?
    var preview: LoadedImage?

    mutating func merge(_ newer: ImageUpdate) {
        progress = newer.progress ?? progress
        preview = newer.preview ?? preview
    }
}

/// An update of a load of the bytes of an original.
struct DataUpdate: LoadUpdate {
    /// Bytes that follow those of earlier updates, or replace them after a restart.
    var bytes: [UInt8] = []
    var isRestart = false
    var progress: LoadProgress?

    mutating func merge(_ newer: DataUpdate) {
        if newer.isRestart { bytes = [] }
        isRestart = true
        bytes += newer.bytes
        progress = newer.progress ?? progress
    }
}
