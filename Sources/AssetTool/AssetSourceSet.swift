// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCommands
internal import MessageDigests
internal import Pixels
internal import Placeholders

/// The `assets srcset` command.
struct AssetSourceSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "srcset",
        abstract: "Makes each image in several widths and formats, with the element for a page.",
        discussion: """
            The names of the files contain a part of their SHA-256, so that a server may let clients \
            cache them for ever. Images are never enlarged. manifest.json lists the files of each image \
            and its ThumbHash; the elements <picture> are printed. An image that cannot be read is \
            reported, and the exit status is 1.

            EXAMPLES
              calotype assets srcset photos -o dist
              calotype assets srcset a.jpg --widths 400,800 --formats webp,jpeg --prefix /images/ -o dist
            """)

    @Argument(help: "Image files and folders.", completion: .file())
    var sources: [String]

    @Option(
        name: .shortAndLong, help: "The folder of the files; it is created.",
        completion: .directory)
    var output: String

    @Option(help: "The widths in pixels, separated by commas.", transform: widths(parsing:))
    var widths = [320, 640, 1280]

    @Option(
        help: "The formats, separated by commas; browsers use the first one that they support.",
        transform: { $0.split(separator: ",").map(String.init) })
    var formats = ["avif", "webp", "jpeg"]

    @Option(
        help: "The quality of lossy formats, from 1 to 100 (default: 80).", transform: parseQuality)
    var quality = 80

    @Option(help: "What precedes the names of the files in the elements.") var prefix = ""

    @Option(help: "The attribute sizes of the elements.") var sizes = "100vw"

    @Option(name: .shortAndLong, help: "The number of images in parallel (default: one per core).")
    var jobs: Int?

    @Flag(help: "Print the manifest instead of the elements.") var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.") var quiet = false

    @OptionGroup var sandboxing: SandboxArguments

    func validate() throws {
        if let jobs, jobs < 1 { throw ValidationError("invalid --jobs: \(jobs); use at least 1") }
        guard !formats.isEmpty else { throw ValidationError("no --formats") }
    }

    func run() throws {
        let jobCount = jobs ?? processorCount()
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: jobCount)
        defer { sandbox?.close() }
        var destinations: [ImageDestination] = []
        for format in formats {
            var encoding = EncodeOptions()
            encoding.quality = quality
            do throws(CodecError) {
                destinations.append(
                    try ImageDestination(format: format, codecs: codecs, options: encoding))
            } catch {
                throw ValidationError("\(format): \(error)")
            }
        }
        let maker = SourceSetMaker(
            codecs: codecs, destinations: destinations, widths: widths, folder: output)
        let inputs = InputFiles(codecs, isRecursive: true).find(sources)
        let bar = ProgressBar(total: inputs.count, isEnabled: !quiet)
        let interruption = Interruption()
        do throws(FileFailure) { try makeFolder(output) } catch {
            report(error)
            throw ExitCode(1)
        }
        let results = runBatch(
            inputs, jobCount: jobCount, isInterrupted: { interruption.signal != nil },
            didFinish: { (result: Result<SourceSet, FileFailure>) in
                if case .failure(let failure) = result { report(failure) }
                bar.advance(failed: (try? result.get()) == nil)
            },
            make: { file, cancellation throws(FileFailure) in
                try maker.make(file, cancellation)
            })
        bar.end()
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "manifest.json was not written")
        }
        let sets = results.compactMap { try? $0?.get() }
        let manifest = JSON.object(sets.map { .init($0.source, $0.json) }).text()
        do throws(FileFailure) {
            try writeFile(Array((manifest + "\n").utf8), to: "\(output)/manifest.json")
        } catch {
            report(error)
            throw ExitCode(1)
        }
        print(
            json
                ? manifest
                : sets.map { $0.element(prefix: prefix, sizes: sizes) }.joined(separator: "\n"))
        if sets.count < inputs.count { throw ExitCode(1) }
    }

    private static func widths(parsing text: String) throws -> [Int] {
        try text.split(separator: ",").map { part in
            guard let width = Int(part), (1...16_384).contains(width) else {
                throw ValidationError("invalid width: \(part); use 1 to 16384")
            }
            return width
        }
    }
}

/// The files of one image.
struct SourceSet: Sendable {
    struct File: Sendable {
        let name: String
        let mediaType: String
        let size: PixelSize
        let byteCount: Int
    }

