// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The bytes of a file, in memory or mapped; copies share them.
///
/// Mapping is the one place below the programs where a file is touched: it is what lets a tool look
/// at a header without reading the rest. A mapped file that another process cuts short kills the
/// process that reads behind its new end (`SIGBUS`), so a server reads files into memory instead.
public struct EncodedBytes: Sendable {
    private enum Storage: Sendable {
        case array([UInt8])
        case mapping(FileMapping)
    }

    private let storage: Storage

    public init(_ bytes: [UInt8]) { storage = .array(bytes) }

    /// Maps a file into memory.
    ///
    /// - Throws: ``CodecError/file(reason:)`` with the system's reason.
    public init(mapping path: String) throws(CodecError) {
        guard let mapping = try FileMapping(path) else {
            storage = .array([])
            return
        }
        storage = .mapping(mapping)
    }

    /// Reads a file into memory, the whole of it or its start.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - maximumByteCount: the bytes that are enough, such as those of a header.
    ///   - limits: what the file may ask for.
    /// - Throws: ``CodecError/file(reason:)``, or ``CodecError/limitExceeded(_:needed:allowed:)``
    ///   before memory is taken.
    public init(
        reading path: String, first maximumByteCount: Int = .max,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let file = try OpenFile(path)
        try limits.check(.byteCount, file.byteCount)
        storage = .array(try file.contents(min(file.byteCount, maximumByteCount)))
    }

    public var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .mapping(let mapping): mapping.byteCount
        }
    }

    /// Calls `body` with all bytes.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .array(let bytes): try body(bytes.span)
        case .mapping(let mapping): try mapping.withBytes(body)
        }
    }
}

/// A region of memory that shows a file, unmapped with its last reference.
@safe private final class FileMapping: Sendable {
    // Only ever read, and the same for the whole life of the object.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer
    let byteCount: Int

    /// `nil` for an empty file, which cannot be mapped.
    init?(_ path: String) throws(CodecError) {
        let file = try OpenFile(path)
        byteCount = file.byteCount
        guard byteCount > 0 else { return nil }
        guard
            let start = unsafe mmap(
                nil, byteCount, PROT_READ, MAP_PRIVATE, file.descriptor, 0),
            unsafe start != MAP_FAILED
        else { throw .file(reason: lastSystemError()) }
        unsafe self.start = start
    }

    deinit { unsafe _ = munmap(start, byteCount) }

    func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
        return try body(unsafe Span(_unsafeElements: bytes.bindMemory(to: UInt8.self)))
    }
}

/// The only owner of a file descriptor open for reading.
private struct OpenFile: ~Copyable {
    let descriptor: Int32
    let byteCount: Int

    init(_ path: String) throws(CodecError) {
        // Without waiting: a named pipe must not hold up whoever opens it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(reason: lastSystemError()) }
        var status = stat()
        let answer = unsafe fstat(descriptor, &status)
        let reason = lastSystemError()
        guard answer == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .file(reason: answer == 0 ? "not a regular file" : reason)
        }
        self.descriptor = descriptor
        byteCount = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// The first `byteCount` bytes, fewer if the file has become shorter since it was opened.
    func contents(_ byteCount: Int) throws(CodecError) -> [UInt8] {
        var failure: String?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            while count < byteCount {
                let start = unsafe buffer.baseAddress?.advanced(by: count)
                let received = unsafe read(descriptor, start, byteCount - count)
                if received < 0 && errno == EINTR { continue }
                if received < 0 { failure = lastSystemError() }
                guard received > 0 else { break }
                count += received
            }
        }
        if let failure { throw .file(reason: failure) }
        return bytes
    }
}

/// What the last failed call of the C library says of itself, in English.
func lastSystemError() -> String {
    unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "unknown system error"
}
