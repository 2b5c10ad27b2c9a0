// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import HummingbirdCore
internal import ImageLoading
internal import NIOCore
internal import NIOPosix

/// An open original; the bytes sent are those of its identity even if the file is replaced.
final class OriginalFile: Sendable {
    private let descriptor: Int32
    private let identity: FileIdentity

    /// Opens the file; blocks on the disk.
    ///
    /// - Throws: ``ServerError/notFound``, or ``ServerError/originalChanged`` if the file has another
    ///   identity.
    init(_ identity: FileIdentity) throws(ServerError) {
        // The path is resolved; a link as its last component was created since.
        descriptor = unsafe open(identity.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        self.identity = identity
        guard descriptor >= 0 else { throw .notFound }
        guard isCurrent else { throw .originalChanged }
    }

    /// Whether the open file still has the identity.
    private var isCurrent: Bool {
        guard let status = FileStatus(ofOpenFile: descriptor) else { return false }
        return status.kind == .file && status.inode == identity.inode
            && status.byteCount == identity.byteCount
            && status.modificationTime == identity.modificationTime
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns a body that reads a range of the file on the thread pool as the client takes it.
    ///
    /// - Parameters:
    ///   - range: the range of bytes.
    ///   - stream: determines the number of bytes to read at once.
    ///   - channel: the connection; each piece is read after the previous one has been sent.
    /// - Returns: a body of known length.
    func body(
        _ range: Range<Int>, _ stream: OutgoingBytes.Stream, over channel: (any Channel)?
    ) -> ResponseBody {
        pieceByPiece(
            Pieces(file: self, stream: stream, rest: range), byteCount: range.count, over: channel)
    }

    /// The pieces of a range of the file.
    private struct Pieces: AsyncIteratorProtocol, Sendable {
        let file: OriginalFile
        let stream: OutgoingBytes.Stream
        var rest: Range<Int>

        mutating func next() async throws -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            let bytes = try await file.piece(of: rest, stream)
            rest = rest.dropFirst(bytes.readableBytes)
            return bytes
        }
    }

    /// Reads the start of a range on the thread pool.
    ///
    /// - Parameters:
    ///   - range: the range of bytes; not empty.
    ///   - stream: determines the number of bytes to read at once.
    /// - Returns: at least one byte.
    /// - Throws: ``ServerError/originalChanged``. The length of the response has been sent, so that a changed
    ///   file must end the connection: the client must not combine parts of two versions.
    func piece(of range: Range<Int>, _ stream: OutgoingBytes.Stream) async throws -> ByteBuffer {
        let chunk = range.prefix(stream.pieceByteCount)
        let bytes = try await NIOThreadPool.singleton.runIfActive { self.read(chunk) }
        guard bytes.readableBytes > 0 else { throw ServerError.originalChanged }
        return bytes
    }

    /// Reads a range: fewer bytes at the end of the file, none if reading fails or the file changed.
    private func read(_ range: Range<Int>) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: range.count)
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) { bytes in
            while true {
                let count = unsafe pread(
                    descriptor, bytes.baseAddress, range.count, off_t(range.lowerBound))
                if count < 0 && errno == EINTR { continue }
                return isCurrent ? max(0, count) : 0
            }
        }
        return buffer
    }
}
