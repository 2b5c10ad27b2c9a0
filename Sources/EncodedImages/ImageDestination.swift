// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
public import Pixels

/// Writes pictures in one format.
public struct ImageDestination: Sendable {
    public let format: ImageFormat
    public let options: EncodeOptions
    private let codec: any ImageCodec
    private let encoder: any ImageEncoder
    private let remote: (any RemoteDecoder)?

    /// - Parameters:
    ///   - format: a format's name or one of its file name extensions, in any case.
    ///   - codecs: the formats that are known.
    ///   - options: how the picture is written.
    /// - Throws: ``CodecError/unsupported(feature:)`` if the format is unknown or can only be read.
    public init(
        format: String, codecs: CodecSet, options: EncodeOptions = EncodeOptions()
    ) throws(CodecError) {
        guard let codec = codecs.codec(named: format), let encoder = codec.encoder else {
            let missing = codecs.missing.first { $0.format.isNamed(format) }
            if case .notBuiltIn = missing?.error, let error = missing?.error { throw error }
            throw .unsupported(feature: "writing the format \u{201C}\(format)\u{201D}")
        }
        self.format = codec.format
        self.codec = codec
        self.encoder = encoder
        remote = codecs.remoteDecoder
        self.options = options
    }

    /// Whether whoever decodes a picture for it should set ``DecodeOptions/acceptsYCbCr``.
    public var prefersYCbCr: Bool { encoder.prefersYCbCr(options) }

    /// Whether files of the format say of which colours their pictures are.
    public var writesColorProfiles: Bool { encoder.writesColorProfiles }

    /// Whether files of the format may move.
    public var writesAnimations: Bool { encoder is any AnimationEncoder }

    /// Encodes a picture; where ``EncodeOptions/targetSSIM`` says so, at the quality that it needs.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - cancellation: set by another thread to end the work: between the attempts at a quality,
    ///     and at any time where a ``RemoteDecoder`` encodes.
    /// - Returns: the bytes of a whole file.
    /// - Throws: ``CodecError``.
    public func encode(
        _ image: PixelBuffer, cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> [UInt8] {
        if let remote, encoder.isSlow(image.size, options) {
            return try remote.encode(
                image, as: format.name, options, cancellation: cancellation)
        }
        guard let target = options.targetSSIM, encoder.dependsOnQuality(options) else {
            return try encoder.encode(image, options)
        }
        return try QualitySearch(
            codec: codec, encoder: encoder, options: options, target: target
        ).file(image, cancellation)
    }

    /// Writes an animation frame by frame.
    ///
    /// - Parameters:
    ///   - size: the size of every frame in pixels.
    ///   - loopCount: how often it is to be shown in all; 0 means for ever.
    /// - Returns: what takes the frames.
    /// - Throws: ``CodecError/unsupported(feature:)`` if the format shows one picture only.
    public func animationWriter(
        _ size: PixelSize, loopCount: Int
    ) throws(CodecError) -> any AnimationWriter {
        guard let encoder = encoder as? any AnimationEncoder else {
            throw .unsupported(feature: "animations in the format \(format.name)")
        }
        return try encoder.animationWriter(size, loopCount: loopCount, options)
    }

    /// Encodes the image and writes the file, atomically: under a temporary name in the same folder,
    /// then renamed.
    public func write(
        _ image: PixelBuffer, to path: String, cancellation: CancellationFlag? = nil
    ) throws(CodecError) {
        try Self.write(try encode(image, cancellation: cancellation), to: path)
    }

    /// Writes a file atomically: under a temporary name in the same folder, then renamed.
    public static func write(_ file: [UInt8], to path: String) throws(CodecError) {
        try replaceFile(path, with: file)
    }
}

private func replaceFile(_ path: String, with bytes: [UInt8]) throws(CodecError) {
    guard let (descriptor, temporary) = makeTemporaryFile("\(path).") else {
        throw .file(reason: systemError(errno))
    }
    var failure: String?
    var written = 0
    while written < bytes.count && failure == nil {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe write(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written)
        }
        if count >= 0 { written += count } else if errno != EINTR { failure = systemError(errno) }
    }
    // The permissions that an ordinary new file would have: mkstemp gives none to others.
    let mask = umask(0)
    umask(mask)
    if fchmod(descriptor, 0o666 & ~mask) != 0 { failure = failure ?? systemError(errno) }
    if close(descriptor) != 0 { failure = failure ?? systemError(errno) }
    if failure == nil, unsafe rename(temporary, path) != 0 { failure = systemError(errno) }
    if let failure {
        unsafe unlink(temporary)
        throw .file(reason: failure)
    }
}
