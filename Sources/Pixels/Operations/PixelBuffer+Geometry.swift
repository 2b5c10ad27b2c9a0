// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns a copy of a rectangle of the image.
    ///
    /// - Parameter part: the rectangle in pixels; not empty and within the image. Of an image with
    ///   subsampled planes it starts at a sample of each plane: in ``PixelFormat/yCbCr420`` at even
    ///   coordinates.
    /// - Returns: an image of the size of `part`, with the same format and colour profile.
    public func cut(_ part: PixelRect) -> PixelBuffer {
        precondition(
            !part.isEmpty && PixelRect(size).contains(part),
            "\(part) is empty or outside the image of \(size) pixels")
        var result = MutablePixelBuffer(
            size: part.size, format: format, colorProfile: colorProfile)
        for index in 0..<format.planeCount {
            let plane = format.plane(index)
            precondition(
                part.x % plane.horizontalSubsampling == 0
                    && part.y % plane.verticalSubsampling == 0,
                "\(part) starts between two samples of plane \(index)")
            let planeSize = format.planeSize(index, of: part.size)
            let start = part.x / plane.horizontalSubsampling * plane.bytesPerPixel
            let columns = start..<start + planeSize.width * plane.bytesPerPixel
            let top = part.y / plane.verticalSubsampling
            for y in 0..<planeSize.height {
                let source = row(top + y, plane: index).extracting(columns)
                result.withMutableRow(y, plane: index) { $0.copy(source, at: 0) }
            }
        }
        return result.finish()
    }

    /// Returns the image rotated and mirrored so that an image stored in `orientation` is upright.
    ///
    /// O(1) for ``Orientation/upright``.
    public func turned(_ orientation: Orientation) -> PixelBuffer {
        guard orientation != .upright else { return self }
        var writer = OrientedWriter(size, format, colorProfile, orientation: orientation)
        for plane in 0..<format.planeCount {
            for y in 0..<format.planeSize(plane, of: size).height {
                writer.append(row(y, plane: plane), plane: plane)
            }
        }
        return writer.finish()
    }

    /// Returns the image in black and white, as ``PixelFormat/gray8``: luma from 128 becomes 255.
    public func thresholded() -> PixelBuffer {
        let gray = converted(to: .gray8)
        var result = MutablePixelBuffer(size: size, format: .gray8, colorProfile: colorProfile)
        for y in 0..<size.height {
            let source = gray.row(y)
            result.withMutableRow(y) { target in
                for x in source.indices { target[x] = source[x] < 128 ? 0 : 255 }
            }
        }
        return result.finish()
    }

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

    /// Returns the image with each row transformed, in a format that needs no dithering.
    func mapped(to format: PixelFormat, _ transform: (inout DeepRow, Int) -> Void) -> PixelBuffer {
        guard self.format.planeCount == 1 else {
            return convertedFromYCbCr().mapped(to: format, transform)
        }
        var result = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
        var deepRow = DeepRow(width: size.width)
        for y in 0..<size.height {
            deepRow.unpack(row(y), self.format)
            transform(&deepRow, y)
            result.withMutableRow(y) { deepRow.pack(format, into: &$0) }
        }
        return result.finish()
    }
}

extension MutablePixelBuffer {
    /// Copies an image into this one; both have the same format.
    ///
    /// - Parameters:
    ///   - image: the image to copy; it must fit at `place`.
    ///   - place: the position of its top left corner, in pixels; with subsampled planes, at a sample of
    ///     each plane: in ``PixelFormat/yCbCr420`` at even coordinates.
    public mutating func copy(_ image: PixelBuffer, to place: (x: Int, y: Int)) {
        precondition(image.format == format, "the formats differ: \(image.format) and \(format)")
        for index in 0..<format.planeCount {
            let plane = format.plane(index)
            precondition(
                place.x % plane.horizontalSubsampling == 0
                    && place.y % plane.verticalSubsampling == 0,
                "\(place) is between two samples of plane \(index)")
            let start = place.x / plane.horizontalSubsampling * plane.bytesPerPixel
            let top = place.y / plane.verticalSubsampling
            for y in 0..<image.layout(ofPlane: index).size.height {
                withMutableRow(top + y, plane: index) {
                    $0.copy(image.row(y, plane: index), at: start)
                }
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Copies `bytes` to the bytes from `start`; all of them must fit.
    public mutating func copy(_ bytes: Span<UInt8>, at start: Int) {
        precondition(start >= 0 && start + bytes.count <= count, "the row is too short")
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
                    .copyMemory(from: source)
            }
        }
    }
}
