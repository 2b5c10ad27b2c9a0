// SPDX-License-Identifier: Apache-2.0

/// How far the bytes of an original have come.
public struct LoadProgress: Hashable, Sendable {
    public let receivedByteCount: Int
    /// `nil` if nobody says.
    public let expectedByteCount: Int?
}

/// What happens on the way to a picture.
public struct ImageEvent: Sendable {
    public enum Kind: Sendable {
        /// A smaller picture of the same original, until there is something better.
        case placeholder(LoadedImage)
        case progress(LoadProgress)
        /// The picture as far as its bytes have come; its ``LoadedImage/isPreview`` is set.
        case preview(LoadedImage)
        /// The picture; the last event, unless it is shown while the web is asked for a newer one and
        /// there is one: then that is the last.
        case image(LoadedImage)
    }

    /// What was asked for; a view that shows something else by now drops the event.
    public let identity: RequestIdentity
    public let kind: Kind
}

/// What a load of a picture tells those who wait for it.
struct ImageUpdate: LoadUpdate {
    var progress: LoadProgress?
    var preview: LoadedImage?

    mutating func merge(_ newer: ImageUpdate) {
        progress = newer.progress ?? progress
        preview = newer.preview ?? preview
    }
}

/// What a load of an original's bytes tells those who wait for it.
struct DataUpdate: LoadUpdate {
    /// Bytes that go behind those that have been told, or take their place.
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
