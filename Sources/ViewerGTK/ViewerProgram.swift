// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import ImageCommands

/// The program `calotype-viewer`.
@main
enum ViewerProgram {
    private static let usage = """
        usage: calotype view [FILE|FOLDER]

        Opens an image, with the others of its folder, or a folder in a window. ? lists the keys, which
        $XDG_CONFIG_HOME/calotype/keys changes (KEY = COMMAND on each line).

        """

    static func main() {
        var arguments = CommandLine.arguments.dropFirst()
        // `calotype view` executes this program with its own arguments.
        if arguments.first == "view" { arguments = arguments.dropFirst() }
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage, terminator: "")
            exit(0)
        }
        if arguments.contains("--version") {
            print("calotype-viewer \(calotypeVersion)")
            exit(0)
        }
        guard arguments.count <= 1, arguments.first?.hasPrefix("-") != true else {
            writeToStandardError(usage)
            exit(64)
        }
        do throws(FileFailure) {
            try view(arguments.first ?? ".")
        } catch {
            report(error)
            exit(1)
        }
    }

    #if Viewer
    private static func view(_ argument: String) throws(FileFailure) {
        guard let uri = FileURI(argument),
            let path = String(validating: uri.path, as: UTF8.self)
        else {
            throw FileFailure(argument, "not a local file with a name in UTF-8")
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw FileFailure(argument, lastSystemError())
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let (folder, file) = splitFolder(path)
        let isOpened = MainActor.assumeIsolated {
            ViewerWindow(folder: isFolder ? path : folder, first: isFolder ? nil : file).run()
        }
        guard isOpened else {
            throw FileFailure("the window", "no display; set DISPLAY or WAYLAND_DISPLAY")
        }
    }
    #else
    private static func view(_ argument: String) throws(FileFailure) {
        throw FileFailure(
            argument, "no viewer was built in; build with the trait Viewer, which needs GTK 4")
    }
    #endif
}
