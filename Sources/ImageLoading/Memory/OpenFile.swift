// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An open file of the system; it is closed with the last reference.
final class OpenFile: Sendable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    init?(_ path: String, _ flags: Int32) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Returns the two ends of a pipe.
    static func pipe() -> (readEnd: OpenFile, writeEnd: OpenFile)? {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let code = unsafe Glibc.pipe(&ends)
        #else
        let code = unsafe Darwin.pipe(&ends)
        #endif
        guard code == 0 else { return nil }
        return (OpenFile(descriptor: ends[0]), OpenFile(descriptor: ends[1]))
    }

    /// Reads the text of a short file; `nil` if it cannot be read or is not UTF-8.
    func text() -> String? {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(validating: bytes[..<count], as: UTF8.self)
    }

    /// Writes `text` and a NUL byte in one call.
    ///
    /// - Returns: whether all of it was written.
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8) + [0]
        #if canImport(Glibc)
        return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        #else
        return unsafe Darwin.write(descriptor, bytes, bytes.count) == bytes.count
        #endif
    }
}
