// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCommands
internal import Pixels

/// The `assets icons` command.
struct AssetIcons: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "icons", abstract: "Makes the icons of a web site from one drawing.",
        discussion: """
            Writes favicon.ico (16, 32 and 48 pixels), apple-touch-icon.png (180), icon-192.png, \
            icon-512.png, icon-maskable-512.png and manifest.webmanifest; and icon.svg, if the drawing is \
            SVG. Prints the elements for the head of a page.

            Every visible pixel of the maskable icon lies in the circle that all masks keep, of 80 % of \
            the width. SVG needs a program with the trait SVG; other images should have at least \
            512x512 pixels.

            EXAMPLES
              calotype assets icons logo.svg -o public/
              calotype assets icons logo.svg --small logo-16.svg --background '#102030' -o public/
            """)

    @Argument(help: "The drawing, such as logo.svg.", completion: .file())
    var drawing: String

    @Option(
        name: .shortAndLong, help: "The folder of the icons; it is created.",
        completion: .directory)
    var output: String

    @Option(
        help: ArgumentHelp(
            "A simpler drawing for favicon.ico, whose icons are small.", valueName: "file"),
        completion: .file())
    var small: String?

    @Option(
        help: "The colour behind the icons that may not be transparent, such as #fff.",
        transform: parseColor)
    var background = SRGBColor(red: 1, green: 1, blue: 1)

    @Option(help: "The name of the application in the manifest.")
    var name = "Application"

    @Flag(help: "Print a JSON object with the names of the files instead of the elements.")
    var json = false

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        try sandboxing.withCodecs { codecs in
            let files = try IconSet(
                drawing: try IconDrawing(drawing, codecs),
                small: try small.map { path throws(FileFailure) in try IconDrawing(path, codecs) },
                background: background, name: name
            ).files(codecs)
            try makeFolder(output)
            for file in files { try writeFile(file.bytes, to: "\(output)/\(file.name)") }
            print(
                json
                    ? JSON.object([
                        .init("files", .array(files.map { .string($0.name) }))
                    ]).text() : IconSet.elements(files.map(\.name)))
        }
    }
}

/// Replaces a file with bytes.
func writeFile(_ bytes: [UInt8], to path: String) throws(FileFailure) {
    do throws(CodecError) {
        try ImageDestination.write(bytes, to: path)
    } catch {
        throw FileFailure(path, error)
    }
}
