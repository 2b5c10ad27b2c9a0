// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A message for people, which must not get into a pipe that the results go through.
package func writeToStandardError(_ text: String) {
    // There is nobody left to tell when standard error itself is closed.
    _ = writeAll(Array(text.utf8), to: STDERR_FILENO)
}

/// Says that a file failed, in the form of every Unix tool: program, file, reason.
package func report(_ failure: FileFailure) {
    writeToStandardError("calotype: \(failure)\n")
}

/// Writes every byte to an open file.
///
/// - Returns: the system's reason if it failed.
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
/// - Parameter limit: the most bytes that are read; one more tells that there was too much.
/// - Returns: what was read.
/// - Throws: ``FileFailure`` with the system's reason.
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

/// What the last failed call of the C library says of itself, in English.
package func lastSystemError() -> String {
    unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "unknown system error"
}

/// How many processors can work at once.
package func processorCount() -> Int {
    max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
