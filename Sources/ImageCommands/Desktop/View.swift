// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The `view` command, which the program `calotype-viewer` implements.
package struct View: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "view", _superCommandName: "calotype",
        abstract: "Opens an image, or the images of a folder, in a window.",
        usage: "calotype view [<option> ...] [<file>|<folder>|<archive>|<url>]",
        discussion: """
            Requires a build with the trait Viewer, which needs GTK 4. The key ? lists all keys; \
            $XDG_CONFIG_HOME/calotype/keys changes them (KEY = COMMAND on each line). \
            `calotype-viewer --help` lists the options.
            """)

    /// The program that is executed parses them.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("An image file or a folder, and options.", visibility: .hidden),
        completion: .file())
    var arguments: [String] = []

    package init() {}

    package func run() throws {
        report(execute(siblingProgram: "calotype-viewer"))
        throw ExitCode(1)
    }
}
