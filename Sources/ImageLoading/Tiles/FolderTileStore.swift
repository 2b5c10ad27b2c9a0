// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Keeps tiles on disk, each pyramid in a file of its own.
///
/// A file gets its name only once it is whole and on the disk, so whatever happens while it is
/// written, a pyramid is there or not. What was left over by a process that was killed goes when
/// the store is opened next. Several processes may use one folder.
public final class FolderTileStore: TileStore {
    private let directory: String

    /// - Parameter directory: where the files are; made, private to the user, if it is missing. The
    ///   one above it must exist.
    /// - Throws: ``LoadError/storeFailed(reason:)``.
    public init(directory: String) throws(LoadError) {
        self.directory = directory
        if unsafe mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw .storeFailed(reason: "\(directory): \(systemError(errno))")
        }
        for name in try Self.names(in: directory) where name.contains(".part-") {
            TileFileWriter.removeAbandoned("\(directory)/\(name)")
        }
    }

    public func tiles(for key: TileSetKey) -> (any StoredTiles)? {
        try? TileFile(path(of: key), key: key.text)
    }

    public func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter {
        try TileFileWriter(path(of: key), key: key.text)
    }

    public func removeTiles(for key: TileSetKey) { unsafe _ = unlink(path(of: key)) }

    private func path(of key: TileSetKey) -> String {
        var hash = StableHash()
        hash.combine(key.text)
        let digits = String(hash.value, radix: 16)
        return "\(directory)/\(String(repeating: "0", count: 16 - digits.count))\(digits).tiles"
    }

    private static func names(in directory: String) throws(LoadError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw .storeFailed(reason: "\(directory): \(systemError(errno))")
        }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                    unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
                        unsafe String(cString: $0)
                    }
                })
        }
        return names
    }
}

extension TileSetKey {
    /// All of it in one line, the same in every run.
    fileprivate var text: String {
        "\(pyramid.size) \(pyramid.tileSide) \(pyramid.levelCount) \(encoding) \(name)"
    }
}
