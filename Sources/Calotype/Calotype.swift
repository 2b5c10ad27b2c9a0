// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PictureCommands

/// The command as far as it reads and writes pictures; all else is done by `calotype-server`.
///
/// What serves, measures and explains brings so much code that starting it takes as long as decoding
/// a photograph, and more memory.
@main
struct Calotype: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calotype", version: "calotype \(calotypeVersion)",
        subcommands: [Info.self, Thumbnail.self, Convert.self])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let isKnown = configuration.subcommands.contains {
            $0.configuration.commandName == arguments.first
        }
        guard isKnown else { goOnAsServer() }
        do {
            var command = try parseAsRoot(arguments)
            if (command as? Thumbnail)?.explain == true { goOnAsServer() }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }

    private static func goOnAsServer() -> Never {
        report(goOn(asProgramBeside: "calotype-server"))
        exit(withError: ExitCode(1))
    }
}
