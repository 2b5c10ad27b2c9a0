// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling
internal import EncodedImages

/// Renditions in the store, as requests and the store policy allow their use.
struct StoredRenditions: Sendable {
    let resources: PipelineResources

    /// Looks up a rendition; reads the identity of a file in the same turn on a thread.
    ///
    /// - Returns: the rendition, if it is stored, and the request with the identity of its file.
    ///   A response of a server is found as long as it is fresh.
    /// - Throws: as ``FileIdentity/init(path:)``, or ``LoadError/cancelled``.
    func lookUp(
        _ request: RenditionRequest, _ urgency: PriorityHandle
    ) async throws(LoadError) -> (Rendition?, RenditionRequest) {
        let image = request.image
        guard let store = resources.store, resources.policy != .originals,
            image.storeUse.contains(.reads)
        else { return (nil, request) }
        if case .url(let url) = image.source {
            guard image.isAnswerableByName else { return (nil, request) }
            let found = try await resources.queues.lookups.run(urgency) { _ throws(LoadError) in
                store.freshRendition(of: url.description, RenditionKey.text(request))
            }
            return (found, request)
        }
        return try await resources.queues.lookups.run(urgency) {
            [files = resources.files] _ throws(LoadError) in
            var request = request
            let original: OriginalIdentity
            if let known = files.known(image) {
                original = known
            } else {
                let file = try files.read(image.source.name)
                request.image.fileIdentity = file
                original = .file(file)
            }
            return (
                store.rendition(for: RenditionKey(OriginalVersion(original), request)), request
            )
        }
    }

    /// Returns the rendition of a file from the shared store, and stores it in the other one.
    ///
    /// - Throws: ``LoadError/cancelled``.
    func shared(
        _ key: RenditionKey, _ urgency: PriorityHandle
    ) async throws(LoadError) -> Rendition? {
        guard let found = await resources.sharedStore?.rendition(for: key) else { return nil }
        return try await resources.queues.lookups.run(urgency) { _ throws(LoadError) in
            resources.store?.insert(found, for: key)
            return found
        }
    }

    /// Returns a rendition that another load has stored since the store was first searched; blocks.
    func rendition(_ load: RenditionLoad) -> Rendition? {
        guard resources.policy != .originals, load.request.image.storeUse.contains(.reads) else {
            return nil
        }
        return resources.store?.rendition(for: load.key)
    }

    /// Stores a rendition of an original that is still the same, if a consumer allows it; blocks.
    func keep(
        _ rendition: Rendition, _ key: RenditionKey, _ storability: Storability,
        _ load: RenditionLoad
    ) {
        guard resources.policy != .originals, storability.isAllowed, rendition.problem == nil,
            load.context.storePermission().contains(.value)
        else { return }
        resources.store?.insert(
            rendition, for: key, freshUntil: storability.answersByNameUntil)
        if case .file = load.request.image.source {
            resources.sharedStore?.insert(rendition, for: key)
        }
    }
}
