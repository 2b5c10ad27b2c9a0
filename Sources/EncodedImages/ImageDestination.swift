// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
public import Pixels

/// An encoder of images in one format.
public struct ImageDestination: Sendable {
    /// The format.
    public let format: ImageFormat
    /// The options for every image.
    public private(set) var options: EncodeOptions
    private let codec: any ImageCodec
    private let encoder: any ImageEncoder
    private let remote: (any RemoteDecoder)?

    /// A destination for a format.
    ///
    /// - Parameters:
    ///   - format: the name of a format or one of its file extensions, ignoring case.
    ///   - codecs: the known formats.
    ///   - options: the options for every image.
    /// - Throws: ``CodecError/unsupported(feature:)`` if the format is unknown or can only be read, or
    ///   ``CodecError/notBuiltIn(format:trait:)``.
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

    /// Whether the caller should decode images with ``DecodeOptions/acceptsYCbCr``.
    public var prefersYCbCr: Bool { encoder.prefersYCbCr(options) }

    /// Whether files of the format contain colour profiles.
    public var writesColorProfiles: Bool { encoder.writesColorProfiles }

    /// Whether files of the format contain gain maps.
    public var writesGainMaps: Bool { encoder.writesGainMaps }

    /// Whether files of the format contain images in HDR; see ``ImageSource/imageInHDR(_:headroom:cancellation:)``.
    public var writesHDR: Bool { encoder.writesHDR }

    /// Returns the destination for an image with a gain map; unchanged if its format has none.
    public func adding(_ map: GainMap?) -> ImageDestination {
        guard writesGainMaps else { return self }
        var destination = self
        destination.options.gainMap = map
        return destination
    }

    /// Returns whether files of the format can state this colour space of the samples.
    public func stores(_ profile: ColorProfile) -> Bool { encoder.stores(profile) }

    /// Whether files of the format may be animated.
    public var writesAnimations: Bool { encoder is any AnimationEncoder }

    /// Encodes an image, at the quality that ``EncodeOptions/targetSSIM`` requires if it is set.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - cancellation: cancels the work between attempts at a quality, or at any time if a
    ///     ``RemoteDecoder`` encodes.
    /// - Returns: the bytes of a whole file.
    /// - Throws: ``CodecError``.
    public func encode(
        _ image: PixelBuffer, cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> [UInt8] {
        let file = try encodeAlone(image, cancellation)
        guard let map = options.gainMap else { return file }
        return try encoder.adding(map, to: file)
    }

    private func encodeAlone(
        _ image: PixelBuffer, _ cancellation: CancellationFlag?
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

    /// Starts an animation.
    ///
    /// - Parameters:
    ///   - size: the size of every frame in pixels.
    ///   - loopCount: the number of times that the animation is played; 0 means infinitely. More than
    ///     the format can express becomes its maximum.
    /// - Returns: a writer of the frames.
    /// - Throws: ``CodecError/unsupported(feature:)`` if the format has no animations.
    public func animationWriter(
        _ size: PixelSize, loopCount: Int
    ) throws(CodecError) -> any AnimationWriter {
        guard let encoder = encoder as? any AnimationEncoder else {
            throw .unsupported(feature: "animations in the format \(format.name)")
        }
        return try encoder.animationWriter(size, loopCount: loopCount, options)
    }

    /// Encodes an image and writes the file atomically: to a temporary name in the same folder, which is
    /// then renamed.
    ///
    /// - Throws: ``CodecError``, ``CodecError/file(reason:)`` if the file cannot be written.
    public func write(
        _ image: PixelBuffer, to path: String, cancellation: CancellationFlag? = nil
    ) throws(CodecError) {
        try Self.write(try encode(image, cancellation: cancellation), to: path)
    }

    /// Writes a file atomically: to a temporary name in the same folder, which is then renamed.
    ///
    /// A file that it replaces passes on its permissions.
    ///
    /// - Throws: ``CodecError/file(reason:)``.
    public static func write(_ file: [UInt8], to path: String) throws(CodecError) {
        try replaceFile(path, with: file, isPrivate: false)
    }

    /// Writes a file like ``write(_:to:)`` that only its owner may read.
    ///
    /// - Throws: ``CodecError/file(reason:)``.
    package static func write(privately file: [UInt8], to path: String) throws(CodecError) {
        try replaceFile(path, with: file, isPrivate: true)
    }
}

private func replaceFile(
    _ path: String, with bytes: [UInt8], isPrivate: Bool
) throws(CodecError) {
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
    // mkstemp grants none to others.
    if !isPrivate, fchmod(descriptor, permissions(of: path)) != 0 {
        failure = failure ?? systemError(errno)
    }
    if close(descriptor) != 0 { failure = failure ?? systemError(errno) }
    if failure == nil, unsafe rename(temporary, path) != 0 { failure = systemError(errno) }
    if let failure {
        unsafe unlink(temporary)
        throw .file(reason: failure)
    }
}

/// Returns the permissions of a file, or those of an ordinary new file if it does not exist.
private func permissions(of path: String) -> mode_t {
    var status = stat()
    if unsafe stat(path, &status) == 0 { return status.st_mode & 0o777 }
    let mask = umask(0)
    umask(mask)
    return 0o666 & ~mask
}
