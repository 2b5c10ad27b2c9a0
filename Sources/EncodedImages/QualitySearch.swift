// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Finds the lowest quality at which a picture is as like what was encoded as is wanted.
struct QualitySearch {
    /// As many as six attempts can tell apart; below them colours suffer more than luma tells.
    static let qualities = 32...95

    let codec: any ImageCodec
    let encoder: any ImageEncoder
    let options: EncodeOptions
    let target: Double

    /// Halves the range of qualities that may be the lowest one until one is left.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - cancellation: looked at before each attempt and while one is decoded.
    /// - Returns: the file of that quality, or of the best one if none is enough.
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

    /// Decodes in this process: the bytes are our own.
    private func similarity(
        of file: [UInt8], to luma: PixelBuffer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> Double {
        var limits = DecodeLimits()
        // What could be encoded is no larger than was allowed.
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
            throw .library(message: "\(luma.size) pixels were encoded as \(decoded.size)")
        }
        return decoded.structuralSimilarity(to: luma)
    }
}
