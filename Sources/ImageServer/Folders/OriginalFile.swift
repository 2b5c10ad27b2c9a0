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

/// An original that is open for reading, so that what is sent is what was looked at, even when the
/// file is replaced meanwhile.
final class OriginalFile: Sendable {
    private let descriptor: Int32
    private let identity: FileIdentity

    /// Waits for the disk.
    ///
    /// - Throws: ``ServerError/notFound``, or ``ServerError/changedMeanwhile`` if the file is no
    ///   longer the one with this identity.
    init(_ identity: FileIdentity) throws(ServerError) {
        // The path is resolved; a link in its last place was put there since.
        descriptor = unsafe open(identity.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        self.identity = identity
        guard descriptor >= 0 else { throw .notFound }
        guard isCurrent else { throw .changedMeanwhile }
    }

    /// Whether the open file is the one with the identity, and was not written to since.
    private var isCurrent: Bool {
        guard let status = FileStatus(ofOpenFile: descriptor) else { return false }
        return status.kind == .file && status.inode == identity.inode
            && status.byteCount == identity.byteCount
            && status.modificationTime == identity.modificationTime
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The bytes of a part of the file, read on threads of their own as the client takes them.
    ///
    /// - Parameters:
    ///   - range: the part.
    ///   - stream: the number of bytes to read at a time.
    ///   - channel: where they are sent; each piece is read when the one before has been sent.
    /// - Returns: a body of known length.
    func body(
        _ range: Range<Int>, _ stream: OutgoingBytes.Stream, over channel: (any Channel)?
    ) -> ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            var rest = range
            while !rest.isEmpty {
                try Task.checkCancellation()
                let chunk = rest.prefix(stream.pieceByteCount)
                let bytes = try await NIOThreadPool.singleton.runIfActive { self.read(chunk) }
                // The length was promised, so a file that was written to ends the connection: no
                // client takes parts of two versions for one.
                guard bytes.readableBytes > 0 else { throw ServerError.changedMeanwhile }
                rest = rest.dropFirst(bytes.readableBytes)
                try await writer.write(bytes)
                try await channel?.untilSent()
            }
            try await writer.finish(nil)
        }
    }

    /// Fewer bytes than the range has if the file ends before; none if reading fails or the file was
    /// written to.
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