    /// The path of the image.
    let source: String
    /// The size of the image.
    let size: PixelSize
    let thumbHash: String
    /// The files, by format in the order of preference, then by width.
    let files: [File]

    var json: JSON {
        .object([
            .init("width", .integer(size.width)), .init("height", .integer(size.height)),
            .init("thumbHash", .string(thumbHash)),
            .init(
                "files",
                .array(
                    files.map { file in
                        .object([
                            .init("file", .string(file.name)),
                            .init("type", .string(file.mediaType)),
                            .init("width", .integer(file.size.width)),
                            .init("height", .integer(file.size.height)),
                            .init("byteCount", .integer(file.byteCount)),
                        ])
                    })),
        ])
    }

    /// The element for a page, whose last format is that of browsers that know none of the others.
    func element(prefix: String, sizes: String) -> String {
        var types: [String] = []
        for file in files where !types.contains(file.mediaType) { types.append(file.mediaType) }
        func sourceSet(_ type: String) -> String {
            files.filter { $0.mediaType == type }
                .map { "\(Self.url(prefix, $0.name)) \($0.size.width)w" }.joined(separator: ", ")
        }
        var lines = types.dropLast().map {
            "  <source type=\"\($0)\" srcset=\"\(sourceSet($0))\" sizes=\"\(sizes.markupEscaped)\">"
        }
        if let type = types.last, let fallback = files.last(where: { $0.mediaType == type }) {
            lines.append(
                "  <img src=\"\(Self.url(prefix, fallback.name))\" srcset=\"\(sourceSet(type))\" "
                    + "sizes=\"\(sizes.markupEscaped)\" width=\"\(fallback.size.width)\" "
                    + "height=\"\(fallback.size.height)\" alt=\"\" loading=\"lazy\">")
        }
        return (["<picture>"] + lines + ["</picture>"]).joined(separator: "\n")
    }

    /// A URL whose name has no character that separates the parts of the attribute.
    private static func url(_ prefix: String, _ name: String) -> String {
        var text = prefix.markupEscaped
        for byte in name.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                byte < 0x80 && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte))
            if isPlain || [0x2D, 0x2E, 0x5F].contains(byte) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }
}

/// Makes the files of images.
struct SourceSetMaker: Sendable {
    let codecs: CodecSet
    let destinations: [ImageDestination]
    let widths: [Int]
    let folder: String

    /// Makes the files of an image; each width is decoded once.
    func make(
        _ file: InputFile, _ cancellation: CancellationFlag
    ) throws(FileFailure) -> SourceSet {
        let stem = splitFolder(splitExtension(file.path).name).file
        do throws(CodecError) {
            let source = try ImageSource(EncodedBytes(mapping: file.path), codecs: codecs)
            var images: [PixelBuffer] = []
            // An image that is smaller than all widths keeps its size.
            let smaller = Set(widths.filter { $0 <= source.pixelSize.width }).sorted()
            for width in smaller.isEmpty ? [source.pixelSize.width] : smaller {
                images.append(try decode(source, width: width, cancellation))
            }
            var files: [SourceSet.File] = []
            for destination in destinations {
                for image in images {
                    let bytes = try destination.encode(image, cancellation: cancellation)
                    let digest = MessageDigest(sha256: bytes).hexadecimal.prefix(8)
                    let fileExtension =
                        destination.format.extensions.first ?? destination.format.name
                    let name = "\(stem)-\(image.size.width)-\(digest).\(fileExtension)"
                    try ImageDestination.write(bytes, to: "\(folder)/\(name)")
                    files.append(
                        SourceSet.File(
                            name: name, mediaType: destination.format.mediaType, size: image.size,
                            byteCount: bytes.count))
                }
            }
            let small = try decode(source, width: ThumbHash.largestSide, cancellation)
            return SourceSet(
                source: file.path, size: source.pixelSize,
                thumbHash: ThumbHash(small).base64, files: files)
        } catch {
            throw FileFailure(file.path, error)
        }
    }

    private func decode(
        _ source: ImageSource, width: Int, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        var decoding = DecodeOptions()
        decoding.box = PixelSize(width: width, height: .max)
        decoding.acceptsTruncated = false
        return try source.image(decoding, cancellation: cancellation)
    }
}
