// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import ImageLoading
internal import NIOPosix

/// Finds the originals in the served folder, and detects those that change while they are read.
struct Originals: Sendable {
    private let directory: ServedDirectory
    private let pipeline: ImagePipeline

    init(_ directory: ServedDirectory, _ pipeline: ImagePipeline) {
        self.directory = directory
        self.pipeline = pipeline
    }

    /// Finds a file.
    ///
    /// - Parameter names: the names of folders and of the file.
    /// - Returns: the identity of the file.
    /// - Throws: ``ServerError/notFound``.
    func identity(_ names: [String]) async throws -> FileIdentity {
        try await onDisk { [directory] in try directory.original(names) }
    }

    /// Finds the file that a request names, if its client may see it.
    ///
    /// - Parameters:
    ///   - names: the names of folders and of the file.
    ///   - request: the request.
    /// - Returns: the identity of the file.
    /// - Throws: ``ServerError/notFound``.
    func identity(_ names: [String], for request: IncomingRequest) async throws -> FileIdentity {
        guard request.permission.allows(names) else { throw ServerError.notFound }
        return try await identity(names)
    }

    /// Returns the identities of several files of a folder.
    ///
    /// - Throws: ``ServerError/notFound`` if one of them is missing.
    func identities(_ names: [String], in folder: [String]) async throws -> [FileIdentity] {
        try await onDisk { [directory] in
            try names.map { try directory.original(folder + [$0]) }
        }
    }

    /// Returns the facts of an image's header.
    ///
    /// - Throws: ``ImageLoading/LoadError``, or ``ServerError/originalChanged``.
    func facts(_ identity: FileIdentity) async throws -> ImageFacts {
        try await reading(identity) {
            guard let facts = await pipeline.facts(for: [identity]).first else {
                throw LoadError.cancelled
            }
            return try facts.get()
        }
    }

    /// Runs `work`, which reads an original.
    ///
    /// - Throws: the error of `work`, or ``ServerError/originalChanged`` instead if the file has
    ///   another identity by then.
    func reading<Result>(
        _ identity: FileIdentity, _ work: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await work()
        } catch {
            let current = try? await onDisk { try FileIdentity(path: identity.path) }
            guard let current, current != identity else { throw error }
            throw ServerError.originalChanged
        }
    }

    /// Checks that a file still has its identity.
    ///
    /// - Throws: ``ServerError/originalChanged``.
    func checkCurrent(_ identity: FileIdentity) async throws {
        let isCurrent = try await onDisk {
            (try? FileIdentity(path: identity.path)) == identity
        }
        guard isCurrent else { throw ServerError.originalChanged }
    }
}

/// Runs `work`, which blocks on the disk, on a thread pool.
///
/// - Throws: the error of `work`, or `CancellationError`.
func onDisk<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await NIOThreadPool.singleton.runIfActive(work)
}

/// Runs `work`, and a second time if an original changed while it was read.
///
/// - Parameters:
///   - isRepeatable: whether `work` may run a second time.
///   - work: starts with finding the original.
/// - Returns: the result of the last run.
/// - Throws: the error of the last run.
func retryingIfChanged<Result>(
    isRepeatable: Bool = true, _ work: () async throws -> Result
) async throws -> Result {
    do {
        return try await work()
    } catch  where isRepeatable && isOriginalChange(error) {
        return try await work()
    }
}

/// Whether an error means that an original changed while it was read.
func isOriginalChange(_ error: any Error) -> Bool {
    switch error {
    case LoadError.fileChanged, ServerError.originalChanged: true
    default: false
    }
}
