// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
package import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

package struct Convert: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "convert", _superCommandName: "calotype",
        abstract: "Writes a picture in another format, at another size or quality.",
        discussion: """
            The picture is turned upright and, unless --keep-profile is given, converted to sRGB. \
            The format is that of OUTPUT's extension or of --format. A dash stands for standard \
            input or standard output. An animation stays one if the format that is written can \
            move; --still writes its first frame only.

            METADATA
              all       EXIF, XMP and IPTC, as far as the format takes them
              color     only the colour profile, which --keep-profile keeps
              none      nothing, and the picture is converted to sRGB

            What is kept is brought up to date: orientation, size and colour space become those of \
            the new picture, and a thumbnail that shows something else goes. --strip-gps takes out \
            EXIF's directory of positions and all properties of XMP whose names begin with GPS; \
            names of places stay, and so do the camera maker's own notes.

            EXAMPLES
              calotype convert scan.png scan.jpg --quality 90
              calotype convert photo.jpg smaller.jpg --size 1920x1080 --progressive
              calotype convert film.gif film.webp --size 320
              calotype convert scan.tif page3.png --page 3 --deep
              calotype convert photo.jpg public.jpg --strip-gps
              curl -s https://example.org/p.png | calotype convert - - --format jpeg > p.jpg
            """)

    @Argument(help: "The picture file, or - for standard input.", completion: .file())
    var input: String

    @Argument(help: "The file to write, or - for standard output.", completion: .file())
    var output: String

    @Option(
        help: "The size of the result, as in 400, 400x300, 400x or x300 (default: unchanged).",
        transform: SizeArgument.init(parsing:))
    var size: SizeArgument?

    @OptionGroup var resizing: ResizeArguments

    @Option(help: "The format to write, such as jpeg or png (default: OUTPUT's extension).")
    var format: String?

    @OptionGroup var losing: QualityArguments

    @Flag(help: "Write a JPEG that appears coarse first and sharpens as it is loaded.")
    var progressive = false

    @Option(
        help: """
            How much of the colours' resolution a JPEG keeps: all (444), half the width (422), or \
            half of both sides (420).
            """)
    var subsampling = EncodeOptions.ChromaSubsampling.half

    @Flag(help: "Keep every sample as it is, in formats that can do that or not, such as WebP.")
    var lossless = false

    @Option(
        help: "How much work goes into a small file, from 0 (fast) to 9.",
        transform: parseEffort)
    var effort = EncodeOptions().compressionLevel

    @Flag(help: "Keep samples of more than 8 bits, in formats that hold them.")
    var deep = false

    @Option(help: "Which picture of a file of several, such as a page of a TIFF, from 1.")
    var page = 1

    @Flag(help: "Write the first frame of an animation only.")
    var still = false

    @Flag(help: "Keep the picture's colour profile instead of converting to sRGB.")
    var keepProfile = false

    @Option(help: "What of the picture's metadata is written: all, color or none.")
    var metadata = MetadataPolicy.Kept.all

    @Flag(help: "Leave out where the picture was taken.")
    var stripGPS = false

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    package func validate() throws {
        _ = try destination()
        if metadata == .none && keepProfile {
            throw ValidationError("--metadata none and --keep-profile exclude each other")
        }
        if page < 1 { throw ValidationError("--page is at least 1") }
    }

    package func run() throws {
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        do {
            try write(try convert(codecs))
        } catch let error as FileFailure {
            report(error)
            throw ExitCode(1)
        }
    }

    /// - Returns: the bytes of the file that is to be written.
    private func convert(_ codecs: CodecSet) throws -> [UInt8] {
        let bytes = try readInput()
        do {
            let source = try ImageSource(bytes, codecs: codecs).page(page - 1)
            var options = resizing.decodeOptions(size)
            options.convertsToSRGB = !keepProfile
            options.keepsDepth = deep
            let destination = try destination(try blocks(of: source, options))
            if source.header.frameCount > 1, !still, destination.writesAnimations {
                return try encodeFrames(source, options, for: destination)
            }
            options.acceptsYCbCr = destination.prefersYCbCr
            return try destination.encode(try source.image(options))
        } catch let error as CodecError {
            throw FileFailure(input == "-" ? "standard input" : input, error)
        }
    }

    private func blocks(
        of source: ImageSource, _ options: DecodeOptions
    ) throws(CodecError) -> MetadataBlocks {
        guard metadata == .all else { return MetadataBlocks() }
        var changes = PictureChanges(size: source.resultSize(options))
        changes.isResized = changes.size != source.pixelSize
        changes.isConvertedToSRGB = options.convertsToSRGB && !source.header.colorProfile.isSRGB
        return try source.metadata(
            forWriting: MetadataPolicy(metadata, stripsLocation: stripGPS), changes)
    }

    private func encodeFrames(
        _ source: ImageSource, _ options: DecodeOptions, for destination: ImageDestination
    ) throws(CodecError) -> [UInt8] {
        var writer = try destination.animationWriter(
            source.resultSize(options), loopCount: source.header.loopCount)
        let bar = ProgressBar(total: source.header.frameCount, isWanted: true)
        defer { bar.end() }
        var frames = try source.frames(options)
        while let frame = try frames.next() {
            try writer.append(frame.image, duration: frame.duration)
            bar.advance(failed: false)
        }
        return try writer.finish()
    }

    private func write(_ file: [UInt8]) throws(FileFailure) {
        do throws(CodecError) {
            if output == "-" {
                if let reason = writeAll(file, to: STDOUT_FILENO) { throw .file(reason: reason) }
            } else {
                // From here on an interruption waits until the file is whole.
                try withExtendedLifetime(Interruption()) { () throws(CodecError) in
                    try ImageDestination.write(file, to: output)
                }
            }
        } catch {
            throw FileFailure(output == "-" ? "standard output" : output, error)
        }
    }

    private func readInput() throws(FileFailure) -> EncodedBytes {
        guard input != "-" else {
            return EncodedBytes(
                try readStandardInput(upTo: DecodeLimits().maximumByteCount))
        }
        do throws(CodecError) {
            return try EncodedBytes(mapping: input)
        } catch {
            throw FileFailure(input, error)
        }
    }

    private func destination(
        _ blocks: MetadataBlocks = MetadataBlocks()
    ) throws -> ImageDestination {
        guard let format = format ?? splitExtension(output).fileExtension else {
            let reason =
                output == "-"
                ? "standard output needs a --format"
                : "\(output) has no extension that names a format; use --format"
            throw ValidationError(reason)
        }
        var options = losing.encodeOptions
        options.isProgressive = progressive
        options.chromaSubsampling = subsampling
        options.isLossless = lossless
        options.compressionLevel = effort
        options.metadata = blocks
        do throws(CodecError) {
            return try ImageDestination(format: format, codecs: builtInCodecs, options: options)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
