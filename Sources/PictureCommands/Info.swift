// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

package struct Info: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "info", _superCommandName: "calotype",
        abstract: "Says what picture files contain, and how they are decoded.",
        discussion: """
            The format is told from a file's bytes, never from its name. Sizes are in pixels: as \
            the picture is looked at and, if that differs, as it is stored.

            With --json, standard output is one array with an object a file. Its keys are file, \
            format, mediaType, width, height, storedWidth, storedHeight, orientation (1 to 8, as \
            EXIF counts), colorModel, bitsPerComponent, hasAlpha, colorProfile, frameCount, \
            loopCount (0: for ever), pageCount, thumbnail (width, height and byteCount, or null), \
            byteCount, facts and metadata; a file that cannot be read has file and error instead.

            Metadata is what EXIF, XMP and IPTC say of the picture. In JSON it is an object with the \
            keys exif, xmp and iptc, each null or an object of the fields that there are and of \
            byteCount; dates are by ISO 8601, fractions stay fractions as in "1/250", positions are \
            in degrees to the north and east.

            --explain decodes each picture once at --size, and says what was done: which decoder, \
            how far each plane was shrunk while it was read, and how long it took. In JSON that is \
            the key decoding (width, height, decoder, shrinkFactors, milliseconds).

            EXAMPLES
              calotype info photo.jpg
              calotype info --json *.jpg
              calotype info --explain --size 400 photo.jpg
            """)

    @Argument(help: "The picture files.", completion: .file())
    var files: [String]

    @Flag(help: "Write one JSON array instead of text.")
    var json = false

    @Flag(help: "Decode each picture once and say how.")
    var explain = false

    @Option(
        help: "With --explain, the size that is wanted: 400, 400x300, 400x or x300.",
        transform: SizeArgument.init(parsing:))
    var size: SizeArgument?

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    private static let usualBox = PixelSize(width: 400, height: 400)

    package func run() throws {
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        var objects: [JSON] = []
        var failureCount = 0
        for file in files {
            do throws(CodecError) {
                let source = try ImageSource(EncodedBytes(mapping: file), codecs: codecs)
                let decoding = explain ? try DecodingFacts(source, size?.box ?? Self.usualBox) : nil
                let facts = PictureFacts(file, source, decoding)
                try source.checkUnchanged()
                if json { objects.append(facts.json) } else { print(facts.text) }
            } catch {
                failureCount += 1
                let failure = FileFailure(file, error)
                objects.append(failure.json)
                report(failure)
            }
        }
        if json { print(JSON.array(objects).text()) }
        if failureCount > 0 { throw ExitCode(1) }
    }
}
