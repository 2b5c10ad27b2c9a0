// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file that is open for reading, closed with its last reference.
final class OpenFile: Sendable {
    let descriptor: Int32
    let byteCount: Int
    /// `nil` for a file that is immutable, or that the host of this process checks.
    private let stamp: FileStamp?

    /// Takes ownership of an open descriptor.
    init(descriptor: Int32, byteCount: Int) {
        self.descriptor = descriptor
        self.byteCount = byteCount
        stamp = nil
    }

    /// Opens a regular file.
    ///
    /// - Throws: ``CodecError/file(reason:)``.
    init(_ path: String) throws(CodecError) {
        // O_NONBLOCK: opening a named pipe must not block the caller.
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
        stamp = FileStamp(status)
    }

    deinit { close(descriptor) }

    /// Whether the status of the file shows no change since it was opened.
    var isUnchanged: Bool {
        guard let stamp else { return true }
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && stamp.isSameContent(as: FileStamp(status))
    }

    /// Reads the first `byteCount` bytes.
    ///
    /// - Throws: ``CodecError/file(reason:)``, ``CodecError/fileChanged``.
    func contents(_ byteCount: Int) throws(CodecError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            failure = unsafe read(buffer, 0, &count)
        }
        guard failure == 0 else { throw .file(reason: systemError(failure)) }
        guard bytes.count == byteCount, isUnchanged else { throw .fileChanged }
        return bytes
    }

    /// Reads a range; bytes that cannot be read are zeros.
    func bytes(in range: Range<Int>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            _ = unsafe read(buffer, range.lowerBound, &count)
            unsafe buffer[count...].initialize(repeating: 0)
            count = range.count
        }
    }

    /// Fills a buffer with the bytes from an offset on, up to the end of the file.
    ///
    /// - Returns: the error number of the system, or 0.
    @unsafe private func read(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, _ offset: Int, _ count: inout Int
    ) -> Int32 {
        while count < buffer.count {
            let start = unsafe buffer.baseAddress?.advanced(by: count)
            let received = unsafe pread(
                descriptor, start, buffer.count - count, off_t(offset + count))
            if received < 0 && errno == EINTR { continue }
            if received < 0 { return errno }
            guard received > 0 else { break }
            count += received
        }
        return 0
    }
}

/// The status of an open file, by which changes are detected.
private struct FileStamp {
    private let byteCount: Int
    private let modification: timespec
    private let change: timespec
    private let linkCount: UInt64

    init(_ status: stat) {
        byteCount = Int(status.st_size)
        #if canImport(Glibc)
        modification = status.st_mtim
        change = status.st_ctim
        #else
        modification = status.st_mtimespec
        change = status.st_ctimespec
        #endif
        linkCount = UInt64(status.st_nlink)
    }

    /// Compares the status.
    ///
    /// A process can reset the modification time, but not the change time of the inode. The latter
    /// also changes when another file replaces this one, which changes the number of links.
    func isSameContent(as other: FileStamp) -> Bool {
        byteCount == other.byteCount && Self.isEqual(modification, other.modification)
            && (Self.isEqual(change, other.change) || linkCount != other.linkCount)
    }

    private static func isEqual(_ one: timespec, _ other: timespec) -> Bool {
        one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
    }
}
