// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc
internal import ImageCommands

/// Performs the requests to a worker; each failure concerns one request.
struct WorkRunner: Sendable {
    let maker: OutputMaker
    let sources: WorkSources
    /// The time limit of requests that specify none.
    let deadline: Duration
    /// Whether outputs that exist are replaced.
    let replacesExisting: Bool

    /// Performs a request.
    ///
    /// - Parameter item: the request and its bytes.
    /// - Returns: the response.
    func respond(to item: WorkReader.Item) -> WorkResponse {
        let start = ContinuousClock.now
        var response = WorkResponse(id: item.request.id)
        let limit = item.request.deadlineMilliseconds.map { Duration.milliseconds($0) } ?? deadline
        do throws(WorkError) {
            try make(item, by: start + limit, &response)
        } catch  where error.kind == .timeout {
            response.error = WorkError(.timeout, "the deadline of \(limit) has passed")
        } catch {
            response.error = error
        }
        response.duration = ContinuousClock.now - start
        return response
    }

    private func make(
        _ item: WorkReader.Item, by deadline: ContinuousClock.Instant,
        _ response: inout WorkResponse
    ) throws(WorkError) {
        let request = item.request
        var bytes: EncodedBytes?
        if let passed = item.bytes { bytes = try passed.get() }
        var plan = try request.plan()
        let identity = try WorkIdentity.expand(&plan, request, bytes)
        let wanted = plan.filter { output, path in
            guard !replacesExisting, let path, exists(path) else { return true }
            response.files.append(WorkResponse.File(name: output.name, path: path))
            return false
        }
        guard !wanted.isEmpty else { return }
        if bytes == nil, let source = request.source, source.isURL {
            bytes = EncodedBytes(try sources.load(source, by: deadline))
        }
        let paths = plan.reduce(into: [:]) { $0[$1.output.name] = $1.path }
        do throws(OutputFailure) {
            let image = try maker.make(
                Set(wanted.map(\.output)), among: plan.map(\.output),
                CancellationFlag { ContinuousClock.now >= deadline }
            ) { () throws(CodecError) in
                if let bytes { return bytes }
                return try EncodedBytes(mapping: request.source ?? "")
            } write: { file throws(CodecError) in
                let path = paths[file.output.name]
                if let identity, bytes == nil {
                    // The name of the file must not belong to an earlier version of the source.
                    guard (try? WorkIdentity(request, bytes: nil)) == identity else {
                        throw .fileChanged
                    }
                }
                if let path { try file.write(to: path) }
                response.add(file, path)
            }
            response.format = image.format.name
            response.size = image.pixelSize
        } catch {
            throw WorkError(error)
        }
    }
}

private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
