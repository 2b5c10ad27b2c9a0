// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling
public import Pixels
public import Placeholders

/// A request for an image: its original, its size and its processors.
public struct ImageRequest: Sendable {
    /// The source of the bytes of the original.
    public enum Source: Sendable {
        /// A file, by its path.
        case file(String)
        /// A resource on the network.
        case url(HTTPURL)
        /// Bytes in memory, by a name that is unique to them.
        case bytes(EncodedBytes, name: String)
        /// A custom loader, by a name that is unique to the bytes that it loads.
        case loader(any OriginalLoader, name: String)
    }

    /// The sizes of images in memory that answer the request.
    public enum Precision: Sendable {
        /// Exactly the size that decoding would make.
        case exact
        /// At least the requested size; for a view that scales the image that it draws.
        case atLeast
    }

    /// The ways in which a request uses a cache.
    public struct CacheUse: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The cache may answer the request.
        public static let reads = CacheUse(rawValue: 1)
        /// The result may be added to the cache.
        public static let writes = CacheUse(rawValue: 2)
        /// Reads and writes.
        public static let all: CacheUse = [.reads, .writes]
    }

    /// The original.
    public var source: Source
    /// The identity of the file, if the caller has read it already.
    ///
    /// The pipeline then reads none before it opens the file; whether the file is still the same is
    /// checked after it has been read in any case. It is ignored for another ``source`` than the file
    /// with its path.
    public var fileIdentity: FileIdentity?
    /// The size and the form of the image.
    public var options: DecodeOptions
    /// The operations on the decoded image, in order.
    public var processors: [any ImageProcessor] = []
    /// The priority of the load, unless a call passes another one.
    public var priority: LoadPriority
    /// The sizes of images in memory that answer the request.
    public var precision = Precision.exact
    /// How the memory cache is used.
    public var memoryUse = CacheUse.all
    /// How renditions on disk are used, and whether originals from the network may be stored there.
    public var storeUse = CacheUse.all
    /// How the response store is used.
    public var webUse = HTTPLoadRequest.CachePolicy.useProtocol
    /// The header fields of a request to the network.
    public var fields: HTTPFields = [:]
    /// Sent with a request to the network if this request begins the load; equal requests share a load
    /// whatever their traces.
    public var trace: TraceContext?
    /// Whether equal requests share one load.
    public var isShared = true
    /// What happens to the other consumers when a shared load fails.
    public var failurePolicy = SharedFailurePolicy.failAll
    /// Whether the load continues at the lowest priority when its last consumer leaves.
    public var outlivesConsumers = false
    /// Whether the pixels are a function of the original and the options alone.
    ///
    /// Otherwise the image may be made from a larger one in memory, which is faster and differs by
    /// rounding. Reproducible loads of several sizes of one original share a decode that gives each the
    /// pixels that it would have alone.
    public var isReproducible = false
    /// Whether the image may be smaller than requested if the memory budget requires it.
    public var acceptsSmaller = false

    /// A request for an image of any source.
    public init(
        _ source: Source, options: DecodeOptions = DecodeOptions(),
        processors: [any ImageProcessor] = [], priority: LoadPriority = .visible
    ) {
        self.source = source
        self.options = options
        self.processors = processors
        self.priority = priority
    }

    /// A request for an image of the file at a path.
    public init(
        path: String, options: DecodeOptions = DecodeOptions(), priority: LoadPriority = .visible
    ) {
        self.init(.file(path), options: options, priority: priority)
    }

    /// A request for a file whose identity the caller has read.
    public init(
        file: FileIdentity, options: DecodeOptions = DecodeOptions(),
        processors: [any ImageProcessor] = [], priority: LoadPriority = .visible
    ) {
        self.init(
            .file(file.path), options: options, processors: processors, priority: priority)
        fileIdentity = file
    }

    /// Identifies the requested image; a view compares it with that of the image that it shows.
    public var identity: RequestIdentity {
        RequestIdentity(
            source: source.name, options: options, processors: processors.map(\.identity))
    }
}

extension ImageRequest {
    /// The original; `nil` for a file whose identity has not been read.
    var knownOriginal: OriginalIdentity? {
        switch source {
        case .file(let path):
            fileIdentity.flatMap { $0.path.hasSameBytes(as: path) ? .file($0) : nil }
        case .url(let url):
            // The response may depend on the fields, and may be private to them.
            .url(fields.reduce(url.description) { "\($0)\n\($1)" })
        case .bytes(_, let name), .loader(_, let name): .named(name)
        }
    }
}

