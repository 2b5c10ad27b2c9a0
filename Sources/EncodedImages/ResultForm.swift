// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The size and the pixel formats that a remotely decoded image may have.
///
/// An attacker may control the process that decoded it, and the file may have changed since its header
/// was read. The code that receives the image relies on its size and format, and traps on others.
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

    /// Checks a received image.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - anySize: whether it may have another size, as previews do.
    /// - Throws: ``CodecError/decoderStopped(_:)``.
    func check(_ image: PixelBuffer, anySize: Bool = false) throws(CodecError) {
        guard formats.contains(image.format) else {
            throw .decoderStopped(
                .nonsense(reason: "image in the unexpected format \(image.format)"))
        }
        // The aspect ratio of an embedded thumbnail is rounded differently.
        guard
            anySize
                || abs(image.size.width - size.width) <= 1
                    && abs(image.size.height - size.height) <= 1
        else {
            throw .decoderStopped(
                .nonsense(reason: "image of \(image.size) pixels instead of \(size)"))
        }
    }
}
