// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import EncodedImages
internal import ImageLoading
internal import Pixels

extension RenditionOptions {
    /// Whether the region, or the part that cropping keeps, depends on the size of the original.
    var needsOriginalSize: Bool {
        if trimming != nil { return true }
        return switch region {
        case .whole, .pixels: !gravity.isPlain && mode == .fill
        case .square, .fraction, .crop: true
        }
    }

    /// The visible part of an original, at least one pixel.
    ///
    /// - Parameter original: the upright size of the original in pixels.
    /// - Returns: `nil` for the whole original.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a region outside of the original.
    func part(of original: PixelSize) throws(ServerError) -> PixelRect? {
        let whole = PixelRect(original)
        let part: PixelRect
        switch region {
        case .whole:
            return nil
        case .square:
            let side = min(original.width, original.height)
            part = PixelRect(
                x: (original.width - side) / 2, y: (original.height - side) / 2, width: side,
                height: side)
        case .pixels(let rect):
            part = rect
        case .fraction(let fraction):
            func position(_ fraction: Double, _ side: Int) -> Int {
                Int((min(fraction, 2) * Double(side)).rounded())
            }
            part = PixelRect(
                x: position(fraction.x, original.width),
                y: position(fraction.y, original.height),
                width: max(1, position(fraction.width, original.width)),
                height: max(1, position(fraction.height, original.height)))
        case .crop(let crop):
            part = rectangle(crop, of: original)
        }
        let visible = whole.intersection(part)
        guard !visible.isEmpty else {
            throw .malformedRequest(reason: "the region is outside of the image")
        }
        return visible == whole ? nil : visible
    }

    private func rectangle(_ crop: Crop, of original: PixelSize) -> PixelRect {
        func length(_ length: Double, _ side: Int) -> Int {
            if length == 0 || length >= Double(side) { return side }
            return max(1, Int((length < 1 ? length * Double(side) : length).rounded()))
        }
        let size = PixelSize(
            width: length(crop.width, original.width), height: length(crop.height, original.height))
        let gravity = crop.gravity ?? gravity
        let start = gravity.position(
            of: (Double(size.width), Double(size.height)), in: original, pixel: (1, 1))
        func inside(_ start: Double, _ free: Int) -> Int {
            Int(min(max(start, 0), Double(free)).rounded())
        }
        return PixelRect(
            x: inside(start.x, original.width - size.width),
            y: inside(start.y, original.height - size.height), width: size.width,
            height: size.height)
    }

    /// Returns the options for decoding an original.
    ///
    /// - Parameters:
    ///   - original: the size of the original in pixels, required if ``needsOriginalSize``.
    ///   - maximumSide: the largest width or height of the result in pixels.
    /// - Returns: the options with region, box, mode and colours.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a region outside of the original.
    func decodeOptions(
        original: PixelSize?, maximumSide: Int
    ) throws(ServerError) -> DecodeOptions {
        // Borders are removed from the whole image.
        var decode =
            trimming == nil
            ? try resizing(original: original, maximumSide: maximumSide) : DecodeOptions()
        if tone != .color { decode.pixelFormat = .gray8 }
        decode.convertsToSRGB = !keepsProfile || tone != .color || frame.watermark != nil
        return decode
    }

    /// Returns the region, the box and the mode of the options for decoding.
    func resizing(original: PixelSize?, maximumSide: Int) throws(ServerError) -> DecodeOptions {
        if let original,
            let window = try smartWindow(of: original, maximumSide: maximumSide)
        {
            return window.decodeOptions
        }
        return try plainResizing(original: original, maximumSide: maximumSide)
    }

    private func plainResizing(
        original: PixelSize?, maximumSide: Int
    ) throws(ServerError) -> DecodeOptions {
        var decode = DecodeOptions()
        if let original {
            decode.region = try part(of: original)
        } else if case .pixels(let rect) = region {
            decode.region = rect
        }
        decode.box = box(atMost: maximumSide)
        decode.mode = mode
        decode.allowsEnlarging = allowsEnlarging
        decode.anchor = gravity.anchor
        guard let original, mode == .fill else { return decode }
        let geometry = decode.geometry(of: original)
        let region = geometry.region
        decode.anchor = gravity.anchor(
            of: (region.width, region.height), in: decode.part(of: original).size,
            pixel: (
                pixelScale * region.width / Double(geometry.size.width),
                pixelScale * region.height / Double(geometry.size.height)
            ))
        return decode
    }

    /// The pixels of the result per pixel of margins and offsets.
    var pixelScale: Double { lengthScale ?? density ?? 1 }

