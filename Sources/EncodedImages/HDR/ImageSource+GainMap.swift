// SPDX-License-Identifier: Apache-2.0

public import Pixels

extension PixelBuffer {
    /// The same samples without a colour profile, which some maps have by mistake.
    fileprivate var withoutProfile: PixelBuffer {
        guard !colorProfile.isSRGB else { return self }
        var result = MutablePixelBuffer(size: size, format: format)
        result.copy(self, to: (0, 0))
        return result.finish()
    }
}

extension ImageSource {
    /// Returns the gain map for an image that ``decodedImage(_:cancellation:)`` makes with these options.
    ///
    /// The map is cropped, resized and turned like the image, and keeps its resolution relative to it.
    /// The map of an image in PQ or HLG that is converted to sRGB is made, at half its resolution. Its
    /// file is encoded as `format` and `quality` specify.
    ///
    /// - Parameters:
    ///   - options: the options of the image.
    ///   - format: the name of the format of the file.
    ///   - quality: the quality of the file, from 1 to 100.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `nil` if the image is in SDR and has no map; also if its map is damaged, since the image
    ///   is complete without it.
    /// - Throws: ``CodecError/cancelled``, or another error if the file cannot be read.
    public func gainMap(
        _ options: DecodeOptions, format: String = "jpeg", quality: Int = 80,
        cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> GainMap? {
        let found = try gainMap()
        do throws(CodecError) {
            let made: (metadata: GainMapMetadata, samples: PixelBuffer)?
            if let found, !(found.metadata.isBaseHDR && options.convertsToSRGB) {
                let image = try mapImage(found, DecodePlan(header, options), cancellation)
                made = (found.metadata, image)
            } else {
                made = try madeMap(options, cancellation)
            }
            guard let made else { return nil }
            var encodeOptions = EncodeOptions()
            encodeOptions.quality = quality
            let destination = try ImageDestination(
                format: format, codecs: codecs, options: encodeOptions)
            return GainMap(
                made.metadata,
                file: try destination.encode(made.samples, cancellation: cancellation))
        } catch .cancelled {
            throw .cancelled
        } catch {
            return nil
        }
    }

    /// Makes the map of an image in PQ or HLG that is converted to sRGB; `nil` for any other one.
    private func madeMap(
        _ options: DecodeOptions, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> (metadata: GainMapMetadata, samples: PixelBuffer)? {
        guard options.convertsToSRGB, header.colorProfile.isHDR,
            let converter = StandardRangeConverter(header.colorProfile),
            let maker = GainMapMaker(header.colorProfile)
        else { return nil }
        let whole = DecodePlan(header, options).resultSize
        let size = PixelSize(width: (whole.width + 1) / 2, height: (whole.height + 1) / 2)
        // The image in HDR, in SDR, and the map.
        try limits.check(.memoryByteCount, 3 * PixelBuffer.byteCount(of: size, .rgb16))
        var options = LightReader.options(options, for: header.colorProfile)
        options.box = size
        if options.mode == .fit { options.mode = .stretch }
        options.allowsEnlarging = true
        let alternate = try decodedImage(options, cancellation: cancellation).image
        return try maker.map(alternate, converter.converted(alternate), cancellation)
    }

    /// Decodes the image as a display with headroom shows it: the base image with its gain map, or an
    /// image in PQ or HLG.
    ///
    /// The latter is tone-mapped as ITU-R BT.2390 specifies if the display has less than 1,000 cd/m².
    ///
    /// - Parameters:
    ///   - options: the size and the part of the result; its form is always the same.
    ///   - headroom: the logarithm to base 2 of the headroom of the display; `nil` means all that the
    ///     file contains.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `PixelFormat/rgb16` in BT.2020 with PQ, in which white of SDR content has 203 cd/m²;
    ///   `nil` if the image is in SDR and has no map.
    /// - Throws: ``CodecError``, also if the map is damaged.
    public func imageInHDR(
        _ options: DecodeOptions, headroom: Double? = nil, cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> DecodedImage? {
        let map = try gainMap()
        guard map != nil || header.colorProfile.isHDR else { return nil }
        let options = LightReader.options(options, for: header.colorProfile)
        let decoded = try decodedImage(options, cancellation: cancellation)
        let size = decoded.image.size
        try limits.check(.memoryByteCount, 3 * PixelBuffer.byteCount(of: size, .rgba16))
        var samples: PixelBuffer?
        if let map {
            let image = try mapImage(map, DecodePlan(header, options), cancellation)
            // Interpolation between gains of 8 bits would round them.
            let deep = image.converted(to: image.format == .gray8 ? .gray16 : .rgb16)
            samples = deep.resized(SampleRegion(deep.size), to: size, kernel: .triangle)
        }
        let renderer = HDRRenderer(header.colorProfile, map?.metadata, headroom: headroom)
        return DecodedImage(
            image: try renderer.image(decoded.image, samples, cancellation),
            report: decoded.report)
    }

    /// Returns the size of a map in pixels, before the orientation of the image is applied; `nil` if its
    /// header is damaged.
    public func gainMapSize(_ map: GainMap) -> PixelSize? {
        try? ImageSource(EncodedBytes(map.file), codecs: codecs, limits: limits).header.storedSize
    }

    /// Decodes a map for the image of a plan.
    private func mapImage(
        _ map: GainMap, _ plan: DecodePlan, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> PixelBuffer {
        let source = try ImageSource(EncodedBytes(map.file), codecs: codecs, limits: limits)
        let stored = source.header.storedSize
        let horizontal = Double(stored.width) / Double(plan.storedSize.width)
        let vertical = Double(stored.height) / Double(plan.storedSize.height)
        let region = plan.geometry.region.scaled(
            horizontally: horizontal, vertically: vertical)
        func side(_ length: Int, _ scale: Double) -> Int {
            max(1, Int((Double(length) * min(scale, 1)).rounded()))
        }
        let size = PixelSize(
            width: side(plan.geometry.size.width, horizontal),
            height: side(plan.geometry.size.height, vertical))
        var options = DecodeOptions()
        // Samples are gains, not colours, in the orientation of the base image.
        options.convertsToSRGB = false
        options.appliesOrientation = false
        options.acceptsTruncated = false
        options.kernel = plan.kernel
        if region == SampleRegion(stored) {
            options.box = size
            options.mode = .stretch
            options.allowsEnlarging = true
        }
        var image = try source.decodedImage(options, cancellation: cancellation).image
        if image.size != size || region != SampleRegion(stored) {
            image = image.resized(region, to: size, kernel: plan.kernel)
        }
        return image.turned(plan.orientation).withoutProfile
    }
}
