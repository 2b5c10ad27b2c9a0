// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling
public import Pixels
public import Placeholders

/// Asks for a picture.
public struct ImageRequest: Sendable {
    /// Where the bytes of the original come from.
    public enum Source: Sendable {
        /// A file, by its path.
        case file(String)
        case url(HTTPURL)
        /// Bytes that are there already, by a name that is as unique as they are.
        case bytes(EncodedBytes, name: String)
        /// Whoever knows how to get them, by a name that is as unique as they are.
        case loader(any OriginalLoader, name: String)
    }

    /// Which pictures in memory answer the request.
    public enum Precision: Sendable {
        /// One of exactly the size that decoding would make.
        case exact
        /// One that is at least as large, too, as it is; for a view that scales what it draws.
        case atLeast
    }

    public struct CacheUse: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let reads = CacheUse(rawValue: 1)
        public static let writes = CacheUse(rawValue: 2)
        public static let all: CacheUse = [.reads, .writes]
    }

    public var source: Source
    /// The identity of the file, if the caller has read it already.
    ///
    /// The pipeline then reads none before it opens the file; whether the file is still the same is
    /// checked after it has been read in any case. It is ignored for another ``source`` than the file
    /// with its path.
    public var fileIdentity: FileIdentity?
    /// The size and the form that are wanted.
    public var options: DecodeOptions
    /// What is done with the decoded picture, the first first.
    public var processors: [any ImageProcessor] = []
    public var priority: LoadPriority
    public var precision = Precision.exact
    /// How the pictures in memory are used.
    public var memoryUse = CacheUse.all
    /// How renditions on disk are used, and whether originals from the web may be kept there.
    public var storeUse = CacheUse.all
    /// What of the store of answers from the web is used.
    public var webUse = HTTPLoadRequest.CachePolicy.useProtocol
    /// Sent with a request to the web.
    public var fields: HTTPFields = [:]
    /// Goes with a request to the web, if it is this one that begins the load; equal requests share
    /// one whatever their traces.
    public var trace: TraceContext?
    /// Whether equal requests share one load.
    public var isShared = true
    /// What becomes of those who wait when a shared load fails.
    public var failurePolicy = SharedFailurePolicy.failAll
    /// Whether the load goes on at the lowest priority when nobody waits for it any more.
    public var outlivesConsumers = false
    /// Whether the pixels are a function of the original and the options alone.
    ///
    /// Otherwise the image may be made from a larger one in memory, which is faster and differs by
    /// rounding. Reproducible loads of several sizes of one original share a decode that gives each the
    /// pixels that it would have alone.
    public var isReproducible = false
    /// Whether the picture may be smaller than asked for if memory does not allow it otherwise.
    public var acceptsSmaller = false

    public init(
        _ source: Source, options: DecodeOptions = DecodeOptions(),
        processors: [any ImageProcessor] = [], priority: LoadPriority = .visible
    ) {
        self.source = source
        self.options = options
        self.processors = processors
        self.priority = priority
    }

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

    /// What is asked for, whatever the urgency; a view compares it with what it shows now.
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
            // Fields may have a say in what the server answers, and in who may see it.
            .url(fields.reduce(url.description) { "\($0)\n\($1)" })
        case .bytes(_, let name), .loader(_, let name): .named(name)
        }
    }
}

/// What a request asks for.
public struct RequestIdentity: Hashable, Sendable {
    /// The path, the address or the name.
    @ComparedByBytes public private(set) var source: String
    public let options: DecodeOptions
    public let processors: [String]
}

extension ImageRequest.Source {
    /// The path, the address or the name.
    public var name: String {
        switch self {
        case .file(let path): path
        case .url(let url): url.description
        case .bytes(_, let name), .loader(_, let name): name
        }
    }
}

/// Gets the bytes of an original in a way of its own.
public protocol OriginalLoader: Sendable {
    /// Gets all bytes.
    ///
    /// - Parameter receive: is told of the bytes as they come; it must not block.
    /// - Returns: the whole of them.
    /// - Throws: ``LoadError``; ``LoadError/cancelled`` when its task is cancelled.
    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8]
}

/// What happens while the bytes of an original come in.
public typealias OriginalLoadEvent = HTTPLoadEvent

/// Asks for an original's picture, encoded anew.
public struct RenditionRequest: Sendable {
    public var image: ImageRequest
    /// The name of a format or one of its file name extensions; `nil` for PNG when the result has
    /// alpha, else JPEG.
    public var format: String?
    /// The format, named likewise, in which an animation stays one; `nil` for its first frame in
    /// ``format``.
    ///
    /// Whatever does not move is in ``format``; and so is the first frame of an animation that is
    /// larger than ``ImagePipeline/Configuration/animatedRenditionPixelCount`` or memory allow, that
    /// has a damaged frame, or if files of this format show one picture only.
    public var animationFormat: String?
    public var encodeOptions: EncodeOptions

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

/// An encoded picture made from an original.
public struct Rendition: Sendable, Hashable {
    /// A whole file.
    public let bytes: [UInt8]
    public let mediaType: String
    public let pixelSize: PixelSize
    public let original: OriginalVersion

    public init(
        bytes: [UInt8], mediaType: String, pixelSize: PixelSize, original: OriginalVersion
    ) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.pixelSize = pixelSize
        self.original = original
    }
}

/// An original as it was when a picture was made from it.
public struct OriginalVersion: Hashable, Sendable {
    /// The path, the address or the name.
    @ComparedByBytes public private(set) var name: String
    /// Another for every change of the original.
    @ComparedByBytes public private(set) var version: String

    public init(_ name: String, version: String) {
        self.name = name
        self.version = version
    }

    public init(_ file: FileIdentity) {
        self.init(file.path, version: file.version)
    }

    /// That of a picture in memory, where no version of an address is known.
    init(_ original: OriginalIdentity) {
        switch original {
        case .file(let file): self.init(file)
        // The address alone: fields may be secrets.
        case .url(let lines): self.init(String(lines.prefix { $0 != "\n" }), version: "0")
        case .named(let name): self.init(name, version: "0")
        }
    }
}

/// What a listing needs to know of an original.
public struct ImageFacts: Sendable, Hashable, Codable {
    public let formatName: String
    public let mediaType: String
    private let width: Int
    private let height: Int
    /// What is shown until there is a picture; `nil` until one has been made.
    public var placeholder: ThumbHash?

    public init(
        formatName: String, mediaType: String, pixelSize: PixelSize, placeholder: ThumbHash? = nil
    ) {
        self.formatName = formatName
        self.mediaType = mediaType
        width = pixelSize.width
        height = pixelSize.height
        self.placeholder = placeholder
    }

    /// The size as the picture is looked at, turned upright.
    public var pixelSize: PixelSize { PixelSize(width: width, height: height) }
}
