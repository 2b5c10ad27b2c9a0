// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import MessageDigests
internal import Pixels

/// The response to a request: a line of JSON, followed by the bytes of outputs without a path.
struct WorkResponse: Sendable {
    struct File: Sendable {
        let name: String
        let path: String?
        /// The size; `nil` if the file existed already.
        var size: PixelSize?
        var byteCount = 0
        var digest = ""
    }

    let id: String?
    var files: [File] = []
    /// The bytes of outputs without a path, in the order of ``files``.
    private(set) var bytes: [UInt8] = []
    var format: String?
    var size: PixelSize?
    private(set) var warnings: [String] = []
    var error: WorkError?
    var duration = Duration.zero

    init(id: String?, error: WorkError? = nil) {
        self.id = id
        self.error = error
    }

    /// Adds a file that was made.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - path: where it was written; `nil` to return its bytes.
    mutating func add(_ file: OutputFile, _ path: String?) {
        files.append(
            File(
                name: file.output.name, path: path, size: file.size, byteCount: file.bytes.count,
                digest: MessageDigest(sha256: file.bytes).hexadecimal))
        if path == nil { bytes += file.bytes }
        if let problem = file.problem, warnings.isEmpty { warnings.append("\(problem)") }
    }

    private var status: String {
        if error != nil { return "failed" }
        return files.allSatisfy { $0.size == nil } ? "skipped" : "made"
    }

    /// The line, and the bytes that follow it.
    var encoded: [UInt8] {
        let outputs = files.map { file in
            var members: [JSON.Member] = [.init("name", .string(file.name))]
            if let path = file.path { members.append(.init("path", .string(path))) }
            members.append(.init("skipped", .bool(file.size == nil)))
            if let size = file.size {
                members += [
                    .init("width", .integer(size.width)), .init("height", .integer(size.height)),
                    .init("byteCount", .integer(file.byteCount)),
                    .init("sha256", .string(file.digest)),
                ]
            }
            return JSON.object(members)
        }
        let milliseconds =
            duration.components.seconds * 1000
            + duration.components.attoseconds / 1_000_000_000_000_000
        let line = JSON.object([
            .init("id", id.map { .string($0) } ?? .null), .init("status", .string(status)),
            .init("format", format.map { .string($0) } ?? .null),
            .init("width", size.map { .integer($0.width) } ?? .null),
            .init("height", size.map { .integer($0.height) } ?? .null),
            .init("outputs", .array(outputs)),
            .init("warnings", .array(warnings.map { .string($0) })),
            .init("error", error?.json ?? .null),
            .init("milliseconds", .integer(Int(milliseconds))),
            .init("byteCount", .integer(bytes.count)),
        ]).line
        return Array("\(line)\n".utf8) + bytes
    }
}
