// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
internal import Glibc

/// An original whose thumbnails are stored for file managers.
///
/// The file stays open during the lifetime of this value.
package struct ThumbnailedFile: ~Copyable {
    /// The URI by which thumbnails refer to the file.
    package let uri: FileURI
    /// The time of its last modification, in whole seconds since 1970.
    package let modificationSeconds: Int
    /// Its size in bytes.
    package let byteCount: Int
    private let descriptor: Int32

    /// Opens a regular file.
    ///
    /// - Throws: ``CodecError/file(reason:)``.
    package init(_ uri: FileURI) throws(CodecError) {
        // O_NONBLOCK: opening a named pipe must not block the caller.
        let path = uri.path.map(CChar.init(bitPattern:)) + [0]
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(reason: lastSystemError()) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let reason = lastSystemError()
            close(descriptor)
            throw .file(reason: reason)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .file(reason: "not a regular file")
        }
        self.uri = uri
        modificationSeconds = status.st_mtim.tv_sec
        byteCount = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Opens the image.
    ///
    /// - Throws: ``CodecError``.
    package func source(_ codecs: CodecSet) throws(CodecError) -> ImageSource {
        // A path that is invalid UTF-8 is reached through the open file.
        let path = String(validating: uri.path, as: UTF8.self) ?? "/proc/self/fd/\(descriptor)"
        return try ImageSource(EncodedBytes(mapping: path), codecs: codecs)
    }

    /// The text chunks that identify the version of the file which a thumbnail shows.
    var identity: ThumbnailText {
        ThumbnailText([
            ("Thumb::URI", uri.text), ("Thumb::MTime", "\(modificationSeconds)"),
            ("Thumb::Size", "\(byteCount)"),
        ])
    }
}
