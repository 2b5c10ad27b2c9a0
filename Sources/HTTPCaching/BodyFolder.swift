// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import LoadScheduling

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The folder of the bodies that are too large for the database, one file each.
///
/// A file is written under a random name; it becomes a part of the store with the row that names
/// it.
struct BodyFolder: Sendable {
    let path: String

    /// Creates the folder if it does not exist.
    init(_ path: String) throws(LoadError) {
        self.path = path
        try makeDirectory(path)
    }

    static func newName() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }

    /// Returns whether ``newName()`` can return a name; the name in a damaged row may leave the
    /// folder.
    private static func isName(_ name: String) -> Bool { UInt64(name, radix: 36) != nil }

    /// Writes a new file.
    ///
    /// - Returns: whether all bytes were written.
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
        // A full disk may be reported only here.
        return close(descriptor) == 0 && count == bytes.count
    }

    /// Reads a file.
    ///
    /// - Returns: the bytes, `nil` unless the file has `byteCount` bytes.
    func read(_ name: String, byteCount: Int) -> [UInt8]? {
        guard Self.isName(name) else { return nil }
        let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Checked before memory is allocated: the count in a damaged row may be any number.
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
