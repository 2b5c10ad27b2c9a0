// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling
internal import EncodedImages
internal import HTTPLoading
internal import ImageLoading
internal import ImageServer
internal import Logging
internal import ImageCommands

/// Access to originals over HTTP.
struct WebAccess {
    /// The connections, which the owner closes.
    let transport: AsyncHTTPTransport
    /// `transport`, with signatures for an object store if one is configured.
    let signing: any HTTPTransport
    let configuration: HTTPLoader.Configuration
}

/// Access to the bucket of renditions.
struct ResultAccess {
    /// The connections, which the owner closes.
    let transport: AsyncHTTPTransport
    let bucket: RenditionBucket
}

extension Serve {
    /// The folder of the cache, from the option or the environment.
    var cacheFolder: String {
        cacheDirectory
            ?? RenditionStore.defaultDirectory(
                environment: environment(["XDG_CACHE_HOME", "HOME"]))
    }

    private var memoryPlan: MemoryPlan {
        MemoryPlan(keptByteCount: memory, sourceLimit: serving.sourceLimit)
    }

    /// Sets the server's limits of memory and connections, derived from `--memory`.
    func setLimits(of configuration: inout ImageServer.Configuration, descriptorCount: Int) {
        let plan = memoryPlan
        configuration.tileByteLimit = plan.tileByteCount
        configuration.hotByteLimit = plan.hotByteCount
        configuration.outgoingByteLimit = plan.outgoingByteCount
        configuration.folderNameLimit = memory / 1024
        configuration.maximumConnectionCount =
            serving.connectionCount
            ?? DescriptorLimit.connectionCount(
                descriptorCount: descriptorCount, processorCount: processorCount(),
                memoryByteCount: memory)
    }

    /// Opens the stores in the cache folder and creates the pipeline over them.
    ///
    /// - Throws: `LoadError` if a store cannot be opened.
    func makePipeline(
        _ codecs: CodecSet, _ web: WebAccess?, _ results: ResultAccess?, _ logger: Logger
    ) throws(LoadError) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.memoryCacheByteLimit = memoryPlan.imageCacheByteCount
        configuration.memoryBudget = MemoryBudget(byteLimit: memoryPlan.pixelByteCount)
        configuration.animatedRenditionPixelCount = serving.animationMegapixels * 1_000_000
        let folder = cacheFolder
        configuration.store = try RenditionStore(
            directory: folder, byteLimit: cacheSize, logger: logger)
        configuration.sharedStore = results?.bucket
        if let web {
            configuration.web = HTTPLoader(
                transport: web.signing,
                store: try ResponseCache(
                    directory: "\(folder)/web", byteLimit: cacheSize, logger: logger),
                codecs: codecs, configuration: web.configuration, logger: logger)
        }
        return ImagePipeline(codecs: codecs, configuration: configuration, logger: logger)
    }

    /// The access to originals over HTTP; `nil` if no source and no bucket is configured.
    func webAccess() throws -> WebAccess? {
        guard let sources = try serving.webSources() else { return nil }
        var configuration = HTTPLoader.Configuration()
        configuration.allows = { sources.allows($0) }
        // Bodies share a budget derived from --memory; a single one takes at most half of it.
        configuration.bodyBudget = BodyBudget(byteLimit: memoryPlan.bodyByteCount)
        configuration.maximumBodyByteCount =
            serving.sourceLimit ?? configuration.bodyBudget.bodyByteLimit
        // No response contains a preview of an incomplete original.
        configuration.maximumPreviewByteCount = 0
        // Shorter than the server's own timeout, so that a slow origin is reported as 504.
        configuration.totalTimeout = .seconds(serving.requestTimeout * 0.75)
        let credentials = try serving.credentials(environment(ServingArguments.secrets))
        let transport = AsyncHTTPTransport(addressGuard: try serving.addressGuard())
        var signing: any HTTPTransport = transport
        if let store = sources.objectStore, let credentials {
            signing = S3Transport(
                transport, endpoint: store.endpoint, buckets: store.buckets,
                region: serving.s3Region, credentials: credentials)
        }
        return WebAccess(transport: transport, signing: signing, configuration: configuration)
    }

    /// The access to the bucket of renditions; `nil` if none is configured.
    ///
    /// The operator chose its endpoint, so that its addresses need not be public.
    func resultAccess(_ redis: RedisClient?, _ logger: Logger) throws -> ResultAccess? {
        guard let url = try serving.resultURL(),
            let credentials = try serving.credentials(environment(ServingArguments.secrets))
        else { return nil }
        let transport = AsyncHTTPTransport()
        let signing = S3Transport(
            transport, endpoint: try serving.endpoint(), buckets: nil, region: serving.s3Region,
            credentials: credentials)
        var limits = RenditionBucket.Limits()
        limits.byteCount = memoryPlan.bucketByteCount
        return ResultAccess(
            transport: transport,
            bucket: RenditionBucket(
                signing, url: url, limits: limits, redis: redis, logger: logger))
    }

    /// The output of `--check-config`.
    func checkedConfiguration() throws -> String {
        let host = memoryPlan.hostByteCount(
            loadsFromWeb: try serving.webSources() != nil,
            usesBucket: serving.resultBucket != nil)
        let workers = sandboxing.totalMemoryByteCount(
            workerCount: processorCount())
        return "configuration is valid; maximum memory: \(host >> 20) MiB for the server, "
            + "\(workers >> 20) MiB for all workers together\n"
    }
}
