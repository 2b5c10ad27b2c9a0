// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import ArgumentParser
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a picture in another format, at another size or quality.",
        discussion: """
            The picture is turned upright and, unless --keep-profile is given, converted to sRGB. \
            The format is that of OUTPUT's extension or of --format. A dash stands for standard \
            input or standard output.

            EXAMPLES
              calotype convert scan.png scan.jpg --quality 90
              calotype convert photo.jpg smaller.jpg --size 1920x1080 --progressive
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

    @Option(help: "The quality of lossy formats from 1 to 100.", transform: parseQuality)
    var quality = 80

    @Flag(help: "Write a JPEG that appears coarse first and sharpens as it is loaded.")
    var progressive = false

    @Option(
        help: """
            How much of the colours' resolution a JPEG keeps: all (444), half the width (422), or \
            half of both sides (420).
            """)
    var subsampling = EncodeOptions.ChromaSubsampling.half

    @Flag(help: "Keep the picture's colour profile instead of converting to sRGB.")
    var keepProfile = false

    func validate() throws { _ = try destination() }

    func run() throws {
        let destination = try destination()
        do throws(FileFailure) {
            try convert(to: destination)
        } catch {
            report(error)
            throw ExitCode(1)
        }
    }

    private func convert(to destination: ImageDestination) throws(FileFailure) {
        let bytes = try readInput()
        let image: PixelBuffer
        do throws(CodecError) {
            var options = resizing.decodeOptions(size)
            options.convertsToSRGB = !keepProfile
            options.acceptsYCbCr = destination.prefersYCbCr
            image = try ImageSource(bytes, codecs: builtInCodecs).image(options)
        } catch {
            throw FileFailure(input == "-" ? "standard input" : input, error)
        }
        do throws(CodecError) {
            if output == "-" {
                if let reason = writeAll(try destination.encode(image), to: STDOUT_FILENO) {
                    throw .file(reason: reason)
                }
            } else {
                // From here on an interruption waits until the file is whole.
                _ = Interruption()
                try destination.write(image, to: output)
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

    private func destination() throws -> ImageDestination {
        guard let format = format ?? splitExtension(output).fileExtension else {
            throw ValidationError("\(output) has no extension that names a format; use --format")
        }
        var options = EncodeOptions()
        options.quality = quality
        options.isProgressive = progressive
        options.chromaSubsampling = subsampling
        do throws(CodecError) {
            return try ImageDestination(format: format, codecs: builtInCodecs, options: options)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
