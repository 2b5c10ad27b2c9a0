// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import Dispatch
internal import HTTPCaching
internal import HTTPLoading
internal import HTTPTypes
internal import LoadScheduling
internal import Synchronization

/// The connections to the servers whose folders are opened; the client is created with the first request,
/// because its threads take time to start.
///
/// A lock: every operation is short and never awaits.
final class ServerConnections: HTTPTransport {
    private let client = Mutex<AsyncHTTPTransport?>(nil)

    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        let client = client.withLock { client in
            let used = client ?? AsyncHTTPTransport()
            client = used
            return used
        }
        return try await client.send(request)
    }

    /// Closes all connections, before the program ends.
    func close() {
        guard let client = client.withLock({ $0.take() }) else { return }
        let isClosed = DispatchSemaphore(value: 0)
        Task { @concurrent in
            await client.close()
            isClosed.signal()
        }
        isClosed.wait()
    }
}
#endif
