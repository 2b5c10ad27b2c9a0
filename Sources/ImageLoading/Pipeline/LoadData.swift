// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import HTTPTypes
internal import LoadScheduling

/// The bytes of an original, and which version of it they are.
struct LoadedData: Sendable {
    let bytes: EncodedBytes
    let original: OriginalVersion
    var storability = Storability()
    /// Whether it comes from the store of answers.
    var isKept = false
    /// Whether it may be shown only while the web is asked for a newer one.
    var isOutOfDate = false
    /// Whether this program made the file, which then needs no sandbox.
    var isOwn = false
    /// The bytes in the account of those that come from the web.
    var room: BodyRoom?
}

/// Which bytes: of which original, and what of the request has a say in what they are.
struct DataKey: Hashable, Sendable {
    let original: OriginalIdentity
    var fields: HTTPFields = [:]
    var webUse = HTTPLoadRequest.CachePolicy.useProtocol
    /// Tells a load apart that is not to be shared.
    var salt: UInt64 = 0
    /// Whether an old answer will do while the web is asked for a newer one.
    var acceptsStale = true
    /// What is not taken from the store of answers, because it is no picture.
    var refusedBody: UInt64?
}

extension DataKey {
    init(_ request: ImageRequest, of original: OriginalIdentity, salt: UInt64) {
        self.init(
            original: original, fields: request.fields, webUse: request.webUse, salt: salt)
    }
}

extension ImagePipeline {
    /// The bytes of an original, from the file, the web or whoever has them.
    func loadData(
        _ request: ImageRequest, _ key: DataKey, _ consumer: SharedData.Consumer
    ) async throws(LoadError) -> LoadedData {
        if case .bytes(let bytes, let name) = request.source {
            return LoadedData(bytes: bytes, original: OriginalVersion(name, version: "0"))
        }
        return try await sharedData.value(for: key, consumer) {
            [self] context throws(LoadError) in
            let start = clock.now
            var count = 0
            defer {
                context.story.add(
                    LoadStep(
                        .load, "\(count) bytes of \(request.source.name)",
                        duration: start.duration(to: clock.now)))
            }
            let data = try await bytes(request, key, context)
            count = data.bytes.count
            return data
        }
    }

    func bytes(
        _ request: ImageRequest, _ key: DataKey, _ context: LoadContext<DataUpdate>
    ) async throws(LoadError) -> LoadedData {
        switch request.source {
        case .bytes(let bytes, let name):
            return LoadedData(bytes: bytes, original: OriginalVersion(name, version: "0"))
        case .file: return try await read(key.original, context)
        case .url(let url): return try await fetch(url, request, key, context)
        case .loader(let loader, let name):
            let bytes = try await loader.load { context.report(DataUpdate($0)) }
            return LoadedData(
                bytes: EncodedBytes(bytes), original: OriginalVersion(name, version: "0"))
        }
    }

    private func read(
        _ original: OriginalIdentity, _ context: LoadContext<DataUpdate>
    ) async throws(LoadError) -> LoadedData {
        guard case .file(let file) = original else { throw .cancelled }
        return try await loads.run(context.urgency) { [codecs, limits] _ throws(LoadError) in
            do throws(CodecError) {
                // Copied, not mapped, so that all steps see the same bytes.
                let bytes =
                    if let remote = codecs.remoteDecoder {
                        try remote.snapshot(EncodedBytes(opening: file.path, limits: limits))
                    } else {
                        try EncodedBytes(reading: file.path, limits: limits)
                    }
                return LoadedData(bytes: bytes, original: OriginalVersion(file))
            } catch {
                throw LoadError(decoding: file.path, error)
            }
        }
    }

    private func fetch(
        _ url: HTTPURL, _ request: ImageRequest, _ key: DataKey,
        _ context: LoadContext<DataUpdate>
    ) async throws(LoadError) -> LoadedData {
        guard let web else {
            throw .addressRefused(url: url.description, reason: "nothing is loaded from the web")
        }
        var load = HTTPLoadRequest(
            url: url, fields: request.fields, cachePolicy: request.webUse,
            priority: context.urgency.priority)
        load.acceptsStale = key.acceptsStale
        load.refusedBody = key.refusedBody
        load.trace = request.trace
        load.mayKeep = { context.storeWish().contains(.original) }
        let response = try await web.load(load) { context.report(DataUpdate($0)) }
        return LoadedData(
            bytes: try await prepared(EncodedBytes(response.bytes), url, context.urgency),
            original: OriginalVersion(url.description, version: response.validator),
            storability: Storability(
                isAllowed: response.storability.isAllowed && request.webUse != .noStore,
                freshUntil: response.storability.freshUntil,
                dependsOnFields: !request.fields.isEmpty),
            isKept: response.source != .network, isOutOfDate: response.needsRevalidation,
            room: response.room)
    }

    /// The bytes as a worker gets them, so that they need not be in this process as well.
    private func prepared(
        _ bytes: EncodedBytes, _ url: HTTPURL, _ urgency: LoadUrgency
    ) async throws(LoadError) -> EncodedBytes {
        guard let remote = codecs.remoteDecoder else { return bytes }
        return try await loads.run(urgency, continuing: true) { _ throws(LoadError) in
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
