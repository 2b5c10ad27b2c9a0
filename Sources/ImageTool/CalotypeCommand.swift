// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import PictureCommands

/// The whole command; `calotype` itself hands on to it what takes more than reading and writing
/// pictures.
@main
struct CalotypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calotype",
        abstract: "Looks at pictures, makes them smaller, and shows a folder of them in a browser.",
        discussion: """
            EXAMPLES
              calotype info photo.jpg
              calotype thumbnail *.jpg --size 400
              calotype convert photo.png photo.jpg --quality 90
              calotype serve ~/Pictures

            EXIT CODES
              0    everything was done
              1    some file could not be read or written; the rest was done
              64   the command line was not understood; nothing was done
              130  interrupted (143: terminated); files that were written are whole
            """,
        version: "calotype \(calotypeVersion)",
        subcommands: [
            Info.self, ExplainedThumbnail.self, Convert.self, Bench.self, Serve.self, Sign.self,
        ])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(FileFailure) {
            await main(
                try ServerSettings.completed(
                    arguments, environment: ProcessInfo.processInfo.environment))
        } catch {
            writeToStandardError("calotype: \(error)\n")
            exit(withError: ExitCode.validationFailure)
        }
    }
}
