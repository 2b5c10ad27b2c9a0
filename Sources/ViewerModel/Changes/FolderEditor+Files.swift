// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageCommands
internal import Glibc

extension FolderEditor {
    /// Renames a file, but never replaces one, which `rename` would.
    func move(_ path: String, to newPath: String) throws(FileFailure) {
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

    func contents(of path: String) throws(FileFailure) -> [UInt8]? {
        guard unsafe access(path, F_OK) == 0 else { return nil }
        do throws(CodecError) {
            return try EncodedBytes(reading: path).withBytes { bytes in
                bytes.indices.map { bytes[$0] }
            }
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// Returns the contents of a file, which must exist.
    func existingContents(of path: String) throws(FileFailure) -> [UInt8] {
        guard let file = try contents(of: path) else { throw FileFailure(path, "no such file") }
        return file
    }

    /// Returns the permissions of a file.
    func mode(of path: String) throws(FileFailure) -> mode_t {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw FileFailure(path, lastSystemError()) }
        return status.st_mode & 0o777
    }

    /// Writes a file; of a link, the file to which it refers.
    func write(_ file: [UInt8], to path: String) throws(FileFailure) {
        let target = unsafe realpath(path, nil)
        defer { unsafe free(target) }
        do throws(CodecError) {
            try ImageDestination.write(
                file, to: unsafe target.map { unsafe String(cString: $0) } ?? path)
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// Creates a file; one that exists is never replaced.
    func create(_ path: String, _ bytes: [UInt8], mode: mode_t) throws(FileFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileFailure(path, lastSystemError()) }
        let failure = writeAll(bytes, to: descriptor)
        close(descriptor)
        if let failure {
            unsafe unlink(path)
            throw FileFailure(path, failure)
        }
    }

    func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    func remove(_ path: String) throws(FileFailure) {
        if unsafe unlink(path) != 0 { throw FileFailure(path, lastSystemError()) }
    }
}

/// Renames a file; the method of the editor hides the function of the system.
private func renameFile(_ path: String, _ newPath: String) -> Bool {
    unsafe rename(path, newPath) == 0
}
