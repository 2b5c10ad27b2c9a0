// SPDX-License-Identifier: Apache-2.0

package import Pixels

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The bytes of a file, in memory or memory-mapped; copies share them.
///
/// Mapping makes it possible to read a header without the rest of the file. Another process may
/// truncate a mapped file or write to it meanwhile. This does not crash the program: missing bytes
/// read as zeros, and an ``ImageSource`` throws ``CodecError/fileChanged`` instead of returning a
/// result.
public struct EncodedBytes: Sendable {
    private enum Storage: Sendable {
        case array([UInt8])
        /// Not mapped while only the open file is needed.
        case file(OpenFile, MemoryMapping?)
    }

    private let storage: Storage

    /// The bytes of an array.
    public init(_ bytes: [UInt8]) { storage = .array(bytes) }

    /// Maps a file into memory.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - limits: the limit on the file's size.
    /// - Throws: ``CodecError/file(reason:)`` with the reason of the system, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)``.
    public init(
        mapping path: String, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        self = try EncodedBytes(opening: path, limits: limits).mapped()
    }

    /// Opens a file for another process, without mapping or reading it.
    ///
    /// - Throws: as ``init(mapping:limits:)``.
    package init(
        opening path: String, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let file = try OpenFile(path)
        try limits.check(.byteCount, file.byteCount)
        storage = file.byteCount == 0 ? .array([]) : .file(file, nil)
    }

    /// Reads a file, or its first bytes, into memory.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - maximumByteCount: the maximum number of bytes to read, such as those of a header.
    ///   - limits: the limit on the file's size.
    /// - Throws: ``CodecError/file(reason:)``, ``CodecError/fileChanged``, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)`` before memory is allocated.
    public init(
        reading path: String, first maximumByteCount: Int = .max,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let file = try OpenFile(path)
        try limits.check(.byteCount, file.byteCount)
        storage = .array(try file.contents(min(file.byteCount, maximumByteCount)))
    }

    /// The first bytes of an open file.
    ///
    /// - Parameters:
    ///   - descriptor: the file descriptor; it is closed with the last copy of these bytes.
    ///   - byteCount: the number of bytes; the file must have as many.
    ///   - isMapped: whether this process reads them, instead of only passing them on.
    /// - Throws: ``CodecError/file(reason:)`` with the reason of the system.
    package init(
        descriptor: Int32, byteCount: Int, isMapped: Bool = true
    ) throws(CodecError) {
        let file = OpenFile(descriptor: descriptor, byteCount: byteCount)
        storage =
            byteCount == 0 ? .array([]) : isMapped ? try Self.mapped(file) : .file(file, nil)
    }

    private init(_ storage: Storage) { self.storage = storage }

    private static func mapped(_ file: OpenFile) throws(CodecError) -> Storage {
        if let mapping = MemoryMapping(
            file.descriptor, byteCount: file.byteCount, isGuarded: true)
        {
            return .file(file, mapping)
        }
        // Without the guard, another process could crash this one.
        guard errno == ENOTSUP else { throw .file(reason: systemError(errno)) }
        return .array(try file.contents(file.byteCount))
    }

    /// Returns the same bytes, mapped if their file is only open.
    func mapped() throws(CodecError) -> EncodedBytes {
        guard case .file(let file, nil) = storage else { return self }
        return EncodedBytes(try Self.mapped(file))
    }

    /// The number of bytes.
    public var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .file(let file, _): file.byteCount
        }
    }

    /// The descriptor of the open file, valid as long as the bytes exist; `nil` in memory.
    package var descriptor: Int32? {
        switch storage {
        case .array: nil
        case .file(let file, _): file.descriptor
        }
    }

    /// Checks that the file has not been changed, truncated or unreadable since it was opened.
    ///
    /// The caller checks after it has used the bytes, and discards the result if this throws. Makes
    /// one system call.
    ///
    /// - Throws: ``CodecError/fileChanged``.
    package func checkUnchanged() throws(CodecError) {
        guard case .file(let file, let mapping) = storage else { return }
        guard mapping?.wasTruncated != true, file.isUnchanged else { throw .fileChanged }
    }

    /// Whether bytes of a mapped file were missing when they were read, and read as zeros.
    ///
    /// Makes no system call; ``checkUnchanged()`` detects all changes.
    package var wasTruncated: Bool {
        guard case .file(_, let mapping?) = storage else { return false }
        return mapping.wasTruncated
    }

    /// Calls `body`, then ``checkUnchanged()``, even if `body` throws.
    func whileUnchanged<Result>(
        _ body: () throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        let result: Result
        do throws(CodecError) {
            result = try body()
        } catch {
            try checkUnchanged()
            throw error
        }
        try checkUnchanged()
        return result
    }

    /// Reads a range of a mapped file, so that the first accesses take no longer than later ones.
    package func readAhead(_ bytes: Range<Int>) {
        if case .file(_, let mapping) = storage { mapping?.readAhead(bytes) }
    }

    /// Releases the memory of a range of a mapped file until it is read again.
    func release(_ bytes: Range<Int>) {
        if case .file(_, let mapping) = storage { mapping?.release(bytes) }
    }

    /// Calls `body` with all bytes.
    ///
    /// Reads the whole file if it is open but not mapped.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .array(let bytes): try body(bytes.span)
        case .file(_, let mapping?): try mapping.withBytes(body)
        case .file(let file, nil): try body(file.bytes(in: 0..<file.byteCount).span)
        }
    }

    /// Returns the pixels that are stored at an offset in the shape of `PixelBuffer`.
    ///
    /// Those of a mapped file are not copied; see ``checkUnchanged()``.
    ///
    /// - Parameters:
    ///   - offset: the offset of the first plane, a multiple of `PixelBuffer/rowAlignment`.
    ///   - size: the size in pixels.
    ///   - format: the format of the bytes, in sRGB.
    /// - Returns: `nil` unless all planes lie in the bytes.
    package func pixels(
        at offset: Int, size: PixelSize, format: PixelFormat
    ) -> PixelBuffer? {
        if case .file(_, let mapping?) = storage {
            return PixelBuffer(
                in: mapping, at: offset, size: size, format: format, colorProfile: .sRGB)
        }
        let byteCount = PixelBuffer.byteCount(of: size, format)
        guard !size.isEmpty, offset >= 0, byteCount <= count, offset <= count - byteCount else {
            return nil
        }
        var buffer = MutablePixelBuffer(size: size, format: format)
        var pixels = buffer.bytes
        pixels.copy(copy(of: offset..<offset + byteCount).span, at: 0)
        return buffer.finish()
    }

    /// Returns a copy of a range; reads nothing else of a file that is not mapped.
    ///
    /// - Parameter range: a range within the bytes.
    /// - Returns: the bytes, with zeros after the end of a truncated file.
    package func copy(of range: Range<Int>) -> [UInt8] {
        if case .file(let file, nil) = storage { return file.bytes(in: range) }
        return withBytes { bytes in range.map { bytes[$0] } }
    }

    /// Calls `body` with consecutive pieces of all bytes; equal bytes have equal pieces.
    package func forEachPiece(_ body: (Span<UInt8>) -> Void) {
        for start in stride(from: 0, to: count, by: Self.pieceByteCount) {
            let range = start..<min(start + Self.pieceByteCount, count)
            if case .file(let file, nil) = storage {
                body(file.bytes(in: range).span)
            } else {
                withBytes { body($0.extracting(range)) }
            }
        }
    }

    private static let pieceByteCount = 1 << 20
}
