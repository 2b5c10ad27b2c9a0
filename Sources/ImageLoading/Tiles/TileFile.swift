// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import LoadScheduling
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file with the tiles of a pyramid, read in place.
///
/// Layout, all numbers of 8 bytes, little-endian: the tiles; an entry for each tile with level,
/// column, row, offset, byte count and checksum; the key in UTF-8; if pixels are missing, a zero byte and
/// the reason in UTF-8; the offset of the first entry, the number of entries, the checksum of entries
/// and text, and a signature.
final class TileFile: StoredTiles {
    static let entryByteCount = 48
    static let footerByteCount = 32
    /// The signature and version of the layout: `calotil1`.
    static let signature: UInt64 = 0x316C_6974_6F6C_6163

    private struct Entry {
        let offset: Int
        let byteCount: Int
        let checksum: UInt64
    }

    private let descriptor: Int32
    private let entries: [TileAddress: Entry]
    let problem: String?

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - key: the key for which the file must have been written.
    /// - Throws: `LoadError.storeFailed(reason:)` if the file does not exist, is damaged or has
    ///   another key.
    convenience init(_ path: String, key: String) throws(LoadError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .storeFailed(reason: "\(path): \(systemError(errno))")
        }
        guard let (entries, problem) = Self.index(descriptor, key: key) else {
            close(descriptor)
            throw .storeFailed(reason: "\(path): incomplete or damaged tile file")
        }
        self.init(descriptor, entries, problem)
    }

    private init(_ descriptor: Int32, _ entries: [TileAddress: Entry], _ problem: String?) {
        self.descriptor = descriptor
        self.entries = entries
        self.problem = problem
    }

    deinit { close(descriptor) }

    func file(of tile: TileAddress) -> [UInt8]? {
        guard let entry = entries[tile],
            let bytes = Self.read(descriptor, entry.offset, entry.byteCount),
            StableHash.checksum(bytes) == entry.checksum
        else { return nil }
        return bytes
    }

    private static func index(
        _ descriptor: Int32, key: String
    ) -> (entries: [TileAddress: Entry], problem: String?)? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        let end = Int(status.st_size) - footerByteCount
        guard end >= 0, let footer = read(descriptor, end, footerByteCount) else { return nil }
        let (offset, count) = (footer.number(0), footer.number(8))
        guard footer.number(24) == signature, offset <= end, count <= end / entryByteCount,
            let index = read(descriptor, Int(offset), end - Int(offset)),
            StableHash.checksum(index) == footer.number(16),
            Int(count) * entryByteCount <= index.count
        else { return nil }
        // A key contains a path, which has no zero bytes.
        let text = index[(Int(count) * entryByteCount)...].split(
            separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard text[0].elementsEqual(key.utf8) else { return nil }
        var entries: [TileAddress: Entry] = [:]
        for number in 0..<Int(count) {
            let values = (0..<6).map { index.number(number * entryByteCount + $0 * 8) }
            guard values[3] <= offset, values[4] <= offset - values[3],
                values[..<3].allSatisfy({ $0 < 1 << 32 })
            else { return nil }
            let tile = TileAddress(level: Int(values[0]), x: Int(values[1]), y: Int(values[2]))
            entries[tile] = Entry(
                offset: Int(values[3]), byteCount: Int(values[4]), checksum: values[5])
        }
        return (entries, text.count > 1 ? String(decoding: text[1], as: UTF8.self) : nil)
    }

    private static func read(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let start = unsafe buffer.baseAddress?.advanced(by: filled)
                let received = unsafe pread(descriptor, start, count - filled, offset + filled)
                if received < 0 && errno == EINTR { continue }
                guard received > 0 else { break }
                filled += received
            }
        }
        return bytes.count == count ? bytes : nil
    }
}

/// Writes a ``TileFile`` under a temporary name and renames it at the end.
final class TileFileWriter: TileWriter {
    /// The size of the write buffer, so that small tiles do not need a system call each.
    private static let bufferByteCount = 1 << 20

    private let path: String
    private let key: String
    private let temporaryPath: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var offset = 0
    private var index: [UInt8] = []
    private var isFinished = false

    init(_ path: String, key: String) throws(LoadError) {
        self.path = path
        self.key = key
        var status = stat()
        var (descriptor, name): (Int32, String)
        repeat {
            guard let file = makeTemporaryFile("\(path).part-") else {
                throw .storeFailed(reason: "\(path): \(systemError(errno))")
            }
            (descriptor, name) = file
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            // The lock marks the file as being written and ends with the process. Before it was
            // taken, another process may have removed the file as abandoned.
            _ = flock(descriptor, LOCK_EX)
            guard unsafe fstat(descriptor, &status) == 0 else { break }
            if status.st_nlink == 0 { close(descriptor) }
        } while status.st_nlink == 0
        self.descriptor = descriptor
        temporaryPath = name
    }

    deinit {
        if !isFinished { unsafe _ = unlink(temporaryPath) }
        close(descriptor)
    }

    /// Removes a temporary file that no process is writing.
    static func removeAbandoned(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unsafe _ = unlink(path) }
        close(descriptor)
    }

    func write(_ file: [UInt8], as tile: TileAddress) throws(LoadError) {
        for number in [
            UInt64(tile.level), UInt64(tile.x), UInt64(tile.y), UInt64(offset), UInt64(file.count),
            StableHash.checksum(file),
        ] {
            index.append(number: number)
        }
        try append(file)
    }

    func finish(problem: String?) throws(LoadError) -> any StoredTiles {
        let start = offset
        let count = index.count / TileFile.entryByteCount
        index += Array(key.utf8)
        if let problem { index += [0] + problem.utf8 }
        let checksum = StableHash.checksum(index)
        for number in [UInt64(start), UInt64(count), checksum, TileFile.signature] {
            index.append(number: number)
        }
        try append(index)
        try flush()
        guard fsync(descriptor) == 0, unsafe rename(temporaryPath, path) == 0 else {
            throw .storeFailed(reason: "\(path): \(systemError(errno))")
        }
        isFinished = true
        return try TileFile(path, key: key)
    }

    private func append(_ bytes: [UInt8]) throws(LoadError) {
        buffer += bytes
        offset += bytes.count
        if buffer.count >= Self.bufferByteCount { try flush() }
    }

    private func flush() throws(LoadError) {
        var written = 0
        while written < buffer.count {
            let count = unsafe buffer.withUnsafeBytes {
                unsafe Glibc.write(
                    descriptor, $0.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw .storeFailed(reason: "\(temporaryPath): \(systemError(errno))")
            }
            written += count
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

extension StableHash {
    fileprivate static func checksum(_ bytes: [UInt8]) -> UInt64 {
        var hash = StableHash()
        hash.combine(bytes.span)
        return hash.value
    }
}

extension [UInt8] {
    fileprivate func number(_ start: Int) -> UInt64 {
        (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(self[start + $1]) }
    }

    fileprivate mutating func append(number: UInt64) {
        for byte in 0..<8 { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
    }
}
