// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import ArgumentParser
internal import DecoderSandbox
internal import Effects
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

/// The `convert` command.
package struct Convert: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "convert", _superCommandName: "calotype",
        abstract: "Converts an image to another format, size or quality.",
        discussion: """
            The image is rotated upright and converted to sRGB; --keep-profile skips the \
            conversion. --format, or else the extension of OUTPUT, selects the format. A dash \
            stands for standard input or standard output. An animation stays animated if the \
            output format supports it; --still writes its first frame only.

            METADATA
              all       EXIF, XMP and IPTC, if the output format supports them
              color     only the colour profile, if --keep-profile is set
              none      nothing; the image is converted to sRGB

            Metadata is updated: orientation, size and colour space describe the new image, and an \
            outdated thumbnail is removed. --strip-gps removes the EXIF GPS directory and all XMP \
            properties whose names begin with GPS; place names and maker notes are kept.

            EXAMPLES
              calotype convert scan.png scan.jpg --quality 90
              calotype convert photo.jpg smaller.jpg --size 1920x1080 --progressive
              calotype convert photo.jpg marked.jpg --watermark logo.png --watermark-opacity 0.5
              calotype convert film.gif film.webp --size 320
              calotype convert scan.tif page3.png --page 3 --deep
              calotype convert photo.jpg public.jpg --strip-gps
              curl -s https://example.org/p.png | calotype convert - - --format jpeg > p.jpg
            """)

    @Argument(help: "The image file, or - for standard input.", completion: .file())
    var input: String

    @Argument(help: "The file to write, or - for standard output.", completion: .file())
    var output: String

    @Option(
        help: "The size of the output in pixels: 400, 400x300, 400x or x300 (default: unchanged).",
        transform: SizeArgument.init(parsing:))
    var size: SizeArgument?

    @OptionGroup var resizing: ResizeArguments

    @OptionGroup(title: "Effects") var effects: EffectArguments

    @Option(help: "The output format, such as jpeg or png (default: from the extension of OUTPUT).")
    var format: String?

    @OptionGroup var losing: QualityArguments

    @Flag(help: "Write a progressive JPEG.")
    var progressive = false

    @Option(
        help: """
            The chroma subsampling of a JPEG: 444 (full resolution), 422 (half the width) or 420 \
            (half the width and height).
            """)
    var subsampling = EncodeOptions.ChromaSubsampling.half

    @Flag(help: "Use lossless compression in formats that support both kinds, such as WebP.")
    var lossless = false

    @Option(
        help: "The compression effort, from 0 (fast) to 9 (small files; default: 6).",
        transform: parseEffort)
    var effort = EncodeOptions().compressionLevel

    @Flag(help: "Keep more than 8 bits per sample, in formats that support it.")
    var deep = false

    @Option(help: "The page of a multi-page file, such as a TIFF, counted from 1.")
    var page = 1

    @Flag(help: "Write the first frame of an animation only.")
    var still = false

    @Flag(help: strictHelp) var strict = false

    @Flag(
        help: """
            Keep the colour profile of the image instead of converting to sRGB, if the output format \
            can store it.
            """)
    var keepProfile = false

    @Option(
        help: """
            Write the HDR image for a display with this headroom in stops, from 0 to 6; --gain-map \
            apply does so without a limit.
            """,
        transform: parseHeadroom)
    var headroom: Double?

    @Option(help: "The metadata to write: all, color or none.")
    var metadata = MetadataPolicy.Kept.all

    @Flag(help: "Remove the GPS position.")
    var stripGPS = false

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    package func validate() throws {
        _ = try destination()
        if metadata == .none && keepProfile {
            throw ValidationError("--metadata none and --keep-profile exclude each other")
        }
        if effects.watermark != nil && keepProfile {
            throw ValidationError("--watermark and --keep-profile exclude each other")
        }
        try validateGainMap()
        if page < 1 { throw ValidationError("invalid --page: \(page); use at least 1") }
    }

    private func validateGainMap() throws {
        if headroom != nil, resizing.gainMap == .drop {
            throw ValidationError("--headroom and --gain-map drop exclude each other")
        }
        guard writesHDR else { return }
        if keepProfile {
            throw ValidationError("--gain-map apply and --keep-profile exclude each other")
        }
        let destination = try destination()
        guard destination.writesHDR else {
            throw ValidationError(
                "the format \(destination.format.name) cannot store HDR; use png, avif "
                    + "or jxl")
        }
    }

    package func run() throws {
        try sandboxing.withCodecs { codecs in try write(try convert(codecs)) }
    }

    /// Decodes the input and returns the encoded output.
    private func convert(_ codecs: CodecSet) throws -> [UInt8] {
        let bytes = try readInput()
        let effect = try effects.effect(codecs)
        do {
            let source = try ImageSource(bytes, codecs: codecs).page(page - 1)
            var options = resizing.decodeOptions(size)
            options.convertsToSRGB = try !keepsProfile(of: source)
            options.keepsDepth = deep
            options.acceptsTruncated = !strict
            let destination = try destination(try blocks(of: source, options))
            if writesHDR {
                guard effect.isEmpty else {
                    throw FileFailure(inputName, "--gain-map apply excludes effects; omit them")
                }
                return try destination.encode(try imageInHDR(source, options))
            }
            if source.header.frameCount > 1, !still, destination.writesAnimations {
                return try encodeFrames(source, options, effect, for: destination)
            }
            options.acceptsYCbCr = destination.prefersYCbCr && effect.isEmpty
            let decoded = try source.decodedImage(options)
            if let problem = decoded.report.problem { warn(inputName, "\(problem)") }
            let map =
                effect.isEmpty
                ? try source.gainMap(resizing.gainMap, options, for: destination) : nil
            return try destination.adding(map).encode(try decoded.image.applying(effect))
        } catch let error as CodecError {
            throw FileFailure(inputName, error)
        }
    }

    private func imageInHDR(
        _ source: ImageSource, _ options: DecodeOptions
    ) throws -> PixelBuffer {
        guard let decoded = try source.imageInHDR(options, headroom: headroom) else {
            throw FileFailure(
                inputName,
                "an SDR image without a gain map; omit --gain-map apply and --headroom")
        }
        if let problem = decoded.report.problem { warn(inputName, "\(problem)") }
        return decoded.image
    }

    private var writesHDR: Bool { resizing.gainMap == .apply || headroom != nil }

    private var inputName: String { input == "-" ? "standard input" : input }

    /// Returns whether the output keeps the colour profile; warns if its format cannot store it.
    private func keepsProfile(of source: ImageSource) throws -> Bool {
        let destination = try destination()
        guard keepProfile, !destination.stores(source.header.colorProfile) else {
            return keepProfile
        }
        warn(
            inputName,
            "the format \(destination.format.name) cannot store the colour profile; colours are "
                + "converted to sRGB")
        return false
    }

    private func blocks(
        of source: ImageSource, _ options: DecodeOptions
    ) throws(CodecError) -> MetadataBlocks {
        guard metadata == .all else { return MetadataBlocks() }
        var changes = ImageChanges(size: effects.size(around: source.resultSize(options)))
        changes.isResized = changes.size != source.pixelSize
        changes.isConvertedToSRGB = options.convertsToSRGB && !source.header.colorProfile.isSRGB
        return try source.metadata(
            forWriting: MetadataPolicy(metadata, stripsLocation: stripGPS), changes)
    }

    private func encodeFrames(
        _ source: ImageSource, _ options: DecodeOptions, _ effect: Effect,
        for destination: ImageDestination
    ) throws(CodecError) -> [UInt8] {
        var writer = try destination.animationWriter(
            effects.size(around: source.resultSize(options)), loopCount: source.header.loopCount)
        let bar = ProgressBar(total: source.header.frameCount, isEnabled: true)
        defer { bar.end() }
        var frames = try source.frames(options)
        while let frame = try frames.next() {
            try writer.append(try frame.image.applying(effect), duration: frame.duration)
            bar.advance(failed: false)
        }
        return try writer.finish()
    }

    private func write(_ file: [UInt8]) throws(FileFailure) {
        do throws(CodecError) {
            if output == "-" {
                if let reason = writeAll(file, to: STDOUT_FILENO) { throw .file(reason: reason) }
            } else {
                // An interruption from here on takes effect after the file is complete.
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
                ? "standard output requires --format"
                : "unknown format: \(output) has no extension; use --format"
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
