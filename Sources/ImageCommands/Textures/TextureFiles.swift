// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs
internal import Pixels
internal import Textures

/// The `texture decode` command.
struct TextureDecode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Decodes a mip level of a texture to an image file.")

    @Argument(help: "The PVR, KTX or DDS file.", completion: .file())
    var input: String

    @Argument(
        help: "The image file to write; its extension selects the format.", completion: .file())
    var output: String

    @Option(help: "The mip level, from 0.")
    var level = 0

    func validate() throws {
        if level < 0 { throw ValidationError("invalid --level: \(level); use at least 0") }
    }

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        try sandboxing.withCodecs { codecs in try writeImage(try decodedLevel(codecs), to: output) }
    }

    private func decodedLevel(_ codecs: CodecSet) throws(FileFailure) -> PixelBuffer {
        let header = try textureHeader(input)
        guard level < header.levelCount else {
            throw FileFailure(input, "no level \(level): the last one is \(header.levelCount - 1)")
        }
        do throws(CodecError) {
            let source = try ImageSource(try EncodedBytes(mapping: input), codecs: codecs)
            // The level of exactly this size is decoded.
            var options = DecodeOptions(box: header.size(ofLevel: level), mode: .stretch)
            options.acceptsTruncated = false
            return try source.decodedImage(options).image
        } catch {
            throw FileFailure(input, error)
        }
    }
}

/// Writes an image file, whose extension selects the format.
func writeImage(_ image: PixelBuffer, to path: String) throws(FileFailure) {
    do throws(CodecError) {
        let destination = try ImageDestination(
            format: splitExtension(path).fileExtension ?? "png", codecs: builtInCodecs,
            options: EncodeOptions())
        try ImageDestination.write(try destination.encode(image), to: path)
    } catch {
        throw FileFailure(path, error)
    }
}

/// Reads the header of a texture file.
private func textureHeader(_ path: String) throws(FileFailure) -> TextureHeader {
    do throws(CodecError) {
        let bytes = try EncodedBytes(reading: path, limits: DecodeLimits())
        return try TextureHeader(bytes.copy(of: 0..<bytes.count).span)
    } catch {
        throw FileFailure(path, error)
    }
}

/// The `texture info` command.
struct TextureInfo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Prints the format and the mip levels of texture files.",
        discussion: """
            With --json, the output is an array with one object per file. Its keys are file, \
            container, format, bitsPerPixel, width, height, alpha (opaque, straight or \
            premultiplied), isLinear, isFlipped, supercompression, faceCount, layerCount and levels, an array of \
            objects with the keys width, height, offset and byteCount. A file that cannot be read \
            has the keys file and error.
            """)

    @Argument(help: "The PVR, KTX or DDS files.", completion: .file())
    var files: [String]

    @Flag(help: "Print a JSON array instead of text.")
    var json = false

    func run() throws {
        var objects: [JSON] = []
        var failureCount = 0
        for file in files {
            do throws(FileFailure) {
                let header = try textureHeader(file)
                objects.append(Self.json(header, file))
                if !json { print(Self.text(header, file)) }
            } catch {
                failureCount += 1
                objects.append(error.json)
                report(error)
            }
        }
        if json { print(JSON.array(objects).text()) }
        if failureCount > 0 { throw ExitCode(1) }
    }

    private static func bitsPerPixel(_ header: TextureHeader) -> JSON {
        let (bits, area) = (header.format.blockByteCount * 8, header.format.blockSize.area)
        return bits % area == 0
            ? .integer(bits / area)
            : .number((Double(bits) / Double(area) * 100).rounded() / 100)
    }

    private static func text(_ header: TextureHeader, _ file: String) -> String {
        var lines = [
            file,
            "  container   \(header.container.rawValue)",
            "  format      \(header.format.name), \(bitsPerPixel(header).text()) bits per pixel",
            "  size        \(header.size)",
            "  alpha       \(header.alpha.rawValue)",
        ]
        if let scheme = header.supercompression {
            lines.append("  compressed  \(scheme.rawValue)")
        }
        if header.faceCount > 1 { lines.append("  faces       \(header.faceCount)") }
        if header.layerCount > 1 { lines.append("  layers      \(header.layerCount)") }
        for (level, range) in header.levels.enumerated() {
            let name = "level \(level)"
            let padding = String(repeating: " ", count: max(1, 12 - name.count))
            lines.append("  \(name)\(padding)\(header.size(ofLevel: level)), \(range.count) bytes")
        }
        return lines.joined(separator: "\n")
    }

    private static func json(_ header: TextureHeader, _ file: String) -> JSON {
        let levels = header.levels.enumerated().map { level, range in
            JSON.object([
                .init("width", .integer(header.size(ofLevel: level).width)),
                .init("height", .integer(header.size(ofLevel: level).height)),
                .init("offset", .integer(range.lowerBound)),
                .init("byteCount", .integer(range.count)),
            ])
        }
        return .object([
            .init("file", .string(file)),
            .init("container", .string(header.container.rawValue)),
            .init("format", .string(header.format.name)),
            .init("bitsPerPixel", bitsPerPixel(header)),
            .init("width", .integer(header.size.width)),
            .init("height", .integer(header.size.height)),
            .init("alpha", .string(header.alpha.rawValue)),
            .init("isLinear", .bool(header.isLinear)),
            .init("isFlipped", .bool(header.isFlipped)),
            .init(
                "supercompression",
                header.supercompression.map { .string($0.rawValue) } ?? .null),
            .init("faceCount", .integer(header.faceCount)),
            .init("layerCount", .integer(header.layerCount)),
            .init("levels", .array(levels)),
        ])
    }
}
