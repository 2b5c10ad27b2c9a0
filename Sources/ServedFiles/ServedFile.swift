// SPDX-License-Identifier: Apache-2.0

internal import CServedFiles

/// A file of the server that is built into the program.
///
/// The files are embedded by the C compiler: as literals of Swift they take a minute to compile.
public struct ServedFile: Sendable {
    /// The value of the `Content-Type` field.
    public let mediaType: String
    /// The content.
    public let bytes: [UInt8]

    /// Every file of the folder `Gallery`, by name, which `CServedFiles/files.c` lists; and the script `gallery.js`, which
    /// contains its modules.
    public static let gallery: [String: ServedFile] = {
        var files: [String: ServedFile] = [:]
        var file = unsafe calotype_served_file()
        var index = 0
        while unsafe calotype_gallery_file(index, &file) {
            unsafe files[String(cString: file.name)] = unsafe ServedFile(file)
            index += 1
        }
        let script = JoinedScript(of: "main.js", in: files.mapValues(\.bytes))
        files["gallery.js"] = ServedFile(name: "gallery.js", bytes: script.bytes)
        return files
    }()

    /// The OpenAPI description of the routes.
    public static let apiDescription = unsafe ServedFile(calotype_api_description())

    private init(_ file: calotype_served_file) {
        unsafe self.init(
            name: String(cString: file.name),
            bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }

    private init(name: String, bytes: [UInt8]) {
        mediaType = Self.mediaTypes[name.split(separator: ".").last ?? ""] ?? Self.binary
        self.bytes = bytes
    }

    private static let binary = "application/octet-stream"
    private static let mediaTypes: [Substring: String] = [
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    ]
}