/// Identifies a requested image, whatever the version of its original.
public struct RequestIdentity: Hashable, Sendable {
    /// The path, the URL or the name of the original.
    @ComparedByBytes public private(set) var source: String
    /// The size and the form of the image.
    public let options: DecodeOptions
    /// The identities of the processors, in order.
    public let processors: [String]
}

extension ImageRequest.Source {
    /// The path, the URL or the name.
    public var name: String {
        switch self {
        case .file(let path): path
        case .url(let url): url.description
        case .bytes(_, let name), .loader(_, let name): name
        }
    }
}

/// Loads the bytes of originals from a custom source.
public protocol OriginalLoader: Sendable {
    /// Loads all bytes.
    ///
    /// - Parameter receive: called with the bytes as they arrive; it must not block.
    /// - Returns: all bytes.
    /// - Throws: `LoadError`; `LoadError/cancelled` when its task is cancelled.
    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8]
}

/// An event while the bytes of an original are received.
public typealias OriginalLoadEvent = HTTPLoadEvent

/// A request for a newly encoded image of an original.
public struct RenditionRequest: Sendable {
    /// The image to encode.
    public var image: ImageRequest
    /// The name of a format or one of its file name extensions; `nil` for PNG if the result has alpha,
    /// else JPEG.
    public var format: String?
    /// The format of animations, as in ``format``; `nil` for the first frame in ``format``.
    ///
    /// A still image is encoded in ``format``. So is the first frame of an animation that is larger than
    /// ``ImagePipeline/Configuration/animatedRenditionPixelCount`` or the memory budget, that has a
    /// damaged frame, or if the format does not support animations.
    public var animationFormat: String?
    /// The options of the encoder.
    public var encodeOptions: EncodeOptions
    /// Whether the gain map of an HDR original is written too, if the format supports it and no
    /// processor changes the image.
    public var keepsGainMap = true

    /// A request for a rendition, by default a still image in JPEG or PNG.
    public init(
        image: ImageRequest, format: String? = nil, animationFormat: String? = nil,
        encodeOptions: EncodeOptions = EncodeOptions()
    ) {
        self.image = image
        self.format = format
        self.animationFormat = animationFormat
        self.encodeOptions = encodeOptions
    }
}

/// An encoded image made from an original.
public struct Rendition: Sendable, Hashable {
    /// A whole file.
    public let bytes: [UInt8]
    /// The media type of the file, such as `image/jpeg`.
    public let mediaType: String
    /// The size of the image in pixels.
    public let pixelSize: PixelSize
    /// The version of the original that it was made from.
    public let original: OriginalVersion
    /// The error because of which pixels are missing: the original is truncated; `nil` if it is complete.
    ///
    /// Such a rendition is not stored.
    public var problem: CodecError?

    /// A rendition whose properties the caller provides.
    public init(
        bytes: [UInt8], mediaType: String, pixelSize: PixelSize, original: OriginalVersion
    ) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.pixelSize = pixelSize
        self.original = original
    }
}

/// A version of an original, as the store identifies it.
public struct OriginalVersion: Hashable, Sendable {
    /// The path, the URL or the name.
    @ComparedByBytes public private(set) var name: String
    /// Differs for every change of the original.
    @ComparedByBytes public private(set) var version: String

    /// A version of an original that is not a file.
    public init(_ name: String, version: String) {
        self.name = name
        self.version = version
    }

    /// A version of a file.
    public init(_ file: FileIdentity) {
        self.init(file.path, version: file.version)
    }

    /// The version of an original in memory, where the version of a URL is unknown.
    init(_ original: OriginalIdentity) {
        switch original {
        case .file(let file): self.init(file)
        // Without the fields, which may be secrets.
        case .url(let lines): self.init(String(lines.prefix { $0 != "\n" }), version: "0")
        case .named(let name): self.init(name, version: "0")
        }
    }
}

/// The facts of an original that a listing shows.
public struct ImageFacts: Sendable, Hashable, Codable {
    /// The name of the format.
    public let formatName: String
    /// The media type of the format.
    public let mediaType: String
    private let width: Int
    private let height: Int
    /// The placeholder of the image; `nil` until one has been made.
    public var placeholder: ThumbHash?

    /// Facts whose values the caller provides.
    public init(
        formatName: String, mediaType: String, pixelSize: PixelSize, placeholder: ThumbHash? = nil
    ) {
        self.formatName = formatName
        self.mediaType = mediaType
        width = pixelSize.width
        height = pixelSize.height
        self.placeholder = placeholder
    }

    /// The size of the image in pixels, upright.
    public var pixelSize: PixelSize { PixelSize(width: width, height: height) }
}
