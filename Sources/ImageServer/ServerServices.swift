// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import LoadScheduling
internal import Logging
internal import PhotoLibrary

/// What the requests of a server share for its whole lifetime: caches, limits and queues.
struct ServerState: Sendable {
    let pipeline: ImagePipeline
    let tileImages: TileImages
    /// The part of the pipeline's memory budget that sprite sheets may use.
    let sheetMemory: MemoryBudget
    let limiter: ClientRateLimit?
    let hot: HotRenditions
    let connections: OpenConnections
    let outgoing: OutgoingBytes
    let queues = WorkQueues()
    let downloads = Downloads()
    let loginAttempts: RateLimiter
    let loginQueue = FairQueue(width: 1, maximumWaitingCount: 64)

    init(_ configuration: ImageServer.Configuration, _ pipeline: ImagePipeline) {
        self.pipeline = pipeline
        tileImages = TileImages(
            pipeline, store: configuration.tileStore, byteLimit: configuration.tileByteLimit)
        sheetMemory = MemoryBudget(byteLimit: pipeline.budget.byteLimit / 4)
        limiter = configuration.clientRate.map {
            ClientRateLimit(rate: $0, sharedIn: configuration.redis)
        }
        loginAttempts = RateLimiter(rate: configuration.loginRate, burst: 5)
        hot = HotRenditions(
            byteLimit: configuration.hotByteLimit,
            varyingNames: configuration.negotiation.varyingNames)
        let count = max(1, configuration.maximumConnectionCount)
        connections = OpenConnections(limit: count, clientLimit: max(32, count / 4))
        outgoing = OutgoingBytes(byteLimit: configuration.outgoingByteLimit, streamLimit: count)
    }
}

/// The services that the routes are made of.
struct ServerServices: Sendable {
    let pipeline: ImagePipeline
    let originals: Originals
    let folders: FolderReader
    /// All images by date; `nil` if it is disabled, or its database cannot be opened.
    let library: PhotoLibrary?
    /// The links of guests; `nil` without a login, or if their database cannot be opened.
    let links: SharedLinks?
    /// Whether clients may mark images as favourites: those on this machine, or who have logged in.
    let allowsMarks: Bool
    let downloads: Downloads
    /// Who may see the images; `nil` for everyone.
    let access: AccessControl?
    let loginAttempts: RateLimiter
    let loginQueue: FairQueue
    /// Whether browsers reach the server over HTTPS only.
    let isSecure: Bool
    let renditions: RenditionResponder
    let localRenditions: LocalRenditions
    let hotResponder: HotResponder
    let tiles: TileResponder
    let sheets: SpriteSheets
    let cards: CardResponder?
    let assets: AssetResponder?
    let negotiation: ContentNegotiation
    let grammar: OptionGrammar
    let hot: HotRenditions
    let outgoing: OutgoingBytes
    let queues: WorkQueues
    let limiter: ClientRateLimit?
    /// The maximum time until a response begins.
    let timeout: Duration
    let pageGuard: PageGuard
    let metrics: PrometheusMetrics?
    let imgproxyKeys: ImgproxyKeys?
    let webSources: WebSources?
    let publicURL: String?
    let purgeTokens: [String]
    let purging: Purging

