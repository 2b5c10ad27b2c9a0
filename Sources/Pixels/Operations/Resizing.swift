// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns a region of the image, resampled to another size.
    ///
    /// The format must be ``PixelFormat/yCbCr420`` or have whole samples
    /// (``PixelFormat/withIntegerSamples``).
    ///
    /// - Parameters:
    ///   - region: the source region in pixels, within the image.
    ///   - size: the size of the result in pixels; both sides at least 1.
    ///   - kernel: the resampling filter.
    /// - Returns: an image of `size` pixels, with the same format and colour profile.
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
