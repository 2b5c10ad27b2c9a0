// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The `assets` command, which the program `calotype-assets` implements.
package struct AssetsCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "assets", _superCommandName: "calotype",
        abstract: "Compiles asset catalogs, and makes icons for pages and desktops.",
        discussion: "Executes the program calotype-assets, which is installed beside calotype.",
        helpNames: [])

    @Argument(parsing: .captureForPassthrough, help: "A subcommand with its arguments.")
    var arguments: [String] = []

    package init() {}

    package func run() throws {
        report(execute(siblingProgram: "calotype-assets"))
        throw ExitCode(1)
    }
}
