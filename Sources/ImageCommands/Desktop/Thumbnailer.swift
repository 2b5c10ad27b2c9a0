// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs
internal import Glibc

/// The program that file managers execute for each file without a thumbnail.
///
/// Arguments are bytes, because names of files may be invalid UTF-8.
package struct Thumbnailer {
    private let input: [UInt8]
    private let output: [UInt8]
    private let side: Int

    private static let usage = """
        usage: calotype-thumbnailer [-s SIZE] INPUT OUTPUT

        Writes a thumbnail of an image as a PNG file, by the Thumbnail Managing Standard.

          INPUT    a path or a file: URI
          OUTPUT   the path of the PNG file, which is overwritten
          -s SIZE  the maximum length of the longer side, from 1 to 4096 pixels (default: 128)

        """

    /// Makes the thumbnail of the arguments of this process.
    ///
    /// - Returns: The exit code: 0, 1 if the file cannot be read or written, 64 for invalid arguments.
    package static func run() -> Int32 {
        let arguments = commandLine()
        if arguments.contains(where: { $0.elementsEqual("--help".utf8) }) {
            print(usage, terminator: "")
            return 0
        }
        if arguments.contains(where: { $0.elementsEqual("--version".utf8) }) {
            print("calotype-thumbnailer \(calotypeVersion)")
            return 0
        }
        guard let thumbnailer = Thumbnailer(arguments) else {
            writeToStandardError(usage)
            return 64
        }
        do throws(FileFailure) {
            try thumbnailer.makeThumbnail()
            return 0
        } catch {
            writeToStandardError("calotype-thumbnailer: \(error)\n")
            return 1
        }
    }

    init?(_ arguments: [[UInt8]]) {
        var side: Int? = 128
        var paths: [[UInt8]] = []
        var rest = arguments[...]
        var hasOptions = true
        while let argument = rest.popFirst() {
            if hasOptions, argument.elementsEqual("--".utf8) {
                hasOptions = false
            } else if hasOptions, argument.elementsEqual("-s".utf8) {
                side = rest.popFirst().flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            } else if hasOptions, argument.first == UInt8(ascii: "-") {
                return nil
            } else {
                paths.append(argument)
            }
        }
        guard let side, 1...4096 ~= side, paths.count == 2 else { return nil }
        (self.side, input, output) = (side, paths[0], paths[1])
    }

    private func makeThumbnail() throws(FileFailure) {
        let name = String(decoding: input, as: UTF8.self)
        guard let uri = FileURI(input, relativeTo: workingDirectory()) else {
            throw FileFailure(name, "not a local file; use a path or a file: URI")
        }
        let sandbox = DecoderSandbox(Self.configuration)
        defer { sandbox.close() }
        let thumbnail: [UInt8]
        do throws(CodecError) {
            thumbnail = try ThumbnailMaker(builtInCodecs.decoded(by: sandbox))
                .thumbnails(of: try ThumbnailedFile(uri), sides: [side])[0]
        } catch {
            throw FileFailure(name, error)
        }
        try write(thumbnail)
    }

    /// A file manager waits for the thumbnail, and makes many: a file that needs more time or memory
    /// than this has none.
    private static var configuration: DecoderSandbox.Configuration {
        var configuration = DecoderSandbox.Configuration(
            workerPath: path(ofSiblingProgram: "calotype-decoder"), workerCount: 1)
        configuration.memoryByteCount = 224 << 20
        configuration.deadlineSeconds = 4
        configuration.loadsOnlyNeededLibraries()
        return configuration
    }

    /// Writes into the file that exists, if any: tumbler creates it, and reads it by its descriptor.
    private func write(_ thumbnail: [UInt8]) throws(FileFailure) {
        let name = String(decoding: output, as: UTF8.self)
        let path = output.map(CChar.init(bitPattern:)) + [0]
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure(name, lastSystemError()) }
        var failure = writeAll(thumbnail, to: descriptor)
        if close(descriptor) != 0 { failure = failure ?? lastSystemError() }
        if let failure { throw FileFailure(name, failure) }
    }
}

/// Returns the bytes of the arguments of this process, without its name.
private func commandLine() -> [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).map { index in
        guard let argument = unsafe CommandLine.unsafeArgv[index] else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: argument, count: strlen(argument)))
            .map(UInt8.init(bitPattern:))
    }
}
