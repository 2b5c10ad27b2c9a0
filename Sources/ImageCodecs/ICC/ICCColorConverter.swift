// SPDX-License-Identifier: Apache-2.0

#if ICC
internal import CICC
internal import EncodedImages
internal import Pixels

/// Converts to sRGB with lcms2 by perceptual intent; profiles equivalent to sRGB are detected
/// and not converted.
struct ICCColorConverter: ColorConverter {
    func convertedToSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
        let profile = image.colorProfile
        let isSRGB = profile.isSRGB
        if !isSRGB, image.format == .yCbCr420 { image = image.convertedFromYCbCr() }
        let format = image.format
        var result = MutablePixelBuffer(consume image)
        result.colorProfile = .sRGB
        if isSRGB { return result.finish() }
        try unsafe requireLibrary(calotype_icc_missing())
        guard let transform = ICCTransform(from: profile, format) else {
            return result.finish()
        }
        for y in 0..<result.size.height {
            result.withMutableRow(y) { row in
                if format == .rgba8 { PremultipliedAlpha.divide(&row) }
                if format == .rgba16 { PremultipliedAlpha.divide16(&row) }
                transform.convert(&row)
                if format == .rgba8 { PremultipliedAlpha.multiply(&row) }
                if format == .rgba16 { PremultipliedAlpha.multiply16(&row) }
            }
        }
        return result.finish()
    }

    func convertedToExtendedSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer {
        let profile = image.colorProfile
        var result = MutablePixelBuffer(image.converted(to: .rgbaHalf))
        result.colorProfile = .sRGB
        if profile.isSRGB { return result.finish() }
        try unsafe requireLibrary(calotype_icc_missing())
        guard let transform = ICCTransform(from: profile, .rgbaHalf) else {
            return result.finish()
        }
        var straight = [Float](repeating: 0, count: result.size.width * 4)
        for y in 0..<result.size.height {
            result.withMutableRow(y) { row in
                HalfRow.read(row.span, dividedByAlpha: &straight)
                transform.convert(&straight)
                HalfRow.write(straight, multipliedByAlpha: &row)
            }
        }
        return result.finish()
    }
}
#endif

/// The conversion of colours for all formats.
var iccEntry: CodecEntry {
    #if ICC
    var entry = CodecEntry(preload: { _ = unsafe calotype_icc_missing() })
    entry.colorConverter = ICCColorConverter()
    return entry
    #else
    CodecEntry()
    #endif
}
