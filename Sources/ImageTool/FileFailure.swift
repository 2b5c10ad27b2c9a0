// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading

/// Why a file could not be read or written; the command goes on with the next.
struct FileFailure: Error, Hashable, CustomStringConvertible {
    let path: String
    let reason: String

    init(_ path: String, _ reason: String) {
        self.path = path
        self.reason = reason
    }

    init(_ path: String, _ error: some Error) {
        self.init(path, "\(error)")
    }

    init(_ path: String, _ error: LoadError) {
        switch error {
        case .notFound: self.init(path, "No such file or directory")
        case .unreadable(_, let reason): self.init(path, reason)
        case .decodingFailed(_, let error), .encodingFailed(_, let error): self.init(path, error)
        default: self.init(path, error.description)
        }
    }

    var description: String { "\(path): \(reason)" }

    var json: JSON { .object([.init("file", .string(path)), .init("error", .string(reason))]) }
}
