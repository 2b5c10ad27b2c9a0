// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// The properties of an image file that a listing shows.
package struct ImageSummary: Sendable {
    /// The format of the file.
    package let format: ImageFormat
    /// The size of the upright image in pixels.
    package let pixelSize: PixelSize

    /// A summary whose values the caller provides.
    package init(format: ImageFormat, pixelSize: PixelSize) {
        self.format = format
        self.pixelSize = pixelSize
    }

    /// Reads the headers of files; no pixel is decoded.
    ///
    /// A remote decoder reads several in one exchange, which takes a fraction of the time of as many
    /// ``ImageSource``s.
    ///
    /// - Parameters:
    ///   - files: the files.
    ///   - codecs: the known formats.
    ///   - limits: the limits on each file.
    /// - Returns: the result of each file.
    package static func summaries(
        of files: [EncodedBytes], codecs: CodecSet, limits: DecodeLimits
    ) -> [Result<ImageSummary, CodecError>] {
        guard let remote = codecs.remoteDecoder else {
            return files.map { file in
                Result { () throws(CodecError) in
                    let source = try ImageSource(file, codecs: codecs, limits: limits)
                    return ImageSummary(format: source.format, pixelSize: source.pixelSize)
                }
            }
        }
        return zip(files, remote.sizes(of: files, limits: limits)).map { file, result in
            Result { () throws(CodecError) in
                let (name, size) = try file.whileUnchanged { () throws(CodecError) in
                    try result.get()
                }
                try limits.check(size)
                return ImageSummary(format: try codecs.format(named: name), pixelSize: size)
            }
        }
    }
}
