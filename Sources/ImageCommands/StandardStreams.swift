// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writes a message to standard error.
package func writeToStandardError(_ text: String) {
    // An error of standard error itself cannot be reported.
    _ = writeAll(Array(text.utf8), to: STDERR_FILENO)
}

/// Reports a failed file on standard error as `calotype: FILE: REASON`.
package func report(_ failure: FileFailure) {
    writeToStandardError("calotype: \(failure)\n")
}

/// Writes `calotype: FILE: warning: MESSAGE` to standard error for a file that was processed.
package func warn(_ path: String, _ warning: String) {
    writeToStandardError("calotype: \(path): warning: \(warning)\n")
}

/// Writes all bytes to a file descriptor.
///
/// - Returns: The error of the system; `nil` on success.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> String? {
    var written = 0
    while written < bytes.count {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe write(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written)
        }
        if count >= 0 { written += count } else if errno != EINTR { return lastSystemError() }
    }
    return nil
}

/// Reads standard input to its end.
///
/// - Parameter limit: The maximum number of bytes. Reading stops after the chunk that exceeds it,
///   so that a longer result shows that the input is too large.
/// - Returns: The bytes.
/// - Throws: ``FileFailure`` with the error of the system.
package func readStandardInput(upTo limit: Int) throws(FileFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
        let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe read(STDIN_FILENO, $0.baseAddress, $0.count)
        }
        if count < 0 && errno == EINTR { continue }
        if count < 0 { throw FileFailure("standard input", lastSystemError()) }
        if count == 0 { break }
        bytes.append(contentsOf: chunk[..<count])
    }
    return bytes
}

/// The message for `errno`, in English.
package func lastSystemError() -> String {
    unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "unknown system error"
}

/// The number of processors that are online, at least 1.
package func processorCount() -> Int {
    max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
