// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import HTTPTypes
internal import LoadScheduling
internal import Synchronization

/// The encoded bytes of an original, and the version of the original that they are.
struct LoadedOriginal: Sendable {
    let bytes: EncodedBytes
    let original: OriginalVersion
    var storability = Storability()
    /// Whether the bytes come from the response store.
    var isKept = false
    /// Whether the bytes may be shown only while newer ones are requested.
    var isOutOfDate = false
    /// Whether this program encoded the bytes, which then need no sandbox.
    var isOwn = false
    /// The share of the bytes in the budget of response bodies.
    var room: BodyRoom?
}

/// Loads the encoded bytes of originals from files, the network or custom loaders.
///
/// Equal loads share one read or one request.
final class OriginalLoading: Sendable {
    typealias Loads = SharedLoads<OriginalLoadKey, LoadedOriginal, DataUpdate>

    private let resources: PipelineResources
    private let web: HTTPLoader?
    private let loads = Loads()
    private let lastSalt = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - resources: the pipeline's.
    ///   - web: loads from the network; `nil` to load nothing from there.
    init(_ resources: PipelineResources, web: HTTPLoader?) {
        self.resources = resources
        self.web = web
    }

    /// The number of loads in flight.
    var loadCount: Int { loads.count }

    /// The number of consumers of a load in flight.
    func consumerCount(_ key: OriginalLoadKey) -> Int { loads.consumerCount(key) }

    /// Returns the key of the bytes of an original; it is unique for a request that shares nothing.
    func key(_ request: ImageRequest, of original: OriginalIdentity) -> OriginalLoadKey {
        OriginalLoadKey(
            request, of: original,
            salt: request.isShared ? 0 : lastSalt.add(1, ordering: .relaxed).newValue)
    }

    /// Returns the bytes of an original, or joins a load of the same key.
    func data(
        for request: ImageRequest, _ key: OriginalLoadKey, _ consumer: Loads.Consumer
    ) async throws(LoadError) -> LoadedOriginal {
        if case .bytes(let bytes, let name) = request.source {
            return LoadedOriginal(bytes: bytes, original: OriginalVersion(name, version: "0"))
        }
        return try await loads.value(for: key, consumer) {
            [self] context throws(LoadError) in
            let start = resources.clock.now
            var count = 0
            defer {
                context.story.add(
                    LoadStep(
                        .load, "\(count) bytes of \(request.source.name)",
                        duration: start.duration(to: resources.clock.now)))
            }
            let data = try await load(request, key, context)
            count = data.bytes.count
            return data
        }
    }

    /// Requests a newer version of a stale original in the background.
    func revalidateSoon(_ request: ImageRequest, _ original: OriginalIdentity) {
        var key = OriginalLoadKey(request, of: original, salt: 0)
        key.acceptsStale = false
        loads.begin(key, keeping: resources.policy.wish(request)) {
            [self, key] context throws(LoadError) in
            try await load(request, key, context)
        }
    }

    private func load(
        _ request: ImageRequest, _ key: OriginalLoadKey, _ context: LoadContext<DataUpdate>
    ) async throws(LoadError) -> LoadedOriginal {
        switch request.source {
        case .bytes(let bytes, let name):
            return LoadedOriginal(bytes: bytes, original: OriginalVersion(name, version: "0"))
        case .file: return try await read(key.original, context)
        case .url(let url): return try await fetch(url, request, key, context)
        case .loader(let loader, let name):
            let bytes = try await loader.load { context.report(DataUpdate($0)) }
            return LoadedOriginal(
                bytes: EncodedBytes(bytes), original: OriginalVersion(name, version: "0"))
        }
    }

    private func read(
        _ original: OriginalIdentity, _ context: LoadContext<DataUpdate>
    ) async throws(LoadError) -> LoadedOriginal {
        guard case .file(let file) = original else { throw .cancelled }
        return try await resources.queues.loads.run(context.urgency) {
            [codecs = resources.codecs, limits = resources.limits] _ throws(LoadError) in
            do throws(CodecError) {
                // Copied, not mapped, so that all steps see the same bytes.
                let bytes =
                    if let remote = codecs.remoteDecoder {
                        try remote.snapshot(EncodedBytes(opening: file.path, limits: limits))
                    } else {
                        try EncodedBytes(reading: file.path, limits: limits)
                    }
                return LoadedOriginal(bytes: bytes, original: OriginalVersion(file))
            } catch {
                throw LoadError(decoding: file.path, error)
            }
        }
    }

    private func fetch(
        _ url: HTTPURL, _ request: ImageRequest, _ key: OriginalLoadKey,
        _ context: LoadContext<DataUpdate>
    ) async throws(LoadError) -> LoadedOriginal {
        guard let web else {
            throw .addressRefused(url: url.description, reason: "no loader for the network")
        }
        var load = HTTPLoadRequest(
            url: url, fields: request.fields, cachePolicy: request.webUse,
            priority: context.urgency.priority)
        load.acceptsStale = key.acceptsStale
        load.refusedBody = key.refusedBody
        load.trace = request.trace
        load.mayKeep = { context.storePermission().contains(.original) }
        let response = try await web.load(load) { context.report(DataUpdate($0)) }
        return LoadedOriginal(
            bytes: try await prepared(EncodedBytes(response.bytes), url, context.urgency),
            original: OriginalVersion(url.description, version: response.validator),
            storability: Storability(
                isAllowed: response.storability.isAllowed && request.webUse != .noStore,
                freshUntil: response.storability.freshUntil,
                dependsOnFields: !request.fields.isEmpty),
            isKept: response.source != .network, isOutOfDate: response.needsRevalidation,
            room: response.room)
    }

    /// Moves bytes to where a worker process reads them, so that this process need not hold them too.
    private func prepared(
        _ bytes: EncodedBytes, _ url: HTTPURL, _ urgency: PriorityHandle
    ) async throws(LoadError) -> EncodedBytes {
        guard let remote = resources.codecs.remoteDecoder else { return bytes }
        return try await resources.queues.loads.run(urgency, continuing: true) {
            _ throws(LoadError) in
            do throws(CodecError) {
                return try remote.prepare(bytes)
            } catch {
                throw LoadError(decoding: "\(url)", error)
            }
        }
    }
}

extension DataUpdate {
    fileprivate init(_ event: OriginalLoadEvent) {
        switch event {
        case .progress(let received, let expected):
            progress = LoadProgress(receivedByteCount: received, expectedByteCount: expected)
        case .bytes(let piece): bytes = piece
        case .restart: isRestart = true
        }
    }
}
