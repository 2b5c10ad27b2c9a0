// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import LoadScheduling

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Bodies too large for a database, each a file of its own.
///
/// A file is written under a name that nothing knows; the row of the database that names it comes
/// afterwards and is what makes it a part of the store.
struct BodyFolder: Sendable {
    let path: String

    /// Makes the folder if it is missing.
    init(_ path: String) throws(LoadError) {
        self.path = path
        try makeDirectory(path)
    }

    static func newName() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }

    /// Whether ``newName()`` could have made a name; one from a damaged row may lead out of the folder.
    private static func isName(_ name: String) -> Bool { UInt64(name, radix: 36) != nil }

    /// - Returns: whether all of it could be written.
    func write(_ bytes: [UInt8], name: String) -> Bool {
        let descriptor = unsafe open(
            file(name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        var count = 0
        while count < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: count), bytes.count - count)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { break }
            count += written
        }
        // A full disk may be told of only here.
        return close(descriptor) == 0 && count == bytes.count
    }

    /// - Returns: `nil` unless there are `byteCount` bytes.
    func read(_ name: String, byteCount: Int) -> [UInt8]? {
        guard Self.isName(name) else { return nil }
        let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Before memory is taken for what a damaged row says.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, Int(status.st_size) == byteCount else {
            return nil
        }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            while count < byteCount {
                let start = unsafe buffer.baseAddress?.advanced(by: count)
                let received = unsafe Glibc.read(descriptor, start, byteCount - count)
                if received < 0 && errno == EINTR { continue }
                guard received > 0 else { break }
                count += received
            }
        }
        return bytes.count == byteCount ? bytes : nil
    }

    func remove(_ name: String) {
        guard Self.isName(name) else { return }
        unsafe _ = unlink(file(name))
    }

    private func file(_ name: String) -> String { "\(path)/\(name)" }
}
