// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
package import ImageCommands
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Changes the files of a folder, and reverts the changes in reverse order.
///
/// Undo restores the names and the bytes of all files.
package struct FolderEditor: Sendable {
    /// A change that can be reverted.
    private enum Change: Sendable {
        case trash(path: String, trashName: String)
        case rename(path: String, newPath: String)
        /// A file that was written; `nil` if it did not exist.
        case write(path: String, previous: [UInt8]?)
    }

    private let trashFolder: String
    private let now: @Sendable () -> Int
    private var changes: [Change] = []

    /// Creates an editor.
    ///
    /// - Parameters:
    ///   - trashFolder: the absolute path of the trash, usually `~/.local/share/Trash`.
    ///   - now: the current time in seconds since 1970.
    package init(trashFolder: String, now: @escaping @Sendable () -> Int = { time(nil) }) {
        self.trashFolder = trashFolder
        self.now = now
    }

    /// Whether a change can be reverted.
    package var canUndo: Bool { !changes.isEmpty }

    /// Moves a file to the trash.
    ///
    /// - Throws: ``FileFailure`` with the error of the system, such as for a file of another file system
    ///   than the trash. The file then stays.
    /// - SeeAlso: The FreeDesktop.org Trash specification.
    package mutating func trash(_ path: String) throws(FileFailure) {
        guard let uri = FileURI(path) else { throw FileFailure(path, "not a local file") }
        try makeFolder("\(trashFolder)/files", mode: 0o700)
        try makeFolder("\(trashFolder)/info", mode: 0o700)
        let text = """
            [Trash Info]
            Path=\(uri.text.dropFirst("file://".count))
            DeletionDate=\(date())

            """
        let trashName = try reserveName(for: path, text)
        do throws(FileFailure) {
            try move(path, to: "\(trashFolder)/files/\(trashName)")
        } catch {
            unsafe unlink(infoPath(trashName))
            throw error
        }
        changes.append(.trash(path: path, trashName: trashName))
    }

    /// Renames a file; one that exists is never replaced.
    ///
    /// - Throws: ``FileFailure``.
    package mutating func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try move(path, to: newPath)
        changes.append(.rename(path: path, newPath: newPath))
    }

    /// Writes the rating into the sidecar of an image.
    ///
    /// - Parameters:
    ///   - image: the path of the image.
    ///   - rating: from −1, rejected, to 5.
    /// - Throws: ``FileFailure``.
    package mutating func rate(_ image: String, _ rating: Int) throws(FileFailure) {
        let path = Sidecar.path(of: image)
        let previous = try contents(of: path)
        guard let file = Sidecar.setting(rating, in: previous) else {
            throw FileFailure(path, "no RDF description; the rating is not stored")
        }
        try write(file, to: path)
        changes.append(.write(path: path, previous: previous))
    }

    /// Reverts the last change that was not reverted.
    ///
    /// - Returns: the path of the file that was restored; `nil` if no change is left.
    /// - Throws: ``FileFailure``; the change then stays the last one.
    package mutating func undo() throws(FileFailure) -> String? {
        guard let change = changes.last else { return nil }
        let restored: String
        switch change {
        case .trash(let path, let trashName):
            try move("\(trashFolder)/files/\(trashName)", to: path)
            unsafe unlink(infoPath(trashName))
            restored = path
        case .rename(let path, let newPath):
            try move(newPath, to: path)
            restored = path
        case .write(let path, let previous):
            if let previous {
                try write(previous, to: path)
            } else if unsafe unlink(path) != 0 {
                throw FileFailure(path, lastSystemError())
            }
            restored = path
        }
        changes.removeLast()
        return restored
    }

    private func infoPath(_ trashName: String) -> String {
        "\(trashFolder)/info/\(trashName).trashinfo"
    }

    /// Creates the information about a file under a name that the trash does not contain.
    private func reserveName(for path: String, _ text: String) throws(FileFailure) -> String {
        let name =
            path.utf8.lastIndex(of: UInt8(ascii: "/"))
            .map { String(path[path.utf8.index(after: $0)...]) } ?? path
        for number in 1...10_000 {
            let candidate = number == 1 ? name : "\(name).\(number)"
            let info = infoPath(candidate)
            let descriptor = unsafe open(info, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor < 0, errno == EEXIST { continue }
            guard descriptor >= 0 else { throw FileFailure(info, lastSystemError()) }
            let failure = writeAll(Array(text.utf8), to: descriptor)
            close(descriptor)
            if let failure { throw FileFailure(info, failure) }
            return candidate
        }
        throw FileFailure(path, "the trash contains 10,000 files of this name; empty it")
    }

    /// Renames a file, but never replaces one, which `rename` would.
    private func move(_ path: String, to newPath: String) throws(FileFailure) {
        if unsafe link(path, newPath) == 0 {
            if unsafe unlink(path) == 0 { return }
            let failure = FileFailure(path, lastSystemError())
            unsafe unlink(newPath)
            throw failure
        }
        // File systems of cameras have no hard links.
        let hasNoLinks = errno == EPERM || errno == EOPNOTSUPP
        guard hasNoLinks, unsafe access(newPath, F_OK) != 0, renameFile(path, newPath)
        else { throw FileFailure(path, lastSystemError()) }
    }

    private func contents(of path: String) throws(FileFailure) -> [UInt8]? {
        guard unsafe access(path, F_OK) == 0 else { return nil }
        do throws(CodecError) {
            return try EncodedBytes(reading: path).withBytes { bytes in
                bytes.indices.map { bytes[$0] }
            }
        } catch {
            throw FileFailure(path, error)
        }
    }

    private func write(_ file: [UInt8], to path: String) throws(FileFailure) {
        do throws(CodecError) {
            try ImageDestination.write(file, to: path)
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// The local time as `YYYY-MM-DDThh:mm:ss`.
    private func date() -> String {
        var seconds = now()
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Renames a file; the method of the editor hides the function of the system.
private func renameFile(_ path: String, _ newPath: String) -> Bool {
    unsafe rename(path, newPath) == 0
}
