// SPDX-License-Identifier: Apache-2.0

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

    var description: String { "\(path): \(reason)" }
}
