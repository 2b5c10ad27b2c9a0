// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling

extension ImagePipeline {
    /// Originals that are asked for in one query and whose facts are kept in one transaction.
    private static let chunkSize = 500

    /// Store, else the header of each file that is missing there, keep.
    func loadFacts(_ originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        var results: [Result<ImageFacts, LoadError>] = []
        results.reserveCapacity(originals.count)
        for start in stride(from: 0, to: originals.count, by: Self.chunkSize) {
            let end = min(start + Self.chunkSize, originals.count)
            results += await loadChunk(Array(originals[start..<end]))
        }
        return results
    }

    /// The facts of those that are in the store.
    func loadKeptFacts(
        _ originals: [FileIdentity]
    ) async throws(LoadError) -> [FileIdentity: ImageFacts] {
        guard let store else { return [:] }
        var facts: [FileIdentity: ImageFacts] = [:]
        for start in stride(from: 0, to: originals.count, by: Self.chunkSize) {
            let chunk = Array(originals[start..<min(start + Self.chunkSize, originals.count)])
            let kept = try await lookups.run(.visible) { () throws(LoadError) in
                store.facts(of: chunk)
            }
            facts.merge(kept) { $1 }
        }
        return facts
    }

    private func loadChunk(_ originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        do throws(LoadError) {
            let kept = try await loadKeptFacts(originals)
            let read = await readFacts(of: originals.filter { kept[$0] == nil })
            return originals.map { original in
                kept[original].map { .success($0) } ?? read[original] ?? .failure(.cancelled)
            }
        } catch {
            return originals.map { _ in .failure(error) }
        }
    }

    private func readFacts(
        of originals: [FileIdentity]
    ) async -> [FileIdentity: Result<ImageFacts, LoadError>] {
        guard !originals.isEmpty else { return [:] }
        let results = await withTaskGroup(of: (FileIdentity, Result<ImageFacts, LoadError>).self) {
            [self] group in
            for original in originals {
                group.addTask { (original, await self.readFacts(of: original)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let read = results.compactMapValues { try? $0.get() }
        if let store, !read.isEmpty, !Task.isCancelled {
            // Facts that cannot be kept are read again another time.
            _ = try? await lookups.run(.visible, continuing: true) { () throws(LoadError) in
                // Not those of a file that changed while it was read.
                store.insert(read.filter { (try? FileIdentity(path: $0.key.path)) == $0.key })
            }
        }
        return results
    }

    private func readFacts(of original: FileIdentity) async -> Result<ImageFacts, LoadError> {
        do throws(LoadError) {
            // Behind the lookups of hits, which take no time.
            return .success(
                try await lookups.run(.prefetch, continuing: true) { () throws(LoadError) in
                    try self.header(of: original)
                })
        } catch {
            return .failure(error)
        }
    }

    private func header(of original: FileIdentity) throws(LoadError) -> ImageFacts {
        let facts: ImageFacts
        do throws(CodecError) {
            facts = ImageFacts(try openedHeader(of: original))
        } catch {
            // The file may be gone since it was listed, or be another, which says more than how
            // reading it failed.
            try checkCurrent(original)
            throw LoadError(decoding: original.path, error)
        }
        try checkCurrent(original)
        return facts
    }

    private func checkCurrent(_ original: FileIdentity) throws(LoadError) {
        guard try FileIdentity(path: original.path) == original else {
            throw .fileChanged(path: original.path)
        }
    }

    /// The start of a file says almost always what its header says; the rest is read if it must be.
    private func openedHeader(of original: FileIdentity) throws(CodecError) -> ImageSource {
        try limits.check(.byteCount, original.byteCount)
        if original.byteCount > Self.headerByteCount {
            let start = try EncodedBytes(
                reading: original.path, first: Self.headerByteCount, limits: limits)
            if let source = try? ImageSource(start, codecs: codecs, limits: limits),
                !source.header.endsEarly
            {
                return source
            }
        }
        let bytes = try EncodedBytes(reading: original.path, limits: limits)
        return try ImageSource(bytes, codecs: codecs, limits: limits)
    }

    /// Enough for what a camera writes before the pixels, its thumbnail included.
    private static let headerByteCount = 256 << 10
}

extension ImageFacts {
    init(_ source: ImageSource) {
        self.init(
            formatName: source.format.name, mediaType: source.format.mediaType,
            pixelSize: source.pixelSize)
    }
}
