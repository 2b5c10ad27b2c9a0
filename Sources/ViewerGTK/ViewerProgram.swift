// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
#endif
internal import EncodedImages
internal import Glibc
internal import ImageCommands
internal import ViewerModel

/// The program `calotype-viewer`.
@main
enum ViewerProgram {
    private static let usage = """
        usage: calotype view [OPTION]... [FILE|FOLDER|ARCHIVE|URL]

        Opens an image, with the others of its folder, a folder or a ZIP archive in a window, or a folder or an
        image of a Calotype server, such as http://127.0.0.1:8080/house/. ? lists the keys, which
        $XDG_CONFIG_HOME/calotype/keys changes (KEY = COMMAND on each line).

          --profile FILE     convert to this ICC profile instead of that of the monitor
          --no-profile       do not convert to the profile of the monitor
          --new-instance     open another window, if a window is open in this session
          --size WxH         the size of the window (default: 1280x800)
          --measure          print the times at which images appear
          --scroll SECONDS   with --measure: scroll to the end, print the frames and exit

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
        guard let options = ViewerOptions(Array(arguments)) else {
            writeToStandardError(usage)
            exit(64)
        }
        do throws(FileFailure) {
            try view(options)
        } catch {
            report(error)
            exit(1)
        }
    }

    #if Viewer
    private static func view(_ options: ViewerOptions) throws(FileFailure) {
        let path = try OpenedPath(options.path)
        guard calotype_window_open() else {
            throw FileFailure("the window", "no display; set DISPLAY or WAYLAND_DISPLAY")
        }
        if !options.isNewInstance, unsafe calotype_application_pass(path.uri) { return }
        let opened = MainActor.assumeIsolated {
            Result { () throws(FileFailure) in
                try ViewerWindow(path, options).run()
            }
        }
        try opened.get()
    }
    #else
    private static func view(_ options: ViewerOptions) throws(FileFailure) {
        throw FileFailure(
            options.path, "no viewer was built in; build with the trait Viewer, which needs GTK 4")
    }
    #endif
}
