// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Starts a thread of the system that runs `body` and then ends; nobody has to join it.
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
    precondition(code == 0, "no thread could be started: \(systemError(code))")
    pthread_detach(thread)
}

/// What a new thread is handed.
private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) { self.body = body }
}

/// What the system says of an error number, in English.
package func systemError(_ code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
}

/// Makes an empty file that nobody else knows, open to be read and written, for its owner alone.
///
/// - Parameter prefix: the path up to the characters that make it unlike any other.
/// - Returns: its descriptor and its path; `nil` if the system refuses, and `errno` says why.
package func makeTemporaryFile(_ prefix: String) -> (descriptor: Int32, path: String)? {
    // The last six are for the system to choose.
    var template = Array("\(prefix)XXXXXX".utf8CString)
    let descriptor = unsafe template.withUnsafeMutableBufferPointer {
        unsafe $0.baseAddress.map { unsafe mkstemp($0) } ?? -1
    }
    guard descriptor >= 0 else { return nil }
    let path = template.dropLast().map(UInt8.init(bitPattern:))
    return (descriptor, String(decoding: path, as: UTF8.self))
}

/// The nanoseconds of a time of the file system, or the nearest number that fits.
///
/// File systems keep times of any year; what fits in 64 bits ends in the year 2262.
package func nanoseconds(seconds: Int, nanoseconds: Int) -> Int {
    let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflows) = whole.addingReportingOverflow(nanoseconds)
    guard isTooLarge || overflows else { return sum }
    return seconds < 0 ? .min : .max
}
