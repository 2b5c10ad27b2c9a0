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
/// at a header without reading the rest. Another process may cut a mapped file short or write to it
/// meanwhile. That does not end the program: bytes that are gone read as zeros, and an
/// ``ImageSource`` throws ``CodecError/fileChanged`` instead of returning what it made of them.
public struct EncodedBytes: Sendable {
    private enum Storage: Sendable {
        case array([UInt8])
        /// Not mapped as long as only the open file is needed.
        case file(OpenFile, MemoryMapping?)
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
        self = try EncodedBytes(opening: path, limits: limits).mapped()
    }

    /// Opens a file that is to be handed to another process, and neither maps nor reads it.
    ///
    /// - Throws: as ``init(mapping:limits:)``.
    package init(
        opening path: String, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let file = try OpenFile(path)
        try limits.check(.byteCount, file.byteCount)
        storage = file.byteCount == 0 ? .array([]) : .file(file, nil)
    }

    /// Reads a file into memory, the whole of it or its start.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - maximumByteCount: the bytes that are enough, such as those of a header.
    ///   - limits: what the file may ask for.
    /// - Throws: ``CodecError/file(reason:)``, ``CodecError/fileChanged``, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)`` before memory is taken.
    public init(
        reading path: String, first maximumByteCount: Int = .max,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let file = try OpenFile(path)
        try limits.check(.byteCount, file.byteCount)
        storage = .array(try file.contents(min(file.byteCount, maximumByteCount)))
    }

    /// The bytes of a file that is open already.
    ///
    /// - Parameters:
    ///   - descriptor: the file; it is closed with the last copy of these bytes.
    ///   - byteCount: how many bytes from its start; it must have as many.
    ///   - isMapped: whether this process looks at them, and does not only hand them on.
    /// - Throws: ``CodecError/file(reason:)`` with the system's reason.
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
        // Without the guard, another process could end this one.
        guard errno == ENOTSUP else { throw .file(reason: systemError(errno)) }
        return .array(try file.contents(file.byteCount))
    }

    /// The same bytes, mapped if they are those of a file that was only opened.
    func mapped() throws(CodecError) -> EncodedBytes {
        guard case .file(let file, nil) = storage else { return self }
        return EncodedBytes(try Self.mapped(file))
    }

    public var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .file(let file, _): file.byteCount
        }
    }

    /// The open file that they are those of, for as long as they exist; `nil` if they are in memory.
    package var descriptor: Int32? {
        switch storage {
        case .array: nil
        case .file(let file, _): file.descriptor
        }
    }

    /// Throws if the file was written to, cut short or could not be read since it was opened.
    ///
    /// Called after the bytes were used: what was made of them is worthless then. Costs one call of
    /// the system.
    ///
    /// - Throws: ``CodecError/fileChanged``.
    package func checkUnchanged() throws(CodecError) {
        guard case .file(let file, let mapping) = storage else { return }
        guard mapping?.wasCutShort != true, file.isUnchanged else { throw .fileChanged }
    }

    /// Calls `body`, and ``checkUnchanged()`` whether it throws or not.
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

    /// Gives the memory of some bytes back until they are looked at again, where they are those of a
    /// file.
    func release(_ bytes: Range<Int>) {
        if case .file(_, let mapping) = storage { mapping?.release(bytes) }
    }

    /// Calls `body` with all bytes.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .array(let bytes): try body(bytes.span)
        case .file(_, let mapping?): try mapping.withBytes(body)
        case .file(let file, nil): try body(file.bytes(in: 0..<file.byteCount).span)
        }
    }

    /// A copy of some bytes; of a file that is not mapped no others are read.
    ///
    /// - Parameter range: must be within the bytes.
    /// - Returns: zeros where the file has become shorter.
    package func copy(of range: Range<Int>) -> [UInt8] {
        if case .file(let file, nil) = storage { return file.bytes(in: range) }
        return withBytes { bytes in range.map { bytes[$0] } }
    }

    /// Calls `body` with all bytes, some of them at a time, always divided in the same way.
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
