// SPDX-License-Identifier: Apache-2.0

internal import Archives
package import HTTPCaching
package import ImageCommands
internal import LoadScheduling
internal import Glibc

/// A folder that is opened, or an image with its folder.
package struct OpenedPath: Hashable, Sendable {
    /// The absolute path of the folder or the archive, or the URL of a folder on a server.
    package let folder: String
    /// The name of the image; `nil` if a folder is opened.
    package let file: String?
    /// The URI of the image or the folder.
    package let uri: String
    /// Where the images are stored.
    package let kind: FolderKind

    /// Reads a path, a `file:` URI or the URL of a Calotype server.
    ///
    /// A URL whose last name has an extension is that of an image, any other that of a folder. The URL of the
    /// gallery page, which contains the folder in its fragment, is accepted too.
    ///
    /// - Parameter argument: A URI, an absolute path, or a path relative to the working directory.
    /// - Throws: ``FileFailure`` if it is neither a local file nor a URL, or the file does not exist.
    package init(_ argument: String) throws(FileFailure) {
        if argument.hasPrefix("http://") || argument.hasPrefix("https://") {
            self = try Self.served(argument)
            return
        }
        guard let uri = FileURI(argument),
            let path = String(validating: uri.path, as: UTF8.self)
        else {
            throw FileFailure(argument, "not a local file with a name in UTF-8")
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw FileFailure(argument, lastSystemError())
        }
        let type = status.st_mode & S_IFMT
        if type == S_IFDIR {
            self.init(path, file: nil, uri.text, .files)
        } else if type == S_IFREG, ZIPReader.isArchive(path) {
            self.init(path, file: nil, uri.text, .archive)
        } else {
            let parts = splitFolder(path)
            self.init(parts.folder, file: parts.file, uri.text, .files)
        }
    }

    private init(_ folder: String, file: String?, _ uri: String, _ kind: FolderKind) {
        (self.folder, self.file, self.uri, self.kind) = (folder, file, uri, kind)
    }

    private static func served(_ argument: String) throws(FileFailure) -> OpenedPath {
        var text = argument
        // `https://host/#/house/1.jpg`: the page of the root at an image.
        if let mark = text.firstIndex(of: "#") {
            let fragment = text[text.index(after: mark)...].prefix { $0 != "?" }
            if fragment.hasPrefix("/") {
                text = String(text[..<mark].prefix { $0 != "?" })
                while text.hasSuffix("/") { text.removeLast() }
                text += fragment
            }
        }
        let url: HTTPURL
        do throws(LoadError) {
            url = try HTTPURL(text)
        } catch {
            throw FileFailure(argument, "\(error)".dropPrefix("\(text): "))
        }
        let path = url.path.prefix { $0 != "?" }
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        let last = String(names.last ?? "")
        let isImage = splitExtension(last).fileExtension != nil
        guard let name = last.percentDecoded, !isImage || isFileName(name) else {
            throw FileFailure(argument, "not the URL of an image")
        }
        let folders = (isImage ? names.dropLast() : names[...]).joined(separator: "/")
        let origin = "\(url.scheme.rawValue)://\(url.authority)"
        let folder = (origin + folders).dropSuffix("/")
        return OpenedPath(
            folder, file: isImage ? name : nil, isImage ? "\(folder)/\(last)" : "\(folder)/",
            .server)
    }

    /// Opens the folder.
    ///
    /// - Parameters:
    ///   - extensions: the file name extensions of images in lower case.
    ///   - transport: sends requests to servers.
    /// - Returns: the folder, which is listed later.
    /// - Throws: ``FileFailure`` for an invalid URL.
    package func open(
        extensions: Set<String>, transport: @autoclosure () -> any HTTPTransport
    ) throws(FileFailure) -> any ImageFolder {
        switch kind {
        case .files: return FileFolder(folder, extensions: extensions)
        case .archive: return ArchiveFolder(folder, extensions: extensions)
        case .server:
            do throws(LoadError) {
                return ServedFolder(try HTTPURL("\(folder)/"), transport: transport())
            } catch {
                throw FileFailure(folder, error)
            }
        }
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }

    fileprivate func dropSuffix(_ suffix: Character) -> String {
        last == suffix ? String(dropLast()) : self
    }

    /// The text of a segment of a path; `nil` if it is invalid UTF-8.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
