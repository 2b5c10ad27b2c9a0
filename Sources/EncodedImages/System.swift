// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Starts a detached thread that runs `body`.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    let start = unsafe Unmanaged.passRetained(ThreadStart(body: body))
    var thread = pthread_t()
    let code = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
            start.body()
            return nil
        }, start.toOpaque())
    precondition(code == 0, "cannot start a thread: \(systemError(code))")
    pthread_detach(thread)
}

/// The argument of a new thread.
private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Returns the message of the system for an error number, in English.
package func systemError(_ code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
}

/// Creates an empty file with a unique name, open for reading and writing, for its owner alone.
///
/// - Parameter prefix: the path before the six characters that make it unique.
/// - Returns: the descriptor and the path; `nil` on an error, which `errno` contains.
package func makeTemporaryFile(_ prefix: String) -> (descriptor: Int32, path: String)? {
    // mkstemp replaces the last six characters.
    var template = Array("\(prefix)XXXXXX".utf8CString)
    let descriptor = unsafe template.withUnsafeMutableBufferPointer {
        unsafe $0.baseAddress.map { unsafe mkstemp($0) } ?? -1
    }
    guard descriptor >= 0 else { return nil }
    let path = template.dropLast().map(UInt8.init(bitPattern:))
    return (descriptor, String(decoding: path, as: UTF8.self))
}

/// Returns a time of the file system in nanoseconds, clamped to `Int`.
///
/// File systems store times of any year; 64 bits of nanoseconds end in the year 2262.
package func nanoseconds(seconds: Int, nanoseconds: Int) -> Int {
    let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflows) = whole.addingReportingOverflow(nanoseconds)
    guard isTooLarge || overflows else { return sum }
    return seconds < 0 ? .min : .max
}
