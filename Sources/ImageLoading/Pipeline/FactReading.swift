// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
internal import LoadScheduling

/// Reads the facts and the metadata of files; nothing is decoded.
struct FactReading: Sendable {
    /// The number of files whose facts are read from the store in one query, and stored in one
    /// transaction.
    private static let chunkSize = 500
    /// The number of files whose headers one job reads: to switch between threads takes longer than a
    /// header.
    private static let groupSize = 16

    let resources: PipelineResources

    /// Returns the facts of files, from the store or else from the header of each file.
    func facts(of originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        var results: [Result<ImageFacts, LoadError>] = []
        results.reserveCapacity(originals.count)
        for start in stride(from: 0, to: originals.count, by: Self.chunkSize) {
            let end = min(start + Self.chunkSize, originals.count)
            results += await facts(ofChunk: Array(originals[start..<end]))
        }
        return results
    }

    /// Returns the facts of those files whose facts are in the store.
    func storedFacts(
        of originals: [FileIdentity]
    ) async throws(LoadError) -> [FileIdentity: ImageFacts] {
        guard let store = resources.store else { return [:] }
        var facts: [FileIdentity: ImageFacts] = [:]
        for start in stride(from: 0, to: originals.count, by: Self.chunkSize) {
            let chunk = Array(originals[start..<min(start + Self.chunkSize, originals.count)])
            let kept = try await resources.queues.lookups.run(.visible) { () throws(LoadError) in
                store.facts(of: chunk)
            }
            facts.merge(kept) { $1 }
        }
        return facts
    }

    private func facts(ofChunk originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        do throws(LoadError) {
            let stored = try await storedFacts(of: originals)
            let read = await readFacts(of: originals.filter { stored[$0] == nil })
            return originals.map { original in
                stored[original].map { .success($0) } ?? read[original] ?? .failure(.cancelled)
            }
        } catch {
            return originals.map { _ in .failure(error) }
        }
    }

    private func readFacts(
        of originals: [FileIdentity]
    ) async -> [FileIdentity: Result<ImageFacts, LoadError>] {
        guard !originals.isEmpty else { return [:] }
        let groups = stride(from: 0, to: originals.count, by: Self.groupSize).map {
            Array(originals[$0..<min($0 + Self.groupSize, originals.count)])
        }
        let read = await concurrently(groups) { await headers(of: $0) }
        // Links may refer to the same file twice.
        let results = Dictionary(read.joined(), uniquingKeysWith: { $1 })
        await insert(results.compactMapValues { try? $0.get() }, .visible)
        return results
    }

    /// Reads all items at the same time.
    ///
    /// - Returns: the results in the order of `items`.
    private func concurrently<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ read: @escaping @Sendable (Item) async -> Value
    ) async -> [Value] {
        await withTaskGroup(of: (Int, Value).self) { group in
            for (index, item) in items.enumerated() {
                group.addTask { (index, await read(item)) }
            }
            let values = await group.reduce(into: [Value?](repeating: nil, count: items.count)) {
                $0[$1.0] = $1.1
            }
            return values.compactMap(\.self)
        }
    }

    /// Stores facts, but not those of a file that changed while it was read.
    ///
    /// Facts that cannot be stored are read again by a later request.
    private func insert(_ facts: [FileIdentity: ImageFacts], _ priority: LoadPriority) async {
        guard let store = resources.store, !facts.isEmpty, !Task.isCancelled else { return }
        _ = try? await resources.queues.lookups.run(priority, continuing: true) {
            () throws(LoadError) in
            store.insert(facts.filter { (try? resources.files.isCurrent($0.key)) == true })
        }
    }

    private func headers(
        of group: [FileIdentity]
    ) async -> [(FileIdentity, Result<ImageFacts, LoadError>)] {
        do throws(LoadError) {
            // Behind the lookups of hits, which are short.
            return try await resources.queues.lookups.run(.prefetch, continuing: true) {
                Array(zip(group, readHeaders(of: group)))
            }
        } catch {
            return group.map { ($0, .failure(error)) }
        }
    }

    private func readHeaders(of group: [FileIdentity]) -> [Result<ImageFacts, LoadError>] {
        let limits = resources.limits
        let opened = group.map { original in
            Result { () throws(CodecError) in
                try EncodedBytes(opening: original.path, limits: limits)
            }
        }
        // The results of the files that could be opened, in their order.
        var read = resources.codecs.sizes(
            of: opened.compactMap { try? $0.get() }, limits: limits)[...]
        return zip(group, opened).map { original, file in
            let result = file.flatMap { _ in read.removeFirst() }
            return Result { () throws(LoadError) in
                // That the file has been removed or replaced is a better error than the failure to
                // read it.
                try checkCurrent(original)
                do throws(CodecError) {
                    let (format, size) = try result.get()
                    return ImageFacts(
                        formatName: format.name, mediaType: format.mediaType, pixelSize: size)
                } catch {
                    throw LoadError(decoding: original.path, error)
                }
            }
        }
    }

    private func checkCurrent(_ original: FileIdentity) throws(LoadError) {
        guard try resources.files.isCurrent(original) else {
            throw .fileChanged(path: original.path)
        }
    }

    /// Opens a file; a remote decoder reads its header from the descriptor.
    private func opened(_ original: FileIdentity) throws(CodecError) -> ImageSource {
        let (codecs, limits) = (resources.codecs, resources.limits)
        return try ImageSource(
            EncodedBytes(opening: original.path, limits: limits), codecs: codecs, limits: limits)
    }

    /// Returns the facts and the metadata of files at the priority of prefetching; the facts are
    /// stored.
    func details(of originals: [FileIdentity]) async -> [Result<ImageDetails, LoadError>] {
        let results = await concurrently(originals) { await details(of: $0) }
        var facts: [FileIdentity: ImageFacts] = [:]
        for (original, result) in zip(originals, results) {
            facts[original] = try? result.get().facts
        }
        await insert(facts, .prefetch)
        return results
    }

    private func details(
        of original: FileIdentity
    ) async -> Result<ImageDetails, LoadError> {
        do throws(LoadError) {
            return .success(
                try await resources.queues.loads.run(.prefetch) { () throws(LoadError) in
                    let details: ImageDetails
                    do throws(CodecError) {
                        let source = try opened(original)
                        // Damaged metadata cost the metadata, not the image.
                        let metadata = (try? source.metadataFields()) ?? MetadataFields()
                        details = ImageDetails(facts: ImageFacts(source), metadata: metadata)
                    } catch {
                        try checkCurrent(original)
                        throw LoadError(decoding: original.path, error)
                    }
                    try checkCurrent(original)
                    return details
                })
        } catch {
            return .failure(error)
        }
    }

    /// Returns the parsed metadata of a file; empty if the file is damaged.
    func metadataFields(of path: String) async throws(LoadError) -> MetadataFields {
        let (codecs, limits) = (resources.codecs, resources.limits)
        return try await resources.queues.loads.run(.visible) { () throws(LoadError) in
            do throws(CodecError) {
                return try ImageSource(
                    EncodedBytes(opening: path, limits: limits), codecs: codecs, limits: limits
                ).metadataFields()
            } catch .fileChanged {
                throw .fileChanged(path: path)
            } catch {
                return MetadataFields()
            }
        }
    }
}

/// What the header and the metadata of a file contain.
package struct ImageDetails: Sendable {
    package let facts: ImageFacts
    package let metadata: MetadataFields
}

extension ImageFacts {
    init(_ source: ImageSource) {
        self.init(
            formatName: source.format.name, mediaType: source.format.mediaType,
            pixelSize: source.pixelSize)
    }
}