    /// - Throws: ``ServerError`` if the folder does not exist, or a preset or device is invalid.
    init(
        _ configuration: ImageServer.Configuration, _ state: ServerState, _ logger: Logger
    ) throws(ServerError) {
        let directory = try ServedDirectory(
            configuration.directory, followsLinks: configuration.followsLinks, logger: logger)
        pipeline = state.pipeline
        hot = state.hot
        outgoing = state.outgoing
        queues = state.queues
        limiter = state.limiter
        timeout = configuration.requestTimeout
        metrics = configuration.metrics
        imgproxyKeys = configuration.imgproxy
        webSources = configuration.webSources
        publicURL = configuration.publicAddress
        purgeTokens = configuration.purgeTokens
        originals = Originals(directory, pipeline)
        folders = FolderReader(
            directory, extensions: configuration.imageExtensions,
            maximumNameCount: configuration.folderNameLimit)
        library = Self.library(configuration, directory, state.pipeline, logger)
        links = Self.links(configuration, directory, logger)
        negotiation = configuration.negotiation
        grammar = try configuration.grammar()
        pageGuard = PageGuard(configuration)
        allowsMarks =
            configuration.access != nil
            || (pageGuard.isLocal && configuration.publicAddress == nil)
        downloads = state.downloads
        access = configuration.access
        loginAttempts = state.loginAttempts
        loginQueue = state.loginQueue
        isSecure =
            configuration.tls != nil || configuration.publicAddress?.hasPrefix("https:") == true
        renditions = RenditionResponder(
            originals: originals, pipeline: pipeline, limits: configuration.renditionLimits,
            queues: queues, watermark: configuration.watermark,
            displayFormatNames: negotiation.displayFormatNames)
        hotResponder = HotResponder(originals: originals, hot: hot, pageGuard: pageGuard)
        localRenditions = LocalRenditions(
            responder: renditions, negotiation: negotiation, hot: hotResponder)
        cards = configuration.cards.map { [originals, pipeline, queues, grammar] templates in
            CardResponder(
                templates: templates, originals: originals, pipeline: pipeline, queues: queues,
                grammar: grammar, limits: configuration.renditionLimits)
        }
        assets = configuration.assets.map { [pipeline, queues, grammar, negotiation] assets in
            AssetResponder(
                assets: assets, pipeline: pipeline, queues: queues, grammar: grammar,
                negotiation: negotiation)
        }
        tiles = TileResponder(originals: originals, images: state.tileImages)
        purging = Purging(
            originals: originals, pipeline: state.pipeline, tiles: state.tileImages, hot: hot,
            redis: configuration.redis, logger: logger)
        sheets = SpriteSheets(
            pipeline: pipeline, memory: state.sheetMemory, formats: grammar.formats,
            maximumSide: grammar.maximumSide)
    }

    private static func library(
        _ configuration: ImageServer.Configuration, _ directory: ServedDirectory,
        _ pipeline: ImagePipeline, _ logger: Logger
    ) -> PhotoLibrary? {
        guard let folder = configuration.libraryDirectory else { return nil }
        let source = ServedLibrary(
            directory: directory, extensions: configuration.imageExtensions, pipeline: pipeline)
        do throws(LoadError) {
            return try PhotoLibrary(
                source: source, directory: folder,
                session: String(UInt64.random(in: 0 ... .max), radix: 36),
                listingDelay: .seconds(1), logger: logger)
        } catch {
            logger.error("there is no timeline", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private static func links(
        _ configuration: ImageServer.Configuration, _ directory: ServedDirectory, _ logger: Logger
    ) -> SharedLinks? {
        guard configuration.access != nil, let folder = configuration.linkDirectory else {
            return nil
        }
        do throws(LoadError) {
            return SharedLinks(
                try LinkStore(directory: folder, root: directory.path, logger: logger))
        } catch {
            logger.error("there are no links for guests", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension ImageServer.Configuration {
    /// The limits on renditions.
    var renditionLimits: RenditionLimits {
        RenditionLimits(
            maximumSide: maximumSide, maximumEnlargedPixelCount: maximumEnlargedPixelCount,
            maximumSlowPixelCount: maximumSlowPixelCount)
    }

    var negotiation: ContentNegotiation {
        ContentNegotiation(
            formats: negotiatedFormatNames.compactMap { name in
                writableFormats.first { $0.isNamed(name) }
            },
            animationFormatNames: animationFormatNames,
            displayFormatNames: Set(writableFormats.filter(\.isForDisplays).map(\.name)),
            usesClientHints: usesClientHints, sizes: sizes, maximumSide: maximumSide,
            targetSSIM: targetSSIM)
    }

    /// Returns the grammar of options in URLs.
    ///
    /// - Throws: ``ServerError`` if a preset is invalid.
    func grammar() throws(ServerError) -> OptionGrammar {
        OptionGrammar(
            formats: formatNames, presets: try presetOptions(), devices: devices,
            maximumSide: maximumSide, allowsPresetsOnly: allowsPresetsOnly)
    }

    /// The rule for signatures of paths other than imgproxy's.
    var signatureRule: RequestAdmission.SignatureRule {
        if !signatureKeys.isEmpty { return .query(PathSignature(keys: signatureKeys)) }
        return imgproxy?.keys.isEmpty == false && !allowsUnsigned ? .imgproxyOnly : .none
    }
}

extension PageGuard {
    init(_ configuration: ImageServer.Configuration) {
        self.init(
            address: configuration.bindAddress, host: configuration.host,
            publicURL: configuration.publicAddress, allowedOrigins: configuration.allowedOrigins)
    }
}
