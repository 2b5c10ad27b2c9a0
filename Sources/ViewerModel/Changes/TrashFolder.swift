// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import Glibc

/// The folder into which a file is moved: the trash of the user, or that of the file's own file system.
///
/// - SeeAlso: The FreeDesktop.org Trash specification 1.0, "Trash directories".
struct TrashFolder {
    /// The absolute path.
    let path: String
    /// The folder to which the origins of files are relative; `nil` for the trash of the user.
    let top: String?

    /// Chooses the trash for a file.
    ///
    /// - Parameters:
    ///   - file: the absolute path of the file.
    ///   - home: the trash of the user.
    /// - Throws: ``FileFailure`` if the trash of the user cannot be created.
    init(for file: String, home: String) throws(FileFailure) {
        try makeFolder(home, mode: 0o700)
        let folder = Self.parent(file)
        guard let device = Self.device(folder), device != Self.device(home) else {
            (path, top) = (home, nil)
            return
        }
        var mountPoint = folder
        while mountPoint != "/", Self.device(Self.parent(mountPoint)) == device {
            mountPoint = Self.parent(mountPoint)
        }
        let prefix = mountPoint == "/" ? "" : mountPoint
        var status = stat()
        // An administrator may provide one folder for all users; it must be sticky, and no link.
        let isShared =
            unsafe lstat("\(prefix)/.Trash", &status) == 0
            && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0
        path = isShared ? "\(prefix)/.Trash/\(getuid())" : "\(prefix)/.Trash-\(getuid())"
        top = prefix
    }

    /// Returns the origin of a file as the trash records it.
    func origin(of file: String) -> String {
        top.map { String(file.dropFirst($0.count + 1)) } ?? file
    }

    private static func parent(_ path: String) -> String {
        let (folder, _) = splitFolder(path)
        return folder.isEmpty ? "/" : folder
    }

    private static func device(_ path: String) -> dev_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_dev : nil
    }
}
