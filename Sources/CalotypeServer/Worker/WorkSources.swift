// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import HTTPCaching
internal import HTTPLoading
internal import LoadScheduling
internal import Logging
internal import Synchronization

/// Loads the sources of a worker over HTTP.
struct WorkSources: Sendable {
    private let loader: HTTPLoader

    /// Creates the access to sources.
    ///
    /// - Parameters:
    ///   - transport: the connections, which the owner closes.
    ///   - codecs: the formats that are detected in bodies.
    ///   - jobCount: the number of sources at a time.
    ///   - maximumByteCount: the maximum number of bytes of a source.
    init(
        _ transport: AsyncHTTPTransport, _ codecs: CodecSet, jobCount: Int, maximumByteCount: Int
    ) {
        var configuration = HTTPLoader.Configuration()
        configuration.maximumBodyByteCount = maximumByteCount
        configuration.bodyBudget = BodyBudget(byteLimit: (jobCount + 1) * maximumByteCount)
        configuration.maximumPreviewByteCount = 0
        configuration.maximumConcurrentCountPerHost = jobCount
        configuration.startRate = 1_000_000
        // Requests that failed for a while are repeated by the client, which knows other workers.
        configuration.maximumRetryCount = 1
        loader = HTTPLoader(
            transport: transport, store: nil, codecs: codecs, configuration: configuration,
            logger: Logger(label: "calotype.worker") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Loads a source, and blocks the calling thread meanwhile.
    ///
    /// - Throws: ``WorkError``; of the kind `timeout` if the deadline passes first.
    func load(
        _ url: String, by deadline: ContinuousClock.Instant
    ) throws(WorkError) -> [UInt8] {
        let result = Mutex(Result<[UInt8], WorkError>.failure(WorkError(.timeout, "")))
        let isDone = DispatchSemaphore(value: 0)
        let task = Task { [loader] in
            let loaded: Result<[UInt8], WorkError>
            do throws(LoadError) {
                let response = try await loader.load(
                    HTTPLoadRequest(url: try HTTPURL(url), cachePolicy: .noStore))
                loaded = .success(response.bytes)
            } catch {
                loaded = .failure(WorkError(error))
            }
            result.withLock { $0 = loaded }
            isDone.signal()
        }
        let remaining = (deadline - ContinuousClock.now).components
        let limit =
            DispatchTime.now()
            + .milliseconds(
                Int(remaining.seconds * 1000 + remaining.attoseconds / 1_000_000_000_000_000))
        if isDone.wait(timeout: limit) == .timedOut { task.cancel() }
        return try result.withLock { $0 }.get()
    }
}
