// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// What a picture that was decoded elsewhere may be.
///
/// The process that decoded it may be in the hands of a stranger, and the file may have been changed
/// since its header was read. What takes the picture relies on its size and format, and traps on others.
struct ResultForm {
    private let size: PixelSize
    private let formats: Set<PixelFormat>

    init(_ header: ImageHeader, _ options: DecodeOptions) {
        size = DecodePlan(header, options).resultSize
        if let format = options.pixelFormat {
            formats = [format]
            return
        }
        var formats: Set<PixelFormat> = [.gray8, .rgb8, .rgba8]
        if options.keepsDepth { formats.formUnion([.gray16, .rgb16, .rgba16]) }
        if options.acceptsYCbCr { formats.insert(.yCbCr420) }
        self.formats = formats
    }

    /// Checks a picture that came back.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - anySize: whether it may be of another size, as previews are.
    /// - Throws: ``CodecError/decoderStopped(_:)``.
    func check(_ image: PixelBuffer, anySize: Bool = false) throws(CodecError) {
        guard formats.contains(image.format) else {
            throw .decoderStopped(.nonsense(reason: "a picture in the format \(image.format)"))
        }
        // An embedded thumbnail has proportions that are rounded in another way.
        guard
            anySize
                || abs(image.size.width - size.width) <= 1
                    && abs(image.size.height - size.height) <= 1
        else {
            throw .decoderStopped(
                .nonsense(reason: "a picture of \(image.size) pixels instead of \(size)"))
        }
    }
}
