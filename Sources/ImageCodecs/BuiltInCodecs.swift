// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// The formats, one line for each folder, in an order without a meaning.
private let entries: [CodecEntry] = [
    bmpEntry,
    gifEntry,
    icoEntry,
    qoiEntry,
    xbmEntry,
    packedPixelsEntry,
    jpegEntry,
    pngEntry,
    webPEntry,
    tiffEntry,
    avifEntry,
    heifEntry,
    jpegXLEntry,
    jpeg2000Entry,
    jpngEntry,
    rawEntry,
    svgEntry,
    pdfEntry,
    textureEntry,
    ktx2Entry,
    cardEntry,
    iccEntry,
]

/// Every codec that was built in.
///
/// Formats that may only be decoded in a sandbox are recognized, and their files are refused.
public let builtInCodecs = codecSet(
    entries.flatMap { entry in
        entry.isSandboxOnly ? entry.codecs.map(\.rejectedOutsideSandbox) : entry.codecs
    })

/// Loads libraries for every codec that was built in, in a process that can do nothing but decode and encode.
///
/// - Parameter formats: the formats whose libraries are loaded now, while the process is still able to;
///   `nil` for all. A file of another format that needs a library cannot be decoded later.
/// - Returns: the codecs of all formats.
public func sandboxCodecs(loading formats: Set<String>? = nil) -> CodecSet {
    for entry in entries where entry.isLoaded(with: formats) {
        entry.preload?()
        entry.encoderPreload?()
    }
    return codecSet(entries.flatMap(\.codecs))
}

/// Makes files whose decoding lets libraries read what they need of the system, such as locales and
/// fonts.
///
/// A process decodes them before it gives up its access to the system.
///
/// - Parameter formats: the formats that the process will decode; `nil` for all.
/// - Returns: whole files.
public func sandboxRehearsals(of formats: Set<String>? = nil) -> [[UInt8]] {
    entries.filter { $0.isLoaded(with: formats) }.flatMap { $0.rehearsals?() ?? [] }
}

/// Returns the name of the format of a file if a process must load its library to decode the file in a
/// sandbox; `nil` if the decoder is part of the program, and for files of unknown formats.
public func sandboxFormat(toDecode file: EncodedBytes) -> String? {
    guard let name = builtInCodecs.codec(forMapped: file)?.format.name else { return nil }
    return entries.contains { $0.has(name) && $0.preparesDecoding } ? name : nil
}

/// Returns `format` if a process must load a library to encode images in it in a sandbox.
public func sandboxFormat(toEncode format: String) -> String? {
    entries.contains { $0.has(format) && $0.loadsLibraries } ? format : nil
}

/// The formats whose libraries a process loads that decodes and encodes many formats in a sandbox.
///
/// The others have processes of their own, because preparing for one of them takes as long as for all of
/// these.
public let sharedSandboxFormats = Set(
    entries.filter { !$0.needsOwnProcess && $0.loadsLibraries }
        .flatMap { $0.codecs.map(\.format.name) })

private let separateCodecs = CodecSet(entries.filter(\.needsOwnProcess).flatMap(\.codecs))

/// Returns the formats whose libraries a process loads to decode a file in a sandbox, if such processes
/// decode many files.
///
/// - Parameter file: the file, of which at most 4 KiB are read.
/// - Returns: ``sharedSandboxFormats``, or the format of the file alone.
public func sharedSandboxFormats(toDecode file: EncodedBytes) -> Set<String> {
    let start = file.copy(of: 0..<min(file.count, 4096))
    return separateCodecs.codec(for: start.span).map { [$0.format.name] } ?? sharedSandboxFormats
}

/// Returns the formats whose libraries a process loads to encode in a format in a sandbox, if such
/// processes encode many images.
public func sharedSandboxFormats(toEncode format: String) -> Set<String> {
    entries.contains { $0.needsOwnProcess && $0.has(format) } ? [format] : sharedSandboxFormats
}

extension CodecEntry {
    fileprivate func isLoaded(with formats: Set<String>?) -> Bool {
        // Colour conversion has no format.
        codecs.isEmpty || formats?.contains(where: has) ?? true
    }
}

private func codecSet(_ codecs: [any ImageCodec]) -> CodecSet {
    CodecSet(
        codecs, missing: entries.compactMap(\.missing),
        colorConverter: entries.lazy.compactMap(\.colorConverter).first)
}
