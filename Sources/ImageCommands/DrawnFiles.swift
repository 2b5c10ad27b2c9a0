// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import EncodedImages
internal import Glibc
internal import ImageCodecs
internal import Pixels

/// Returns the destination of a drawing, whose format the extension selects.
///
/// - Throws: `ValidationError` if the format cannot be written.
func drawnDestination(_ output: String, _ quality: QualityArguments) throws -> ImageDestination {
    guard let format = splitExtension(output).fileExtension else {
        throw ValidationError("unknown format: \(output) has no extension")
    }
    do throws(CodecError) {
        return try ImageDestination(
            format: format, codecs: builtInCodecs, options: quality.encodeOptions)
    } catch {
        throw ValidationError(error.description)
    }
}

/// Encodes a drawing and replaces a file.
func write(
    _ image: PixelBuffer, to path: String, _ destination: ImageDestination
) throws(FileFailure) {
    do throws(CodecError) {
        let file = try destination.encode(image)
        // An interruption from here on takes effect after the file is complete.
        try withExtendedLifetime(Interruption()) { () throws(CodecError) in
            try ImageDestination.write(file, to: path)
        }
    } catch {
        throw FileFailure(path, error)
    }
}

/// Reads a text file in UTF-8.
func readText(_ path: String, upTo limit: Int) throws(FileFailure) -> String {
    do throws(CodecError) {
        let bytes = try EncodedBytes(mapping: path)
        guard bytes.count <= limit else {
            throw .file(reason: "the file has \(bytes.count) bytes; at most \(limit) are read")
        }
        let text = bytes.withBytes { span in
            String(validating: span.indices.map { span[$0] }, as: UTF8.self)
        }
        guard let text else { throw .malformed(reason: "the text is not UTF-8", offset: 0) }
        return text
    } catch {
        throw FileFailure(path, error)
    }
}

/// Returns a path from the root folder.
func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return "\(unsafe String(cString: folder))/\(path)"
}
