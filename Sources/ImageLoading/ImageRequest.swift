// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// How urgent a picture is; of equal urgency the older request goes first.
public enum LoadPriority: Int, Comparable, Sendable {
    case background
    /// What scrolling is about to reveal.
    case prefetch
    /// What is looked at now.
    case visible

    public static func < (one: LoadPriority, other: LoadPriority) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// Asks for the pixels of a file.
public struct ImageRequest: Sendable, Hashable {
    public var path: String
    public var options: DecodeOptions
    public var priority: LoadPriority

    public init(
        path: String, options: DecodeOptions = DecodeOptions(), priority: LoadPriority = .visible
    ) {
        self.path = path
        self.options = options
        self.priority = priority
    }
}

/// Asks for a file's picture, encoded anew.
public struct RenditionRequest: Sendable, Hashable {
    public var image: ImageRequest
    /// The name of a format or one of its file name extensions; `nil` for PNG when the result has
    /// alpha, else JPEG.
    public var format: String?
    public var encodeOptions: EncodeOptions

    public init(
        image: ImageRequest, format: String? = nil, encodeOptions: EncodeOptions = EncodeOptions()
    ) {
        self.image = image
        self.format = format
        self.encodeOptions = encodeOptions
    }
}

/// An encoded picture made from an original.
public struct Rendition: Sendable, Hashable {
    /// A whole file.
    public let bytes: [UInt8]
    public let mediaType: String
    public let pixelSize: PixelSize
    public let original: FileIdentity
}

/// What a listing needs to know of an original.
public struct ImageFacts: Sendable, Hashable, Codable {
    public let formatName: String
    public let mediaType: String
    private let width: Int
    private let height: Int

    init(formatName: String, mediaType: String, pixelSize: PixelSize) {
        self.formatName = formatName
        self.mediaType = mediaType
        width = pixelSize.width
        height = pixelSize.height
    }

    /// The size as the picture is looked at, turned upright.
    public var pixelSize: PixelSize { PixelSize(width: width, height: height) }
}
