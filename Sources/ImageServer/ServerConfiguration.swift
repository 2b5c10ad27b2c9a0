// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import ImageLoading

extension ImageServer {
    /// The settings of a server.
    public struct Configuration: Sendable {
        /// The path of the served folder.
        public var directory: String
        /// The host name or IP address to listen on.
        public var host = "127.0.0.1"
        /// The port to listen on; 0 for a free one.
        public var port = 8080
        /// The path of a Unix domain socket to listen on instead of host and port.
        ///
        /// An existing socket file is replaced.
        public var socketPath: String?
        /// The descriptor of a listening socket to use instead; the server closes it at the end.
        public var listeningDescriptor: CInt?
        /// The certificate and private key; `nil` for unencrypted connections.
        public var tls: TLSFiles?
        /// Whether symbolic links may lead out of the served folder; those that do are logged and ignored
        /// otherwise.
        public var followsLinks = false
        /// The largest width or height of renditions in pixels.
        public var maximumSide = 8_192
        /// The sizes of renditions.
        public var sizes = SizeLadder.quarters
        /// The names of the formats for content negotiation by `Accept`, the best first.
        ///
        /// Other clients get JPEG, PNG for images with alpha, or GIF for animations.
        public var negotiatedFormatNames: [String] = []
        /// The `EncodedImages/EncodeOptions/targetSSIM` of renditions whose URLs specify no quality;
        /// `nil` for the default quality.
        public var targetSSIM: Double?
        /// Whether the client hints `Sec-CH-DPR`, `Sec-CH-Width`, `Sec-CH-Viewport-Width`, `ECT` and
        /// `Save-Data` complete the options in a rendition's URL.
        public var usesClientHints = false
        /// The store of encoded tiles; `nil` for one in memory.
        public var tileStore: (any TileStore)?
        /// The keys of signed URLs, each of at least 32 bytes.
        ///
        /// With keys, the server rejects all unsigned URLs, those of the page and of listings too.
        public var signatureKeys: [[UInt8]] = []
        /// The keys of paths in imgproxy's syntax; `nil` to disable that syntax.
        public var imgproxy: ImgproxyKeys?
        /// The remote originals that paths in imgproxy's syntax may refer to; `nil` for none.
        public var webSources: WebSources?
        /// Size segments by preset names, such as `512x512,fill,q70`.
        public var presets: [String: String] = [:]
        /// Options by device names, such as `rgb565,fill`.
        ///
        /// They apply where a size segment with `device=NAME` has none of the same kind.
        public var devices: [String: String] = [:]
        /// The watermark that URLs may request; `nil` for none.
        public var watermark: Watermark?
        /// Who may see the images; `nil` for everyone.
        public var access: AccessControl?
        /// The folder of the database of the links for guests; `nil` for no links.
        public var linkDirectory: String?
        /// The folder of the database of the photo library; `nil` for no timeline and no search.
        public var libraryDirectory: String?
        /// The templates of cards; `nil` for neither cards nor avatars.
        public var cards: CardTemplates?
        /// The catalog whose images URLs may request; `nil` for none.
        public var assets: ServedCatalog?
        /// Whether URLs may contain presets only.
        public var allowsPresetsOnly = false
        /// The bearer tokens that authorize `DELETE` requests, which purge all data derived from an
        /// original; without tokens, purging is disabled.
        public var purgeTokens: [String] = []
        /// Where servers share rates and purges; `nil` for a server that works alone.
        public var redis: RedisClient?
        /// The maximum number of image requests per second of one client; `nil` for no limit.
        public var clientRate: Double?
        /// The number of attempts to log in that each client may make per second, after five at
        /// once.
        var loginRate = 0.1
        /// The origins whose pages may read responses, such as `https://viewer.example`; `*` for all.
        ///
        /// If empty, all origins may, unless the server listens on a loopback address and has no
        /// ``publicAddress``; then none may.
        public var allowedOrigins: [String] = []
        /// Whether other paths need no signature although imgproxy's do.
        public var allowsUnsigned = false
        /// The maximum number of connections of all clients together.
        public var maximumConnectionCount = 1_024
        /// The maximum number of bytes of responses that clients have not read yet.
        public var outgoingByteLimit = 64 << 20
        /// The time after which a connection is closed if its client reads nothing.
        public var writeTimeout = Duration.seconds(30)
        /// The maximum number of pixels of an enlarged rendition, unless the original has more.
        public var maximumEnlargedPixelCount = 8_400_000
        /// The maximum number of pixels of a rendition with blur or sharpening, with a target SSIM,
        /// or in AVIF, JPEG XL or WebP.
        public var maximumSlowPixelCount = 16_800_000
        /// The maximum number of cached file names of all folders together.
        public var folderNameLimit = 250_000
        /// The size in bytes of the cache of complete responses.
        public var hotByteLimit = 32 << 20
        /// The size in bytes of the cache of decoded tiles.
        public var tileByteLimit = 64 << 20
        /// The metrics of `/metrics`; `nil` to disable it.
        public var metrics: PrometheusMetrics?
        /// The public base URL of the server, such as `https://images.example`; `nil` to derive it from
        /// each request.
        public var publicAddress: String?
        /// The formats of served files.
        let formats: [ImageFormat]
        /// The formats that can be encoded.
        let writableFormats: [ImageFormat]
        /// The names of the formats whose encoders support animations.
        let animationFormatNames: Set<String>
        /// The maximum time for requests in flight after a stop signal.
        public var stopTimeout = Duration.seconds(10)
        /// The maximum time until the response to an image request begins.
        public var requestTimeout = Duration.seconds(60)
        /// The time after which a connection without requests is closed.
        public var idleTimeout = Duration.seconds(60)

