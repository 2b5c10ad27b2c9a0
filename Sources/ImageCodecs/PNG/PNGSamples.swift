// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages
    internal import Pixels

    /// Turns the samples of a row into pixels of 8 bits a channel, alpha premultiplied.
    struct PNGSamples {
        let format: PixelFormat
        private let layout: PNGLayout
        /// RGBA by index, premultiplied; colours that the palette lacks are black.
        private var palette: [UInt8] = []
        /// The samples of the colour that is transparent.
        private var transparent: [Int]?

        init(_ header: PNGHeader) {
            layout = header.layout
            let hasTransparency = header.transparency != nil
            switch layout.colorType {
            case .gray: format = hasTransparency ? .rgba8 : .gray8
            case .rgb, .palette: format = hasTransparency ? .rgba8 : .rgb8
            case .grayAlpha, .rgba: format = .rgba8
            }
            if layout.colorType == .palette {
                palette = Self.palette(header.palette, alpha: header.transparency ?? [])
            } else if let body = header.transparency {
                let mask = 1 << layout.bitDepth - 1
                transparent = stride(from: 0, to: layout.channelCount * 2, by: 2).map {
                    (Int(body[$0]) << 8 | Int(body[$0 + 1])) & mask
                }
            }
        }

        /// Whether a row is already what it should become.
        var isIdentity: Bool {
            layout.bitDepth == 8 && transparent == nil
                && (layout.colorType == .gray || layout.colorType == .rgb)
        }

        /// Converts `width` pixels of `row`.
        func convert(_ row: Span<UInt8>, width: Int, into pixels: inout [UInt8]) {
            switch (layout.colorType, layout.bitDepth) {
            case (.palette, _): lookUp(row, width, &pixels)
            case (.rgba, 8):
                for i in 0..<width * 4 { pixels[i] = row[i] }
                var span = pixels.mutableSpan
                PremultipliedAlpha.multiply(&span)
            default: expand(row, width, &pixels)
            }
        }

        private func lookUp(_ row: Span<UInt8>, _ width: Int, _ pixels: inout [UInt8]) {
            let channelCount = format.channelCount
            for x in 0..<width {
                let index = sample(row, x) * 4
                for c in 0..<channelCount { pixels[x * channelCount + c] = palette[index + c] }
            }
        }

        private func expand(_ row: Span<UInt8>, _ width: Int, _ pixels: inout [UInt8]) {
            let sourceCount = layout.channelCount
            let resultCount = format.channelCount
            let isGray = sourceCount < 3
            for x in 0..<width {
                let first = x * sourceCount
                let alpha: UInt8
                if let transparent {
                    let isTransparent = (0..<sourceCount).allSatisfy {
                        sample(row, first + $0) == transparent[$0]
                    }
                    alpha = isTransparent ? 0 : 255
                } else if sourceCount % 2 == 0 {
                    alpha = scaled(sample(row, first + sourceCount - 1))
                } else {
                    alpha = 255
                }
                guard resultCount == 4 else {
                    for c in 0..<resultCount {
                        pixels[x * resultCount + c] = scaled(sample(row, first + c))
                    }
                    continue
                }
                for c in 0..<3 {
                    pixels[x * 4 + c] = PremultipliedAlpha.multiplied(
                        scaled(sample(row, isGray ? first : first + c)), by: alpha)
                }
                pixels[x * 4 + 3] = alpha
            }
        }

        /// The sample at an index, from the left and the top bit of each byte.
        @inline(always)
        private func sample(_ row: Span<UInt8>, _ index: Int) -> Int {
            switch layout.bitDepth {
            case 8: return Int(row[index])
            case 16: return Int(row[index * 2]) << 8 | Int(row[index * 2 + 1])
            default:
                let bit = index * layout.bitDepth
                let shift = 8 - layout.bitDepth - bit % 8
                return Int(row[bit / 8]) >> shift & (1 << layout.bitDepth - 1)
            }
        }

        /// The nearest of 256 levels.
        @inline(always)
        private func scaled(_ sample: Int) -> UInt8 {
            switch layout.bitDepth {
            case 1: UInt8(truncatingIfNeeded: sample * 255)
            case 2: UInt8(truncatingIfNeeded: sample * 85)
            case 4: UInt8(truncatingIfNeeded: sample * 17)
            case 8: UInt8(truncatingIfNeeded: sample)
            default: UInt8(truncatingIfNeeded: (sample * 255 + 32_895) >> 16)
            }
        }

        private static func palette(_ colors: [UInt8], alpha: [UInt8]) -> [UInt8] {
            (0..<256).flatMap { index -> [UInt8] in
                let alpha = index < alpha.count ? alpha[index] : 255
                let color = (0..<3).map {
                    index * 3 + $0 < colors.count ? colors[index * 3 + $0] : 0
                }
                return color.map { PremultipliedAlpha.multiplied($0, by: alpha) } + [alpha]
            }
        }
    }
#endif
