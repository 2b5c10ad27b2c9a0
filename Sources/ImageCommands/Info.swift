// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Pixels

/// The `info` command.
package struct Info: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "info", _superCommandName: "calotype",
        abstract: "Prints the format, size and metadata of image files.",
        discussion: """
            The format is detected from the content of a file, not from its name. Sizes are in \
            pixels, after rotation to upright; the stored size is printed if it differs.

            With --json, the output is an array with one object per file. Its keys are file, \
            format, mediaType, width, height, storedWidth, storedHeight, orientation (1 to 8, as \
            in EXIF), colorModel, bitsPerComponent, hasAlpha, colorProfile, frameCount, \
            loopCount (0: forever), pageCount, thumbnail (width, height and byteCount, or null), \
            byteCount, facts, gainMap and metadata. A file that cannot be read has the keys file and error.

            The value of metadata is an object with the keys exif, xmp and iptc. Each is null or \
            an object with the fields that are present, and byteCount. Dates are in ISO 8601, \
            fractions are strings such as "1/250", positions are in degrees north and east.

            The value of gainMap is null, or an object with the size of the map and its values by \
            ISO 21496-1; gains and headrooms are logarithms to base 2.

            --explain decodes each image once to fit --size and prints the decoder, the factor by \
            which each plane was reduced in the decoder, and the time. In JSON these are in the \
            key decoding (width, height, decoder, shrinkFactors, milliseconds, warnings).

            EXAMPLES
              calotype info photo.jpg
              calotype info --json *.jpg
              calotype info --explain --size 400 photo.jpg
            """)

    @Argument(help: "The image files; with --recursive, also folders.", completion: .file())
    var files: [PathGroup]

    @Flag(help: "Print a JSON array instead of text.")
    var json = false

    @Flag(
        name: .shortAndLong,
        help: "Process the images in folders and their subfolders, selected by file name extension."
    )
    var recursive = false

    @Flag(help: "Decode each image once and print decoder and time.")
    var explain = false

    @Option(
        help: "The size to decode to with --explain: 400, 400x300, 400x or x300 (default: 400).",
        transform: SizeArgument.init(parsing:))
    var size: SizeArgument?

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    private static let defaultBox = PixelSize(width: 400, height: 400)

    package func run() throws {
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        var objects: [JSON] = []
        var failureCount = 0
        for input in InputFiles(codecs, isRecursive: recursive).find(files.paths) {
            do throws(FileFailure) {
                let facts = try facts(of: try input.get(), codecs)
                if json { objects.append(facts.json) } else { print(facts.text) }
            } catch {
                failureCount += 1
                objects.append(error.json)
                report(error)
            }
        }
        if json { print(JSON.array(objects).text()) }
        if failureCount > 0 { throw ExitCode(1) }
    }

    private func facts(
        of file: InputFile, _ codecs: CodecSet
    ) throws(FileFailure) -> FileFacts {
        do throws(CodecError) {
            let source = try ImageSource(EncodedBytes(mapping: file.path), codecs: codecs)
            let decoding = explain ? try DecodingFacts(source, size?.box ?? Self.defaultBox) : nil
            let facts = FileFacts(file.path, source, decoding)
            try source.checkUnchanged()
            return facts
        } catch {
            throw FileFailure(file.path, error)
        }
    }
}
