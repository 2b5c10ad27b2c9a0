// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages
internal import Pixels

/// A converter from packed samples to rows of pixels.
struct TIFFRows<
    Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable
>: ~Copyable {
    let profile: ColorProfile
    private let image: TIFFImage
    private let unpacker: TIFFUnpacker<Sample>
    private let inks: CMYKConversion?
    private let lab: LabConversion?
    /// Red, green and blue of each index.
    private let palette: [Sample]
    /// A row of unpacked samples, interleaved.
    private var samples: [Sample]
    /// A row of pixels.
    private var pixels: [Sample]
    /// Whether unpacked samples need no conversion.
    private let isPlain: Bool

    init(_ image: TIFFImage, _ profile: ColorProfile) throws(CodecError) {
        self.image = image
        let width = image.size.width
        let isInk = image.model == .cmyk
        self.profile = isInk ? .sRGB : profile
        unpacker = TIFFUnpacker(image)
        inks = isInk ? try CMYKConversion(profile, isInverted: false) : nil
        if case .lab(let isICC) = image.model {
            lab = LabConversion(isICC: isICC)
        } else {
            lab = nil
        }
        // Some programs write 8-bit values into the 16-bit palette.
        let shift: UInt16 = image.colorMap.contains { $0 > 255 } ? 8 : 0
        let colorCount = image.colorMap.count / 3
        palette = (0..<colorCount * 3).map { index in
            let value = image.colorMap[index % 3 * colorCount + index / 3]
            return Sample(truncatingIfNeeded: value >> shift)
        }
        samples = Array(repeating: 0, count: width * image.sampleCount)
        let hasRightChannels =
            image.sampleCount == image.format.channelCount && image.alpha == nil
        isPlain =
            hasRightChannels
            && (image.model == .gray(isInverted: false) || image.model == .rgb)
        pixels = Array(
            repeating: 0, count: isPlain ? 0 : width * image.format.channelCount)
    }

    mutating func append(
        _ band: Span<UInt8>, _ row: TIFFRowPlace, into rows: inout RowSink
    ) throws(CodecError) {
        if isPlain, unpacker.isPlain, row.planeStride == 0, row.missing.isEmpty {
            let byteCount = samples.count * Sample.bitWidth / 8
            return try rows.append(band.extracting(row.offset..<row.offset + byteCount))
        }
        unpack(band, row)
        if isPlain { return try give(samples, row, into: &rows) }
        let width = image.size.width
        let stride = image.sampleCount
        switch image.model {
        case .gray(let isInverted): makeGray(isInverted)
        case .rgb: takeColors(from: stride, width)
        case .palette: makeColorsOfPalette()
        case .cmyk: return try convertInks(row, into: &rows)
        case .lab:
            var result: [Sample] = []
            swap(&result, &pixels)
            lab?.convert(samples.span, into: &result)
            swap(&result, &pixels)
        case .converted: break
        }
        try applyAlpha()
        try give(pixels, row, into: &rows)
    }

    private mutating func unpack(_ band: Span<UInt8>, _ row: TIFFRowPlace) {
        let count = image.sampleCount
        let width = image.size.width
        var taken: [Sample] = []
        swap(&taken, &samples)
        defer { swap(&taken, &samples) }
        var all = taken.mutableSpan
        if row.planeStride == 0 {
            unpacker.unpack(
                band, from: row.offset, count: width * count, into: &all, first: 0, step: 1)
        } else {
            for plane in 0..<count {
                unpacker.unpack(
                    band, from: row.offset + plane * row.planeStride, count: width,
                    into: &all, first: plane, step: count)
            }
        }
    }

    private mutating func makeGray(_ isInverted: Bool) {
        let stride = image.sampleCount
        let channels = image.format.channelCount
        let mask: Sample = isInverted ? .max : 0
        var taken: [Sample] = []
        swap(&taken, &pixels)
        defer { swap(&taken, &pixels) }
        let source = samples.span
        var result = taken.mutableSpan
        for x in 0..<image.size.width {
            let value = source[x * stride] ^ mask
            result[x * channels] = value
            if channels == 4 {
                result[x * 4 + 1] = value
                result[x * 4 + 2] = value
            }
        }
    }

    private mutating func takeColors(from stride: Int, _ width: Int) {
        let channels = image.format.channelCount
        var taken: [Sample] = []
        swap(&taken, &pixels)
        defer { swap(&taken, &pixels) }
        let source = samples.span
        var result = taken.mutableSpan
        for x in 0..<width {
            result[x * channels] = source[x * stride]
            result[x * channels + 1] = source[x * stride + 1]
            result[x * channels + 2] = source[x * stride + 2]
        }
    }

    private mutating func makeColorsOfPalette() {
        let palette = palette
        let stride = image.sampleCount
        let channels = image.format.channelCount
        var taken: [Sample] = []
        swap(&taken, &pixels)
        defer { swap(&taken, &pixels) }
        let source = samples.span
        var result = taken.mutableSpan
        for x in 0..<image.size.width {
            let index = Int(source[x * stride])
            result[x * channels] = palette[index * 3]
            result[x * channels + 1] = palette[index * 3 + 1]
            result[x * channels + 2] = palette[index * 3 + 2]
        }
    }

    private mutating func applyAlpha() throws(CodecError) {
        guard let alpha = image.alpha else { return }
        let stride = image.sampleCount
        let scale = image.model == .palette ? unpacker.paletteAlphaScale : 1
        var taken: [Sample] = []
        swap(&taken, &pixels)
        defer { swap(&taken, &pixels) }
        for x in 0..<image.size.width {
            taken[x * 4 + 3] = samples[x * stride + alpha.index] &* Sample(scale)
        }
        var row = taken.mutableSpan
        if alpha.isPremultiplied {
            PremultipliedAlpha.clamp(&row)
        } else {
            PremultipliedAlpha.multiplyAny(&row)
        }
    }

    private func convertInks(
        _ place: TIFFRowPlace, into rows: inout RowSink
    ) throws(CodecError) {
        let stride = image.sampleCount
        var amounts = [UInt8](repeating: 0, count: image.size.width * 4)
        for x in 0..<image.size.width {
            for ink in 0..<4 {
                let value = UInt32(truncatingIfNeeded: samples[x * stride + ink])
                amounts[x * 4 + ink] = UInt8(
                    Sample.bitWidth == 8 ? value : (value * 255 + 32895) >> 16)
            }
        }
        var colors = [UInt8](repeating: 0, count: image.size.width * 3)
        switch inks {
        case .some(let inks): inks.convert(amounts.span, into: &colors)
        case .none: break
        }
        try give(colors, place, into: &rows)
    }

    private func give<Channel: FixedWidthInteger & BitwiseCopyable>(
        _ row: [Channel], _ place: TIFFRowPlace, into rows: inout RowSink
    ) throws(CodecError) {
        var row = row
        let channelCount = row.count / image.size.width
        for columns in place.missing {
            for index in columns.lowerBound * channelCount..<columns.upperBound * channelCount {
                row[index] = 0
            }
        }
        try unsafe row.span.withUnsafeBytes { bytes throws(CodecError) in
            try rows.append(
                unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self)))
        }
    }
}

extension PremultipliedAlpha {
    /// Multiplies the colours of straight RGBA pixels of any sample width by their alpha.
    static func multiplyAny<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: inout MutableSpan<Sample>
    ) {
        let top = UInt32(truncatingIfNeeded: Sample.max)
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != .max {
            let alpha = UInt32(truncatingIfNeeded: row[pixel + 3])
            for channel in pixel..<pixel + 3 {
                let color = UInt32(truncatingIfNeeded: row[channel])
                row[channel] = Sample(truncatingIfNeeded: (color * alpha + top / 2) / top)
            }
        }
    }
}
#endif
