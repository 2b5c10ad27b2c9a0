// SPDX-License-Identifier: Apache-2.0

internal import Pixels

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
        case file(MappedFile)
    }

    private let storage: Storage

    public init(_ bytes: [UInt8]) { storage = .array(bytes) }

    /// Maps a file into memory.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - limits: what the file may ask for.
    /// - Throws: ``CodecError/file(reason:)`` with the system's reason, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)``.
    public init(
        mapping path: String, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let file = try OpenFile(path)
        try limits.check(.byteCount, file.byteCount)
        storage = file.byteCount == 0 ? .array([]) : .file(try MappedFile(file))
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

    /// Maps a file that is open already.
    ///
    /// - Parameters:
    ///   - descriptor: the file; it is closed with the last copy of these bytes.
    ///   - byteCount: how many bytes from its start; it must have as many.
    /// - Throws: ``CodecError/file(reason:)`` with the system's reason.
    package init(descriptor: Int32, byteCount: Int) throws(CodecError) {
        let file = OpenFile(descriptor: descriptor, byteCount: byteCount)
        storage = byteCount == 0 ? .array([]) : .file(try MappedFile(file))
    }

    public var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .file(let file): file.mapping.byteCount
        }
    }

    /// The open file that they are mapped from, for as long as they exist; `nil` if they are in memory.
    package var descriptor: Int32? {
        switch storage {
        case .array: nil
        case .file(let file): file.file.descriptor
        }
    }

    /// Gives the memory of some bytes back until they are looked at again, where they are those of a
    /// file.
    func release(_ bytes: Range<Int>) {
        if case .file(let file) = storage { file.mapping.release(bytes) }
    }

    /// Calls `body` with all bytes.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .array(let bytes): try body(bytes.span)
        case .file(let file): try file.mapping.withBytes(body)
        }
    }
}

/// A file that is mapped into memory, and stays open so that another process can be given it.
private final class MappedFile: Sendable {
    let file: OpenFile
    let mapping: MemoryMapping

    init(_ file: consuming OpenFile) throws(CodecError) {
        guard let mapping = MemoryMapping(file.descriptor, byteCount: file.byteCount) else {
            throw .file(reason: systemError(errno))
        }
        self.mapping = mapping
        self.file = file
    }
}

/// The only owner of a file descriptor open for reading.
private struct OpenFile: ~Copyable {
    let descriptor: Int32
    let byteCount: Int

    init(descriptor: Int32, byteCount: Int) {
        self.descriptor = descriptor
        self.byteCount = byteCount
    }

    init(_ path: String) throws(CodecError) {
        // Without waiting: a named pipe must not hold up whoever opens it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(reason: systemError(errno)) }
        var status = stat()
        let answer = unsafe fstat(descriptor, &status)
        let reason = systemError(errno)
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
                if received < 0 { failure = systemError(errno) }
                guard received > 0 else { break }
                count += received
            }
        }
        if let failure { throw .file(reason: failure) }
        return bytes
    }
}
