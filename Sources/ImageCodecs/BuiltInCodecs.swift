// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// The formats, one line for each folder, in an order without a meaning.
private let entries: [CodecEntry] = [
    .bmp,
    .gif,
    .ico,
    .qoi,
    .xbm,
    .packedPixels,
    .jpeg,
    .png,
    .webP,
    .tiff,
    .avif,
    .heif,
    .jpegXL,
    .jpeg2000,
    .jpng,
    .raw,
    .svg,
    .icc,
]

/// Every codec that was built in.
///
/// Formats that may only be decoded in a sandbox are recognized, and their files are refused.
public let builtInCodecs = codecSet(
    entries.flatMap { entry in
        entry.isSandboxOnly ? entry.codecs.map(\.rejectedOutsideSandbox) : entry.codecs
    })

/// Every codec that was built in, for a process that can do nothing but decode.
///
/// The first use loads all libraries, while the process is still able to.
public let sandboxCodecs = {
    for entry in entries { entry.preload?() }
    return codecSet(entries.flatMap(\.codecs))
}()

/// Files whose decoding makes libraries read what they need of the system, such as locales and fonts.
///
/// A process decodes them before it gives up its access to the system.
public let sandboxRehearsals = entries.flatMap { $0.rehearsals?() ?? [] }

private func codecSet(_ codecs: [any ImageCodec]) -> CodecSet {
    CodecSet(
        codecs, missing: entries.compactMap(\.missing),
        colorConverter: entries.lazy.compactMap(\.colorConverter).first)
}
