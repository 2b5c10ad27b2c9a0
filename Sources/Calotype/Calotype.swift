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
        do {
            guard var command = try parsed(Array(CommandLine.arguments.dropFirst())) else {
                goOnAsServer()
            }
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

    /// The command, or `nil` if it is none of these.
    private static func parsed(_ arguments: [String]) throws -> (any ParsableCommand)? {
        let command = configuration.subcommands.first {
            $0.configuration.commandName == arguments.first
        }
        guard let command else { return nil }
        // With the root above it, parsing takes half a millisecond more; but only the root has the
        // right words for help and errors.
        let parsed = try? command.parseAsRoot(Array(arguments.dropFirst()))
        if let parsed, type(of: parsed) == command { return parsed }
        return try parseAsRoot(arguments)
    }

    private static func goOnAsServer() -> Never {
        report(goOn(asProgramBeside: "calotype-server"))
        exit(withError: ExitCode(1))
    }
}
