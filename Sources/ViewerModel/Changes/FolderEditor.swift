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
        case trash(path: String, info: String, trashPath: String)
        case rename(path: String, newPath: String)
        /// A file that was written; `nil` if it did not exist.
        case write(path: String, previous: [UInt8]?)
        /// Bytes of a file that were replaced.
        case edit(path: String, newRange: Range<Int>, previous: [UInt8])
        /// A file that was created.
        case create(path: String)
        /// A folder that was created.
        case folder(path: String)
        /// Changes of one command, in order.
        case group([Change])
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

    /// Moves an image and its sidecar to the trash: that of the user, or of their file system.
    ///
    /// - Throws: ``FileFailure`` with the error of the system. The files then stay.
    /// - SeeAlso: The FreeDesktop.org Trash specification.
    package mutating func trash(_ path: String) throws(FileFailure) {
        try changeGroup(path) { editor, file throws(FileFailure) in
            [try editor.moveToTrash(file)]
        }
    }

    /// Renames a file; one that exists is never replaced.
    ///
    /// - Throws: ``FileFailure``.
    package mutating func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try move(path, to: newPath)
        changes.append(.rename(path: path, newPath: newPath))
    }

    /// Moves an image and its sidecar into a folder, which is created if it does not exist.
    ///
    /// - Throws: ``FileFailure``; the files then stay.
    package mutating func move(_ path: String, into folder: String) throws(FileFailure) {
        let created = try makeMissingFolder(folder)
        try changeGroup(path, after: created) { editor, file throws(FileFailure) in
            let newPath = "\(folder)/\(splitFolder(file).file)"
            try editor.move(file, to: newPath)
            return [.rename(path: file, newPath: newPath)]
        }
    }

    /// Copies an image and its sidecar into a folder, which is created if it does not exist; a file
    /// that exists is never replaced.
    ///
    /// - Throws: ``FileFailure``.
    package mutating func copy(_ path: String, into folder: String) throws(FileFailure) {
        let created = try makeMissingFolder(folder)
        try changeGroup(path, after: created) { editor, file throws(FileFailure) in
            let newPath = "\(folder)/\(splitFolder(file).file)"
            try editor.create(newPath, try editor.contents(of: file) ?? [], mode: 0o666)
            return [.create(path: newPath)]
        }
    }

    /// Turns a JPEG file by a quarter, without decoding it.
    ///
    /// - Throws: ``FileFailure``, also for other formats.
    package mutating func turn(_ path: String, clockwise: Bool) throws(FileFailure) {
        guard var file = try contents(of: path) else {
            throw FileFailure(path, "no such file")
        }
        guard let edit = JPEGOrientation.turning(file, clockwise: clockwise) else {
            throw FileFailure(path, "only JPEG files can be turned without loss")
        }
        let previous = Array(file[edit.range])
        file.replaceSubrange(edit.range, with: edit.bytes)
        try write(file, to: path)
        let newRange = edit.range.lowerBound..<edit.range.lowerBound + edit.bytes.count
        changes.append(.edit(path: path, newRange: newRange, previous: previous))
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

    /// Returns the rating in the sidecar of an image; `nil` if there is none.
    package func rating(of image: String) -> Int? {
        (try? contents(of: Sidecar.path(of: image)))?.flatMap(Sidecar.rating)
    }

    /// Reverts the last change that was not reverted.
    ///
    /// - Returns: the path of the file that was restored; `nil` if no change is left.
    /// - Throws: ``FileFailure``; the change then stays the last one.
    package mutating func undo() throws(FileFailure) -> String? {
        guard let change = changes.last else { return nil }
        let restored = try revert(change)
        changes.removeLast()
        return restored
    }

    private func revert(_ change: Change) throws(FileFailure) -> String {
        switch change {
        case .trash(let path, let info, let trashPath):
            try move(trashPath, to: path)
            unsafe unlink(info)
            return path
        case .rename(let path, let newPath):
            try move(newPath, to: path)
            return path
        case .write(let path, let previous):
            if let previous { try write(previous, to: path) } else { try remove(path) }
            return path
        case .edit(let path, let newRange, let previous):
            guard var file = try contents(of: path), newRange.upperBound <= file.count else {
                throw FileFailure(path, "the file changed; it is not turned back")
            }
            file.replaceSubrange(newRange, with: previous)
            try write(file, to: path)
            return path
        case .create(let path):
            try remove(path)
            return path
        case .folder(let path):
            // Files that other programs have added stay.
            unsafe _ = rmdir(path)
            return path
        case .group(let changes):
            var restored = ""
            // The image is the first file.
            for change in changes.reversed() { restored = try revert(change) }
            if case .folder? = changes.first, changes.count > 1 { restored = path(changes[1]) }
            return restored
        }
    }

    private func path(_ change: Change) -> String {
        switch change {
        case .trash(let path, _, _), .rename(let path, _), .write(let path, _),
            .edit(let path, _, _), .create(let path), .folder(let path):
            path
        case .group(let changes): changes.first.map(path) ?? ""
        }
    }

    /// Changes an image and its sidecar, if there is one; if the second fails, the first is reverted.
    private mutating func changeGroup(
        _ image: String, after first: [Change] = [],
        _ change: (FolderEditor, String) throws(FileFailure) -> [Change]
    ) throws(FileFailure) {
        var done = first
        do throws(FileFailure) {
            done += try change(self, image)
            let sidecar = Sidecar.path(of: image)
            if unsafe access(sidecar, F_OK) == 0 { done += try change(self, sidecar) }
        } catch {
            for change in done.reversed() { _ = try? revert(change) }
            throw error
        }
        changes.append(.group(done))
    }

    private func moveToTrash(_ path: String) throws(FileFailure) -> Change {
        let trash = try TrashFolder(for: path, home: trashFolder)
        guard let uri = FileURI(Array(trash.origin(of: path).utf8), relativeTo: []) else {
            throw FileFailure(path, "not a local file")
        }
        try makeFolder("\(trash.path)/files", mode: 0o700)
        try makeFolder("\(trash.path)/info", mode: 0o700)
        let text = """
            [Trash Info]
            Path=\(uri.text.dropFirst(trash.top == nil ? "file://".count : "file:///".count))
            DeletionDate=\(date())

            """
        let name = splitFolder(path).file
        for number in 1...10_000 {
            let candidate = number == 1 ? name : "\(name).\(number)"
            let info = "\(trash.path)/info/\(candidate).trashinfo"
            if unsafe access(info, F_OK) == 0 { continue }
            try create(info, Array(text.utf8), mode: 0o600)
            let trashPath = "\(trash.path)/files/\(candidate)"
            do throws(FileFailure) {
                try move(path, to: trashPath)
            } catch {
                unsafe unlink(info)
                throw error
            }
            return .trash(path: path, info: info, trashPath: trashPath)
        }
        throw FileFailure(path, "the trash contains 10,000 files of this name; empty it")
    }

    /// Creates a folder unless it exists; returns the change.
    private func makeMissingFolder(_ path: String) throws(FileFailure) -> [Change] {
        if unsafe access(path, F_OK) == 0 { return [] }
        try makeFolder(path)
        return [.folder(path: path)]
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
