// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// A part of the picture at another size.
    ///
    /// - Parameters:
    ///   - region: the part, within the picture.
    ///   - size: what the part becomes; both sides at least 1.
    ///   - kernel: what weighs the pixels by distance.
    /// - Returns: a picture of the same format, which is planar or has whole samples in bytes of
    ///   their own.
    public func resized(
        _ region: SampleRegion, to size: PixelSize, kernel: ResamplingKernel = .lanczos3
    ) -> PixelBuffer {
        guard format == .yCbCr420 else {
            var resampler = RowResampler(
                from: self.size, format, region: region, to: size, kernel: kernel,
                colorProfile: colorProfile)
            for y in 0..<self.size.height { resampler.append(row(y)) }
            return resampler.finish()
        }
        let planes = (0..<3).map { index in
            let plane = format.plane(index)
            return SourcePlane(
                size: format.planeSize(index, of: self.size),
                horizontalScale: 1 / Double(plane.horizontalSubsampling),
                verticalScale: 1 / Double(plane.verticalSubsampling))
        }
        var resampler = YCbCrResampler(
            from: planes, region: region, to: size, format, kernel: kernel,
            colorProfile: colorProfile)
        for plane in 0..<3 {
            for y in 0..<planes[plane].size.height {
                resampler.append(row(y, plane: plane), plane: plane)
            }
        }
        return resampler.finish()
    }
}
