// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
package import ImageCommands
internal import Glibc

/// Changes the files of a folder, and reverts the changes in reverse order.
///
/// Undo restores the names and the bytes of all files of a command, but never replaces what another
/// program has written since.
package struct FolderEditor: Sendable {
    /// A change that can be reverted.
    private enum Change: Sendable {
        case trash(path: String, info: String, trashPath: String)
        case rename(path: String, newPath: String)
        /// A file that was written, with the checksum of what was written; `nil` to revert it if it did
        /// not exist.
        case write(path: String, reverse: FileEdit?, checksum: [UInt8])
        /// A folder that was created.
        case folder(path: String)
    }

    private let trashFolder: String
    private let now: @Sendable () -> Int
    /// The changes of each command, in order.
    private var steps: [[Change]] = []

    /// Creates an editor.
    ///
    /// - Parameters:
    ///   - trashFolder: the absolute path of the trash, usually `~/.local/share/Trash`.
    ///   - now: the current time in seconds since 1970.
    package init(trashFolder: String, now: @escaping @Sendable () -> Int = { time(nil) }) {
        self.trashFolder = trashFolder
        self.now = now
    }

    /// Moves images and their sidecars to the trash: that of the user, or of their file system.
    ///
    /// - Throws: ``FileFailure`` with the error of the system. All files then stay.
    /// - SeeAlso: The FreeDesktop.org Trash specification.
    package mutating func trash(_ images: [String]) throws(FileFailure) {
        try change(images) { editor, file throws(FileFailure) in try editor.moveToTrash(file) }
    }

    /// Renames an image and its sidecar; a file that exists is never replaced.
    ///
    /// - Throws: ``FileFailure``; the files then stay.
    package mutating func rename(_ image: String, to newImage: String) throws(FileFailure) {
        try change([image]) { editor, file throws(FileFailure) in
            let newPath = newImage + file.dropFirst(image.count)
            try editor.move(file, to: newPath)
            return .rename(path: file, newPath: newPath)
        }
    }

    /// Moves an image and its sidecar into a folder, which is created if it does not exist.
    ///
    /// - Throws: ``FileFailure``; the files then stay.
    package mutating func move(_ image: String, into folder: String) throws(FileFailure) {
        let created = try makeMissingFolder(folder)
        try change([image], after: created) { editor, file throws(FileFailure) in
            let newPath = "\(folder)/\(splitFolder(file).file)"
            try editor.move(file, to: newPath)
            return .rename(path: file, newPath: newPath)
        }
    }

    /// Copies an image and its sidecar into a folder, which is created if it does not exist; a file
    /// that exists is never replaced.
    ///
    /// - Throws: ``FileFailure``; nothing is then copied.
    package mutating func copy(_ image: String, into folder: String) throws(FileFailure) {
        let created = try makeMissingFolder(folder)
        try change([image], after: created) { editor, file throws(FileFailure) in
            let newPath = "\(folder)/\(splitFolder(file).file)"
            let bytes = try editor.existingContents(of: file)
            try editor.create(newPath, bytes, mode: try editor.mode(of: file))
            return .write(
                path: newPath, reverse: nil, checksum: ImageIndex.checksum(bytes.span))
        }
    }

    /// Turns a JPEG file by a quarter, without decoding it.
    ///
    /// - Throws: ``FileFailure``, also for other formats.
    package mutating func turn(_ path: String, clockwise: Bool) throws(FileFailure) {
        let file = try existingContents(of: path)
        guard let edit = JPEGOrientation.turning(file, clockwise: clockwise) else {
            throw FileFailure(path, "only JPEG files can be turned without loss")
        }
        steps.append([try write(edit.applied(to: file), to: path, reverse: edit.reverse(in: file))])
    }

    /// Writes the rating into the sidecar of an image.
    ///
    /// - Parameters:
    ///   - image: the path of the image.
    ///   - rating: from −1, rejected, to 5.
    /// - Throws: ``FileFailure``.
    package mutating func rate(_ image: String, _ rating: Int) throws(FileFailure) {
        let path = XMPSidecar.path(of: image)
        let previous = try contents(of: path)
        guard let file = XMPSidecar.setting(rating, in: previous) else {
            throw FileFailure(path, "no RDF description; the rating is not stored")
        }
        let reverse = previous.map { FileEdit(range: file.indices, bytes: $0) }
        steps.append([try write(file, to: path, reverse: reverse)])
    }

    /// Returns the rating in the sidecar of an image; `nil` if there is none.
    package func rating(of image: String) -> Int? {
        (try? contents(of: XMPSidecar.path(of: image)))?.flatMap(XMPSidecar.rating)
    }

    /// Reverts the last command that was not reverted, with all of its files.
    ///
    /// - Returns: the paths of the files that were restored or removed, in the order of the command;
    ///   `nil` if no command is left.
    /// - Throws: ``FileFailure``. If another program has changed or deleted one of the files, none of
    ///   them is restored, and the next call reverts the command before. After an error of the system,
    ///   it continues with the files that are left.
    package mutating func undo() throws(FileFailure) -> [String]? {
        guard let step = steps.popLast() else { return nil }
        for change in step { try check(change) }
        var restored: [String] = []
        for (index, change) in step.enumerated().reversed() {
            do throws(FileFailure) {
                restored += try revert(change)
            } catch {
                steps.append(Array(step[...index]))
                throw error
            }
        }
        return restored.reversed()
    }

    /// Throws unless a file is as the change left it.
    private func check(_ change: Change) throws(FileFailure) {
        switch change {
        case .trash(let path, _, let newPath), .rename(let path, let newPath):
            guard exists(newPath) else {
                throw FileFailure(path, "not restored: another program removed \(newPath)")
            }
        case .write(let path, _, let checksum):
            guard let file = try contents(of: path), ImageIndex.checksum(file.span) == checksum
            else { throw FileFailure(path, "not restored: another program changed the file") }
        case .folder: break
        }
    }

    /// Reverts a change; returns the paths that it restored or removed, in reverse order.
    private func revert(_ change: Change) throws(FileFailure) -> [String] {
        switch change {
        case .trash(let path, let info, let trashPath):
            try move(trashPath, to: path)
            unsafe unlink(info)
            return [path]
        case .rename(let path, let newPath):
            try move(newPath, to: path)
            return [newPath, path]
        case .write(let path, let reverse, _):
            if let reverse {
                try write(reverse.applied(to: try existingContents(of: path)), to: path)
            } else {
                try remove(path)
            }
            return [path]
        case .folder(let path):
            // Files that other programs have added stay.
            unsafe _ = rmdir(path)
            return []
        }
    }

    /// Changes images and their sidecars; if one fails, all before are reverted.
    private mutating func change(
        _ images: [String], after first: [Change] = [],
        _ change: (FolderEditor, String) throws(FileFailure) -> Change
    ) throws(FileFailure) {
        var done = first
        do throws(FileFailure) {
            for image in images {
                done.append(try change(self, image))
                let sidecar = XMPSidecar.path(of: image)
                if exists(sidecar) { done.append(try change(self, sidecar)) }
            }
        } catch {
            for change in done.reversed() { _ = try? revert(change) }
            throw error
        }
        steps.append(done)
    }

    private func write(
        _ file: [UInt8], to path: String, reverse: FileEdit?
    ) throws(FileFailure) -> Change {
        try write(file, to: path)
        return .write(path: path, reverse: reverse, checksum: ImageIndex.checksum(file.span))
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
