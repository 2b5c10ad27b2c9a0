// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image in a single-plane format; O(1) unless it is ``PixelFormat/yCbCr420``.
    ///
    /// ``PixelFormat/yCbCr420`` becomes ``PixelFormat/rgb8`` by JFIF's matrix, with linear chroma
    /// upsampling.
    ///
    /// - SeeAlso: ITU-T T.871 (JFIF), section 7.
    public func convertedFromYCbCr() -> PixelBuffer {
        guard format == .yCbCr420 else { return self }
        var resampler = YCbCrResampler(
            from: (0..<3).map { plane in
                let scale = plane == 0 ? 1 : 0.5
                return SourcePlane(
                    size: layout(ofPlane: plane).size, horizontalScale: scale,
                    verticalScale: scale)
            },
            region: SampleRegion(size), to: size, .rgb8, colorProfile: colorProfile)
        for y in 0..<size.height {
            if y % 2 == 0 {
                resampler.append(row(y / 2, plane: 1), plane: 1)
                resampler.append(row(y / 2, plane: 2), plane: 2)
            }
            resampler.append(row(y), plane: 0)
        }
        return resampler.finish()
    }
}
