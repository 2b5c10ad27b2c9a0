// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
public import LoadScheduling
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A tile store on disk, with one file for each pyramid.
///
/// A file is renamed to its final name only when it is complete and synchronized, so that a crash
/// leaves a complete pyramid or none. Files left by killed processes are removed when the store is
/// opened. Several processes can use one folder.
public final class FolderTileStore: TileStore {
    private let directory: String
    private let byteLimit: Int

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - directory: the folder of the files; created with access for its owner only. Its parent
    ///     must exist.
    ///   - byteLimit: the maximum size of all files before another one is written; the least
    ///     recently used are evicted first.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    public init(directory: String, byteLimit: Int = .max) throws(LoadError) {
        self.directory = directory
        self.byteLimit = byteLimit
        if unsafe mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw .storeFailed(reason: "\(directory): \(systemError(errno))")
        }
        for name in try Self.names(in: directory) where name.contains(".part-") {
            TileFileWriter.removeAbandoned("\(directory)/\(name)")
        }
    }

    /// Opens the file of a pyramid, `nil` if it does not exist or is damaged.
    public func tiles(for key: TileSetKey) -> (any StoredTiles)? {
        let path = path(of: key)
        guard let file = try? TileFile(path, key: key.text) else { return nil }
        // Records the time of the last use.
        unsafe _ = utimensat(AT_FDCWD, path, nil, 0)
        return file
    }

    /// Evicts files beyond the limit and starts a new file.
    public func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter {
        makeRoom()
        return try TileFileWriter(path(of: key), key: key.text)
    }

    /// Removes the file of a pyramid.
    public func removeTiles(for key: TileSetKey) { unsafe _ = unlink(path(of: key)) }

    /// Evicts the least recently used files; readers keep theirs open.
    private func makeRoom() {
        guard byteLimit < .max, let names = try? Self.names(in: directory) else { return }
        var files: [(path: String, byteCount: Int, lastUse: Int)] = []
        for name in names where name.hasSuffix(".tiles") {
            var status = stat()
            guard unsafe stat("\(directory)/\(name)", &status) == 0 else { continue }
            let time = nanoseconds(
                seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            files.append(("\(directory)/\(name)", Int(status.st_size), time))
        }
        var byteCount = files.reduce(0) { $0 + $1.byteCount }
        for file in files.sorted(by: { $0.lastUse < $1.lastUse }) where byteCount > byteLimit {
            unsafe _ = unlink(file.path)
            byteCount -= file.byteCount
        }
    }

    private func path(of key: TileSetKey) -> String {
        var hash = StableHash()
        hash.combine(key.text)
        let digits = String(hash.value, radix: 16)
        return "\(directory)/\(String(repeating: "0", count: 16 - digits.count))\(digits).tiles"
    }

    private static func names(in directory: String) throws(LoadError) -> [String] {
        var names: [String] = []
        guard FolderEntry.forEach(in: directory, { names.append($0.name) }) else {
            throw .storeFailed(reason: "\(directory): \(systemError(errno))")
        }
        return names
    }
}

extension TileSetKey {
    /// The key in one line, the same in every run.
    fileprivate var text: String {
        "\(pyramid.size) \(pyramid.tileSide) \(pyramid.levelCount) \(encoding) \(name)"
    }
}
