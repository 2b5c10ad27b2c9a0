// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// Converts the samples of a row to pixels with premultiplied alpha: 8 bits per channel unless
/// 16-bit samples are present and requested.
struct PNGSamples {
    private enum Conversion {
        case none
        /// One channel of up to 8 bits, one or more samples per byte.
        case table([UInt8], entryByteCount: Int)
        case premultiplied
        case grayAlpha
        /// 8-bit RGB with a transparent colour.
        case transparent(UInt32)
        case narrowed
        case narrowedPremultiplied
        case narrowedGrayAlpha
        /// 16-bit samples with a transparent colour, rounded to 8 bits.
        case narrowedTransparent([Int])
        /// 16-bit samples that keep their depth, with the transparent colour or none.
        case deep(channelCount: Int, transparent: [Int])
    }

    let format: PixelFormat
    private let conversion: Conversion

    init(_ header: PNGHeader, keepsDepth: Bool = false) {
        let layout = header.layout
        if keepsDepth, layout.bitDepth == 16 {
            (format, conversion) = Self.deep(header)
            return
        }
        let hasTransparency = header.transparency != nil
        switch layout.colorType {
        case .gray: format = hasTransparency ? .rgba8 : .gray8
        case .rgb, .palette: format = hasTransparency ? .rgba8 : .rgb8
        case .grayAlpha, .rgba: format = .rgba8
        }
        let isDeep = layout.bitDepth == 16
        let mask = 1 << layout.bitDepth - 1
        let transparency = header.transparency ?? []
        let transparent = stride(from: 0, to: transparency.count - 1, by: 2).map {
            transparency.span.bigEndian(at: $0, byteCount: 2) & mask
        }
        switch layout.colorType {
        case .palette:
            let colors = Self.palette(header.palette, alpha: transparency, format)
            conversion = Self.table(of: colors, bitDepth: layout.bitDepth)
        case .gray where !isDeep:
            let isIdentity = layout.bitDepth == 8 && !hasTransparency
            let colors = Self.grays(layout.bitDepth, transparent: transparent.first)
            conversion = isIdentity ? .none : Self.table(of: colors, bitDepth: layout.bitDepth)
        case .gray, .rgb:
            if !hasTransparency {
                conversion = isDeep ? .narrowed : .none
            } else if isDeep {
                conversion = .narrowedTransparent(
                    Array(transparent.prefix(layout.channelCount)))
            } else {
                let color = transparent.prefix(3).reversed().reduce(0) { $0 << 8 | $1 }
                conversion = .transparent(UInt32(color))
            }
        case .grayAlpha: conversion = isDeep ? .narrowedGrayAlpha : .grayAlpha
        case .rgba: conversion = isDeep ? .narrowedPremultiplied : .premultiplied
        }
    }

    private static func deep(_ header: PNGHeader) -> (PixelFormat, Conversion) {
        let transparency = header.transparency ?? []
        let transparent = stride(from: 0, to: transparency.count - 1, by: 2).map {
            transparency.span.bigEndian(at: $0, byteCount: 2)
        }
        let channelCount = header.layout.channelCount
        let format: PixelFormat =
            channelCount % 2 == 0 || !transparent.isEmpty
            ? .rgba16 : channelCount == 1 ? .gray16 : .rgb16
        let color = Array(transparent.prefix(channelCount))
        return (format, .deep(channelCount: channelCount, transparent: color))
    }

    /// Returns the number of bytes that ``convert(_:width:into:)`` needs for a row of `width`
    /// pixels.
    func roomByteCount(width: Int) -> Int {
        width * format.bytesPerPixel + PNGRowKernels.writeAhead
    }

    /// Converts `width` pixels of `row`.
    ///
    /// - Parameters:
    ///   - row: the samples as stored in the file.
    ///   - width: the number of pixels.
    ///   - room: ``roomByteCount(width:)`` bytes; receives the pixels at its start.
    /// - Returns: whether `room` contains the pixels; otherwise `row` already does.
    func convert(_ row: Span<UInt8>, width: Int, into room: inout [UInt8]) -> Bool {
        switch conversion {
        case .none: return false
        case .table(let table, let entryByteCount):
            PNGRowKernels.lookUp(row, in: table, entryByteCount: entryByteCount, into: &room)
        case .premultiplied: PNGRowKernels.premultiply(row, into: &room)
        case .grayAlpha:
            PNGRowKernels.copy(row, into: &room)
            PNGRowKernels.expandGrayAlpha(width: width, in: &room)
        case .transparent(let color):
            PNGRowKernels.expand(row, transparent: color, into: &room)
        case .narrowed: PNGRowKernels.narrow(row, into: &room)
        case .narrowedPremultiplied:
            PNGRowKernels.narrow(row, into: &room)
            PNGRowKernels.premultiply(&room, byteCount: width * 4)
        case .narrowedGrayAlpha:
            PNGRowKernels.narrow(row, into: &room)
            PNGRowKernels.expandGrayAlpha(width: width, in: &room)
        case .narrowedTransparent(let color):
            expand(row, width, transparent: color, &room)
        case .deep(let channelCount, let transparent):
            deepen(row, width, channelCount, transparent: transparent, &room)
        }
        return true
    }

