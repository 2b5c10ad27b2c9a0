// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import ImageCommands

/// The `calotype` command with all subcommands; the program `calotype` runs it for those that it
/// does not implement itself.
@main
struct CalotypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calotype",
        abstract: "Inspects, resizes, converts and serves images.",
        discussion: """
            EXAMPLES
              calotype info photo.jpg
              calotype thumbnail *.jpg --size 400
              calotype convert photo.png photo.jpg --quality 90
              calotype serve ~/Pictures

            EXIT CODES
              0    success
              1    at least one file could not be read or written; all others were processed
              64   invalid command line; nothing was done
              130  interrupted (143: terminated); files that were written are complete
            """,
        version: "calotype \(calotypeVersion)",
        subcommands: [
            Info.self, ExplainedThumbnail.self, Batch.self, Thumbnails.self, Convert.self,
            Draw.self, Sheet.self, TextureCommand.self, AssetsCommand.self, Bench.self, Serve.self,
            Sign.self, Password.self, View.self, WorkerCommand.self,
        ])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(FileFailure) {
            await main(
                groupingPaths(
                    try ServerSettings.completed(
                        arguments, environment: ProcessInfo.processInfo.environment)))
        } catch {
            writeToStandardError("calotype: \(error)\n")
            exit(withError: ExitCode.validationFailure)
        }
    }
}
