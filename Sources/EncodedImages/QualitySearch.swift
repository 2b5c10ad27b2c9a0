// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// A search for the lowest quality at which the decoded image is similar enough to the original.
struct QualitySearch {
    /// The qualities that six attempts can distinguish; below them, chroma suffers more than luma shows.
    static let qualities = 32...95

    let codec: any ImageCodec
    let encoder: any ImageEncoder
    let options: EncodeOptions
    let target: Double

    /// Encodes the image at the lowest sufficient quality, which it finds by binary search.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - cancellation: checked before each attempt and while decoding.
    /// - Returns: the file of that quality, or of the highest one if none is sufficient.
    /// - Throws: ``CodecError``.
    func file(
        _ image: PixelBuffer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8] {
        let luma = image.lumaOverWhite()
        var (lowest, highest) = (Self.qualities.lowerBound, Self.qualities.upperBound)
        var best: [UInt8]?
        while lowest < highest {
            let quality = (lowest + highest) / 2
            let file = try encode(image, quality, cancellation)
            if try similarity(of: file, to: luma, cancellation) >= target {
                (highest, best) = (quality, file)
            } else {
                lowest = quality + 1
            }
        }
        if let best { return best }
        return try encode(image, highest, cancellation)
    }

    private func encode(
        _ image: PixelBuffer, _ quality: Int, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8] {
        if cancellation?.isCancelled == true { throw .cancelled }
        var options = options
        options.quality = quality
        return try encoder.encode(image, options)
    }

    /// Decodes in this process, since this process encoded the bytes.
    private func similarity(
        of file: [UInt8], to luma: PixelBuffer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> Double {
        var limits = DecodeLimits()
        // The original was within the limits.
        for name in [DecodeLimits.Name.pixelCount, .side, .byteCount, .memoryByteCount] {
            limits[name] = .max
        }
        var decoding = DecodeOptions()
        decoding.appliesOrientation = false
        decoding.convertsToSRGB = false
        decoding.acceptsYCbCr = true
        let decoded = try ImageSource(
            EncodedBytes(file), codecs: CodecSet([codec]), limits: limits
        ).image(decoding, cancellation: cancellation)
        guard decoded.size == luma.size else {
            throw .library(
                message: "an image of \(luma.size) pixels was encoded as \(decoded.size)")
        }
        return decoded.structuralSimilarity(to: luma)
    }
}