    /// Converts big-endian 16-bit samples to the byte order of the machine.
    private func deepen(
        _ row: Span<UInt8>, _ width: Int, _ channelCount: Int, transparent: [Int],
        _ room: inout [UInt8]
    ) {
        let resultCount = format.channelCount
        let hasAlpha = channelCount % 2 == 0
        let colorCount = hasAlpha ? channelCount - 1 : channelCount
        var pixels = room.mutableSpan
        for x in 0..<width {
            let place = x * channelCount
            var alpha = hasAlpha ? Self.sample(row, place + channelCount - 1) : 65535
            var isTransparent = !transparent.isEmpty
            for channel in transparent.indices {
                isTransparent =
                    isTransparent && Self.sample(row, place + channel) == transparent[channel]
            }
            if isTransparent { alpha = 0 }
            for channel in 0..<min(resultCount, 3) {
                let color = Self.sample(row, place + min(channel, colorCount - 1))
                let product = UInt16((color * alpha + 32767) / 65535)
                pixels.storeSample16(product, at: x * resultCount + channel)
            }
            if resultCount == 4 { pixels.storeSample16(UInt16(alpha), at: x * 4 + 3) }
        }
    }

    private static func sample(_ row: Span<UInt8>, _ index: Int) -> Int {
        row.bigEndian(at: index * 2, byteCount: 2)
    }

    /// Converts 16-bit grey or RGB with a transparent colour to RGBA; such files are rare.
    private func expand(
        _ row: Span<UInt8>, _ width: Int, transparent: [Int], _ pixels: inout [UInt8]
    ) {
        let channelCount = transparent.count
        for x in 0..<width {
            var isTransparent = true
            for channel in 0..<4 {
                let source = min(channel, channelCount - 1)
                let offset = (x * channelCount + source) * 2
                let sample = row.bigEndian(at: offset, byteCount: 2)
                isTransparent = isTransparent && sample == transparent[source]
                pixels[x * 4 + channel] = Self.scaled(sample, bitDepth: 16)
            }
            pixels[x * 4 + 3] = 255
            if isTransparent { for channel in 0..<4 { pixels[x * 4 + channel] = 0 } }
        }
    }

    /// Returns the table from each byte to the pixels of its samples, whose colours are
    /// `colors`.
    private static func table(of colors: [[UInt8]], bitDepth: Int) -> Conversion {
        let perByte = 8 / bitDepth
        let entryByteCount = perByte * (colors.first?.count ?? 0)
        let step = [4, 8].first { $0 >= entryByteCount } ?? 32
        var table = [UInt8](repeating: 0, count: 256 * step)
        for byte in 0..<256 {
            let samples = (0..<perByte).map {
                byte >> (8 - bitDepth * ($0 + 1)) & (1 << bitDepth - 1)
            }
            for (index, value) in samples.flatMap({ colors[$0] }).enumerated() {
                table[byte * step + index] = value
            }
        }
        return .table(table, entryByteCount: entryByteCount)
    }

    /// Returns the colours of all 256 indices; those beyond the palette are black.
    private static func palette(
        _ palette: [UInt8], alpha: [UInt8], _ format: PixelFormat
    ) -> [[UInt8]] {
        (0..<256).map { index in
            let alpha = index < alpha.count ? alpha[index] : 255
            let color = (0..<3).map {
                index * 3 + $0 < palette.count ? palette[index * 3 + $0] : 0
            }
            let pixel = color.map { PremultipliedAlpha.multiplied($0, by: alpha) } + [alpha]
            return Array(pixel.prefix(format.channelCount))
        }
    }

    /// Returns the colours of all samples of up to 8 bits: RGBA if one is transparent,
    /// otherwise grey.
    private static func grays(_ bitDepth: Int, transparent: Int?) -> [[UInt8]] {
        (0..<1 << bitDepth).map { sample in
            let gray = scaled(sample, bitDepth: bitDepth)
            guard let transparent else { return [gray] }
            return sample == transparent ? [0, 0, 0, 0] : [gray, gray, gray, 255]
        }
    }

    /// Returns the nearest of 256 levels.
    private static func scaled(_ sample: Int, bitDepth: Int) -> UInt8 {
        let largest = 1 << bitDepth - 1
        return UInt8(truncatingIfNeeded: (sample * 255 + largest / 2) / largest)
    }
}
#endif
