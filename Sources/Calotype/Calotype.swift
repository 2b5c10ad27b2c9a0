// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ImageCommands

/// The `calotype` command with the subcommands that read and write files.
///
/// The program `calotype-server` runs all others.
///
/// With the code for serving and benchmarks, starting would take as long as decoding a photograph,
/// and more memory.
@main
struct Calotype: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calotype", version: "calotype \(calotypeVersion)",
        subcommands: [
            Info.self, Thumbnail.self, Batch.self, Thumbnails.self, Convert.self,
            TextureCommand.self, Draw.self, Sheet.self, AssetsCommand.self, View.self,
        ])

    static func main() async {
        if let (tool, arguments) = OldTextureTool.named(by: CommandLine.arguments) {
            exit(withError: ExitCode(tool.run(arguments)))
        }
        do {
            guard var command = try parsed(Array(CommandLine.arguments.dropFirst())) else {
                executeServer()
            }
            if (command as? Thumbnail)?.explain == true { executeServer() }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }

    /// Parses the arguments; returns `nil` if the subcommand is not one of these.
    private static func parsed(_ arguments: [String]) throws -> (any ParsableCommand)? {
        // The other program has the same version, and takes four times as long to start.
        if arguments == ["--version"] { throw CleanExit.message(configuration.version) }
        let command = configuration.subcommands.first {
            $0.configuration.commandName == arguments.first
        }
        guard let command else { return nil }
        let arguments = groupingPaths(arguments)
        // Parsing from the root takes half a millisecond more, but has the right texts for help and
        // errors.
        let parsed = try? command.parseAsRoot(Array(arguments.dropFirst()))
        if let parsed, type(of: parsed) == command { return parsed }
        return try parseAsRoot(arguments)
    }

    private static func executeServer() -> Never {
        let failure = execute(siblingProgram: "calotype-server")
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first.map(["help", "--help", "-h"].contains) ?? true {
            // The server is a package of its own. Without it, help lists what this program can do.
            do { _ = try parseAsRoot(arguments) } catch { exit(withError: error) }
            exit(withError: CleanExit.helpRequest(self))
        }
        report(failure)
        exit(withError: ExitCode(1))
    }
}
