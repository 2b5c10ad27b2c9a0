// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// The same picture in a format of one plane: ``PixelFormat/yCbCr420`` becomes
    /// ``PixelFormat/rgb8`` by JFIF's matrix, colours enlarged linearly; others stay as they are.
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
