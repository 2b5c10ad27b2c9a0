// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import Synchronization

/// Reads the identities of files, and holds the latest one of each path.
///
/// Every file status that the pipeline reads is read here, so that it is counted.
final class FileIdentities: Sendable {
    /// The maximum number of paths; beyond it all are dropped, and read again when needed.
    private static let maximumCount = 1 << 14

    private let lookups: WorkQueue
    /// A lock: held while a path is looked up or added.
    private let latest = Mutex<[ComparedByBytes: FileIdentity]>([:])
    private let count = Atomic<Int>(0)

    /// - Parameter lookups: the queue on which ``identity(of:_:)`` reads.
    init(lookups: WorkQueue) { self.lookups = lookups }

    /// The number of times that the status of a file was read.
    var readCount: Int { count.load(ordering: .relaxed) }

    /// Reads the identity of a file on a thread for lookups.
    ///
    /// - Throws: as ``FileIdentity/init(path:)``, or ``LoadError/cancelled``.
    func identity(
        of path: String, _ urgency: PriorityHandle
    ) async throws(LoadError) -> FileIdentity {
        try await lookups.run(urgency) { [self] _ throws(LoadError) in try read(path) }
    }

    /// Returns the original of a request; reads the identity of a file unless the request has it.
    ///
    /// - Throws: as ``identity(of:_:)``.
    func original(
        of request: ImageRequest, _ urgency: PriorityHandle
    ) async throws(LoadError) -> OriginalIdentity {
        if let original = known(request) { return original }
        return .file(try await identity(of: request.source.name, urgency))
    }

    /// Returns the original of a request that has its identity, without waiting; else `nil`.
    func known(_ request: ImageRequest) -> OriginalIdentity? {
        let original = request.knownOriginal
        if case .file(let file) = original { note(file) }
        return original
    }

    /// Returns the original of a request as it was last seen, without waiting.
    func latestOriginal(of request: ImageRequest) -> OriginalIdentity? {
        request.knownOriginal
            ?? latest.withLock { $0[ComparedByBytes(request.source.name)] }.map { .file($0) }
    }

    /// Reads the identity of a file; blocks.
    func read(_ path: String) throws(LoadError) -> FileIdentity {
        count.add(1, ordering: .relaxed)
        let identity = try FileIdentity(path: path)
        note(identity)
        return identity
    }

    /// Returns whether a file is still the same; blocks.
    ///
    /// - Throws: as ``FileIdentity/init(path:)``.
    func isCurrent(_ file: FileIdentity) throws(LoadError) -> Bool {
        count.add(1, ordering: .relaxed)
        return try FileIdentity(path: file.path) == file
    }

    /// Drops a path.
    ///
    /// - Returns: the latest identity of the file.
    func remove(_ path: String) -> FileIdentity? {
        latest.withLock { $0.removeValue(forKey: ComparedByBytes(path)) }
    }

    private func note(_ file: FileIdentity) {
        latest.withLock { latest in
            if latest.count >= Self.maximumCount { latest = [:] }
            latest[ComparedByBytes(file.path)] = file
        }
    }
}
