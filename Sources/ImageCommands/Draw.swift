// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import Drawing
internal import EncodedImages
internal import Pixels

/// The `draw` command.
package struct Draw: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "draw", _superCommandName: "calotype",
        abstract: "Draws a card from a template.",
        discussion: """
            A template is a JSON file with a size and layers: rectangles, images, texts, avatars and \
            badges. Documentation/templates.md specifies it. --set replaces the placeholders in \
            braces. Relative paths of images start from the folder of the template, those of --image \
            from the current folder.

            EXAMPLES
              calotype draw card.json --set title='A long title' -o card.png
              calotype draw card.json --image photo=me.jpg --set author='A. Writer' -o card.jpg
              calotype draw card.json --scale 2 -o card@2x.png
            """)

    @Argument(help: "The template.", completion: .file())
    var template: String

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("The value of a placeholder.", valueName: "name=text"))
    var values: [String] = []

    @Option(
        name: .customLong("image"),
        help: ArgumentHelp("The image file of a placeholder.", valueName: "name=file"))
    var images: [String] = []

    @Option(
        name: .customLong("font"),
        help: ArgumentHelp(
            "A font file; the fonts of the system are then not used.", valueName: "file"))
    var fonts: [String] = []

    @Option(help: "The number of pixels of a unit of the template, from 0.1 to 8.")
    var scale = 1.0

    @Option(
        name: .shortAndLong,
        help: "The file to write; its extension selects the format.", completion: .file())
    var output: String

    @OptionGroup var losing: QualityArguments

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    package func validate() throws {
        for value in values + images where !value.contains("=") {
            throw ValidationError("invalid value: \(value); use name=text")
        }
        guard (0.1...8).contains(scale) else {
            throw ValidationError("invalid --scale: \(scale); use 0.1 to 8")
        }
        _ = try drawnDestination(output, losing)
    }

    package func run() throws {
        try sandboxing.withCodecs { codecs in
            let destination = try drawnDestination(output, losing)
            try write(try draw(codecs, destination), to: output, destination)
        }
    }

    private func draw(_ codecs: CodecSet, _ destination: ImageDestination) throws -> PixelBuffer {
        let text = try readText(template, upTo: Template.maximumByteCount)
        do throws(DrawingError) {
            let template = try Template(parsing: text)
            let images = CardImages(
                codecs: codecs, folder: splitFolder(self.template).folder,
                halvesChroma: destination.prefersYCbCr)
            return try template.image(
                pairs, format: ImageRendererFormat(scale: scale),
                fonts: try FontCollection(files: fonts.isEmpty ? nil : fonts),
                images: images.image)
        } catch {
            throw FileFailure(template, error)
        }
    }

    /// The values of placeholders; of two with the same name the last one counts.
    private var pairs: [String: String] {
        func pair(_ text: String) -> (String, Substring) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts[1])
        }
        let texts = values.map(pair).map { ($0, String($1)) }
        let files = images.map(pair).map { ($0, absolutePath(String($1))) }
        return Dictionary(texts + files) { $1 }
    }
}
