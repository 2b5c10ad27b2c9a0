// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// What the folder of a format contributes to ``builtInCodecs`` and
/// ``sandboxCodecs(loading:)``.
struct CodecEntry: Sendable {
    /// The codecs of the folder; none if its library was not built in.
    var codecs: [any ImageCodec] = []
    /// The format that is recognized but was not built in.
    var missing: CodecSet.MissingFormat?
    /// Whether files are decoded only in a sandbox, because their library is large or old, or because
    /// a file can keep it busy without end.
    var isSandboxOnly = false
    /// Loads the library that the first file would load otherwise.
    var preload: (@Sendable () -> Void)?
    /// Loads the library that only the encoder uses.
    var encoderPreload: (@Sendable () -> Void)?
    /// Makes files whose decoding lets the library read what it needs of the system, such as fonts.
    var rehearsals: (@Sendable () -> [[UInt8]])?
    /// Whether a process that decodes many formats leaves this one to another process, because preparing for
    /// it takes long.
    var needsOwnProcess = false
    /// Converts between colour spaces, for all formats.
    var colorConverter: (any ColorConverter)?

    init(
        _ codecs: any ImageCodec..., preload: (@Sendable () -> Void)? = nil,
        encoderPreload: (@Sendable () -> Void)? = nil
    ) {
        self.codecs = codecs
        self.preload = preload
        self.encoderPreload = encoderPreload
    }

    /// Returns whether the folder contains the codec of a format.
    func has(_ format: String) -> Bool { codecs.contains { $0.format.isNamed(format) } }

    /// Whether a process must prepare before it decodes a file after it has given up its access to the
    /// system.
    var preparesDecoding: Bool { preload != nil || rehearsals != nil }

    /// Whether a library is loaded when it is first needed.
    var loadsLibraries: Bool { preload != nil || encoderPreload != nil }

    /// A format whose trait is off.
    init(missing format: ImageFormat, trait: String) {
        missing = CodecSet.MissingFormat(format, trait: trait)
    }
}