        /// Creates a configuration with default values.
        ///
        /// - Parameters:
        ///   - directory: the path of the served folder.
        ///   - codecs: the codecs of the served formats.
        public init(directory: String, codecs: CodecSet) {
            self.directory = directory
            formats = codecs.codecs.map(\.format)
            writableFormats = codecs.codecs.filter { $0.encoder != nil }.map(\.format)
            animationFormatNames = Set(
                codecs.codecs.filter { $0.encoder is any AnimationEncoder }.map(\.format.name))
        }

        /// The names of encodable formats, by name and by file name extension.
        var formatNames: [String: String] {
            Dictionary(
                writableFormats.flatMap { format in
                    ([format.name] + format.extensions).map { ($0, format.name) }
                }, uniquingKeysWith: { first, _ in first })
        }

        /// Whether images can be encoded in a format, given by its name or a file name extension.
        public func canWrite(format: String) -> Bool {
            writableFormats.contains { $0.isNamed(format) }
        }

        /// Checks the folder, the presets, the devices and the certificate; ``ImageServer`` does so, too.
        ///
        /// - Throws: ``ServerError`` for the first invalid setting.
        public func check() throws(ServerError) {
            _ = try ServedDirectory(directory)
            _ = try presetOptions()
            try tls?.check()
        }

        /// Parses the presets and the devices.
        ///
        /// - Throws: ``ServerError/malformedRequest(reason:)`` for an invalid one.
        /// - Returns: the options of presets by their names.
        func presetOptions() throws(ServerError) -> [String: RenditionOptions] {
            for (name, text) in devices {
                _ = try segment("1x1,\(text)", of: "device \(name)", devices: [:])
            }
            var options: [String: RenditionOptions] = [:]
            for (name, text) in presets {
                guard
                    let segment = try segment(text, of: "preset \(name)", devices: devices)
                else {
                    throw .malformedRequest(
                        reason: "preset \(name) does not begin with a size: \(text)")
                }
                options[name] = segment.options
            }
            return options
        }

        private func segment(
            _ text: String, of setting: String, devices: [String: String]
        ) throws(ServerError) -> SizeSegment? {
            do throws(ServerError) {
                return try SizeSegment(
                    text, maximumSide: maximumSide, formats: formatNames, devices: devices)
            } catch {
                throw .malformedRequest(reason: "\(setting): \(error)")
            }
        }

        /// The file name extensions of listed files in lower case.
        var imageExtensions: Set<String> { Set(formats.flatMap(\.extensions)) }

        /// The address that the server listens on.
        var bindAddress: BindAddress {
            if let listeningDescriptor { return .descriptor(listeningDescriptor) }
            if let socketPath { return .unixSocket(path: socketPath) }
            return .network(host: host, port: port)
        }
    }
}