    /// The part of an image that is decoded so that its content determines what is kept.
    struct SmartWindow {
        /// The options for decoding more than the result.
        let decodeOptions: DecodeOptions
        /// The size of the part that is kept of the decoded image.
        let crop: PixelSize
        /// The size of the result.
        let result: PixelSize
    }

    /// Whether the content of the original determines the part that is kept.
    var dependsOnContent: Bool { cropsSmartly || gravity.isSmart && mode == .fill }

    private var cropsSmartly: Bool {
        guard case .crop(let crop) = region else { return false }
        return (crop.gravity ?? gravity).isSmart
    }

    /// Returns what is decoded if the content determines what is kept; `nil` if it does not.
    func smartWindow(
        of original: PixelSize, maximumSide: Int
    ) throws(ServerError) -> SmartWindow? {
        guard dependsOnContent else { return nil }
        let cropsSmartly = self.cropsSmartly
        var decode = try plainResizing(original: original, maximumSide: maximumSide)
        let geometry = decode.geometry(of: original)
        let outer = cropsSmartly ? PixelRect(original) : decode.part(of: original)
        // Nothing is enlarged before it is cropped.
        let scale = (
            x: min(1, Double(geometry.size.width) / geometry.region.width),
            y: min(1, Double(geometry.size.height) / geometry.region.height)
        )
        func size(_ width: Double, _ height: Double) -> PixelSize {
            PixelSize(
                width: max(1, Int((width * scale.x).rounded())),
                height: max(1, Int((height * scale.y).rounded())))
        }
        let crop = size(geometry.region.width, geometry.region.height)
        let decoded = size(Double(outer.width), Double(outer.height))
        guard decoded != crop else { return nil }
        decode.region = outer == PixelRect(original) ? nil : outer
        decode.box = decoded
        decode.mode = .stretch
        decode.allowsEnlarging = false
        return SmartWindow(decodeOptions: decode, crop: crop, result: geometry.size)
    }

    /// Returns the operations on the decoded image, in order.
    ///
    /// - Parameters:
    ///   - original: the size of the original in pixels, required if ``needsOriginalSize``.
    ///   - maximumSide: the largest width or height of the result in pixels.
    ///   - watermark: the watermark of the server.
    ///   - parts: the parts that are kept if ``dependsOnContent``, in fractions of the original.
    /// - Returns: the operations.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a region outside of the original.
    func processors(
        original: PixelSize?, maximumSide: Int, watermark: Overlay?, keeping parts: [SampleRegion]
    ) throws(ServerError) -> [any ImageProcessor] {
        var processors: [any ImageProcessor] = []
        if let trimming {
            processors.append(
                TrimmedResizing(trimming: trimming, options: self, maximumSide: maximumSide))
        } else if let original,
            let window = try smartWindow(of: original, maximumSide: maximumSide)
        {
            processors += window.processors(original: original, keeping: parts)
        }
        if !effect.isEmpty { processors.append(effect) }
        if let turn { processors.append(ImageOperation.turn(turn)) }
        if tone == .bitonal { processors.append(ImageOperation.threshold) }
        if !frame.isEmpty { processors.append(framing(maximumSide, watermark)) }
        return processors
    }

    /// Returns the size of the rendition of an image that is resized to `size`.
    func framedSize(_ size: PixelSize, maximumSide: Int) -> PixelSize {
        guard !frame.isEmpty else { return size }
        let isTurned = degrees % 180 != 0
        return framing(maximumSide, nil).size(
            around: isTurned ? PixelSize(width: size.height, height: size.width) : size)
    }

    private func framing(_ maximumSide: Int, _ watermark: Overlay?) -> Framing {
        let box = box(atMost: maximumSide)
        var free = PixelSize(
            width: width == nil ? 0 : box.width, height: height == nil ? 0 : box.height)
        if degrees % 180 != 0 { free = PixelSize(width: free.height, height: free.width) }
        return Framing(
            options: frame, box: free, scale: pixelScale, background: background,
            watermark: watermark)
    }

    /// The box in device pixels, with the requested proportions.
    func box(atMost maximumSide: Int) -> PixelSize {
        let sides = [width, height].map { $0.map { Double($0) * (density ?? 1) } }
        let largest = sides.compactMap { $0 }.max() ?? 0
        let scale = largest > Double(maximumSide) ? Double(maximumSide) / largest : 1
        // A free side is limited too.
        let free = mode == .fit ? maximumSide : Int.max
        let lengths = sides.map { side in
            side.map { max(1, Int(($0 * scale).rounded())) } ?? free
        }
        return PixelSize(width: lengths[0], height: lengths[1])
    }
}
