// SPDX-License-Identifier: Apache-2.0

/// The reason why a file could not be read or written; a batch continues with the next file.
package struct FileFailure: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let reason: String

    package init(_ path: String, _ reason: String) {
        self.path = path
        self.reason = reason
    }

    package init(_ path: String, _ error: some Error) {
        self.init(path, "\(error)")
    }

    package var description: String { "\(path.isEmpty ? "''" : path): \(reason)" }

    package var json: JSON {
        .object([.init("file", .string(path)), .init("error", .string(reason))])
    }
}
