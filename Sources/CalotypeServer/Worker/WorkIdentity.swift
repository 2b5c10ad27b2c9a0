// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc
internal import ImageCommands
internal import MessageDigests

/// What the bytes of the outputs depend on: the program, the content of the source and all options.
struct WorkIdentity: Equatable {
    /// The first 128 bits of a SHA-256 digest, in hexadecimal digits.
    let digest: String

    /// Identifies the outputs of a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - bytes: the bytes of the source; `nil` if it is read from its path.
    /// - Throws: ``WorkError`` if the file cannot be accessed, or if the version of a URL is missing.
    init(_ request: WorkRequest, bytes: EncodedBytes?) throws(WorkError) {
        let content: [String]
        if let version = request.version {
            content = [request.source ?? "", "version", version]
        } else if let bytes {
            content = ["bytes", MessageDigest(sha256: bytes.copy(of: 0..<bytes.count)).hexadecimal]
        } else {
            content = try Self.state(of: request.source ?? "")
        }
        // All outputs: a smaller one is computed from the same decode as the largest.
        let outputs = request.outputs.flatMap { [$0.name, $0.options] }
        let text = JSON.array(([calotypeVersion] + content + outputs).map { .string($0) }).line
        digest = String(MessageDigest(sha256: Array(text.utf8)).hexadecimal.prefix(32))
    }

    /// Replaces `{digest}`, `{shard}`, `{name}` and `{extension}` in the paths of outputs.
    ///
    /// - Returns: the identity, if a path depends on it.
    /// - Throws: as ``init(_:bytes:)``.
    static func expand(
        _ plan: inout [(output: BatchOutput, path: String?)], _ request: WorkRequest,
        _ bytes: EncodedBytes?
    ) throws(WorkError) -> WorkIdentity? {
        let isNeeded = plan.contains { output in
            ["{digest}", "{shard}"].contains { output.path?.contains($0) == true }
        }
        let identity = isNeeded ? try WorkIdentity(request, bytes: bytes) : nil
        for (index, (output, path)) in plan.enumerated() {
            var path = path
            for (placeholder, text) in [
                ("{digest}", identity?.digest),
                ("{shard}", identity.map { String($0.digest.prefix(2)) }),
                ("{name}", output.name), ("{extension}", output.fileExtension),
            ] {
                if let text { path = path?.replacing(placeholder, with: text) }
            }
            plan[index].path = path
        }
        return identity
    }

    /// Returns the path, size and modification time of a file.
    private static func state(of path: String) throws(WorkError) -> [String] {
        guard !path.isURL else {
            throw WorkError(.request, "a path with {digest} requires version for a URL")
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw WorkError(.unreachable, lastSystemError())
        }
        let time = status.st_mtim
        return [path, "\(status.st_size)", "\(time.tv_sec)", "\(time.tv_nsec)"]
    }
}

extension String {
    /// Whether the text is the address of a source on a server.
    var isURL: Bool { hasPrefix("https://") || hasPrefix("http://") }
}
