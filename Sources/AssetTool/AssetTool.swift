// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ImageCommands

/// The program `calotype-assets`.
@main
struct AssetTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets", _superCommandName: "calotype",
        abstract:
            "Compiles asset catalogs and reads compiled ones; makes icons and sources for pages.",
        version: "calotype-assets \(calotypeVersion)",
        subcommands: [
            AssetCompile.self, AssetInfo.self, AssetExtract.self, AssetIcons.self,
            AssetSourceSet.self, AssetTheme.self,
        ])

    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        // `calotype assets` executes this program with its own arguments.
        if arguments.first == "assets" { arguments.removeFirst() }
        main(arguments)
    }
}
