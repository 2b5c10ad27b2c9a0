// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Encodes QOI with the same chunks as the reference encoder.
struct QOIEncoder: ImageEncoder {
    func stores(_ profile: ColorProfile) -> Bool { profile == Self.linear || profile.isSRGB }

    /// The only colour space other than sRGB that a header can specify.
    private static let linear = ColorProfile.calibrated(gamma: 1, .sRGB)

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let hasAlpha = image.format.hasAlpha
        let channelCount = hasAlpha ? 4 : 3
        let image = image.convertedFromYCbCr().converted(to: hasAlpha ? .rgba8 : .rgb8)
        let size = image.size
        guard size.largestSide <= Int(UInt32.max) else {
            throw .unsupported(feature: "QOI of \(size) pixels; the largest side is 4294967295")
        }
        var file = Array("qoif".utf8)
        file.reserveCapacity(size.area * channelCount / 2)
        for side in [size.width, size.height] { file.append(side, byteCount: 4) }
        file.append(UInt8(channelCount))
        file.append(image.colorProfile == Self.linear ? 1 : 0)
        var chunks = Chunks()
        for y in 0..<size.height {
            let row = PremultipliedAlpha.straight(image.row(y), image.format)
            // Capacity for a whole row, so that single bytes are appended without growth.
            file.append(addingCapacity: size.width * Chunks.maximumByteCount) { output in
                chunks.append(row.span, channelCount: channelCount, to: &output)
            }
        }
        file.append(addingCapacity: 1) { chunks.finish(&$0) }
        return file + QOICodec.endMarker
    }

    /// The encoder state between two pixels.
    private struct Chunks {
        private var seen = [UInt32](repeating: 0, count: 64)
        private var pixel: UInt32 = 0xFF00_0000
        private var repeats: UInt8 = 0

        /// The maximum size of a pixel's chunks: `QOI_OP_RGBA` and a pending run.
        static let maximumByteCount = 6

        mutating func append(
            _ row: Span<UInt8>, channelCount: Int, to file: inout OutputSpan<UInt8>
        ) {
            for start in stride(from: 0, to: row.count, by: channelCount) {
                let alpha = channelCount == 4 ? UInt32(row[start + 3]) : 255
                let next =
                    UInt32(row[start]) | UInt32(row[start + 1]) << 8
                    | UInt32(row[start + 2]) << 16 | alpha << 24
                append(next, to: &file)
            }
        }

        private mutating func append(_ next: UInt32, to file: inout OutputSpan<UInt8>) {
            if next == pixel {
                repeats += 1
                if repeats == 62 { finish(&file) }
                return
            }
            finish(&file)
            let previous = pixel
            pixel = next
            let place = QOICodec.indexPosition(of: next)
            if seen[place] == next {
                file.append(UInt8(place))
                return
            }
            seen[place] = next
            let channels = (
                UInt8(truncatingIfNeeded: next), UInt8(truncatingIfNeeded: next >> 8),
                UInt8(truncatingIfNeeded: next >> 16), UInt8(truncatingIfNeeded: next >> 24)
            )
            guard next >> 24 == previous >> 24 else {
                file.append(0xFF)
                file.append(channels.0)
                file.append(channels.1)
                file.append(channels.2)
                file.append(channels.3)
                return
            }
            let red = Int8(truncatingIfNeeded: Int(channels.0) - Int(previous & 0xFF))
            let green = Int8(truncatingIfNeeded: Int(channels.1) - Int(previous >> 8 & 0xFF))
            let blue = Int8(truncatingIfNeeded: Int(channels.2) - Int(previous >> 16 & 0xFF))
            let small: ClosedRange<Int8> = -2...1
            if small.contains(red), small.contains(green), small.contains(blue) {
                file.append(
                    0x40 | UInt8(red + 2) << 4 | UInt8(green + 2) << 2 | UInt8(blue + 2))
                return
            }
            let (redToGreen, blueToGreen) = (red &- green, blue &- green)
            let middle: ClosedRange<Int8> = -8...7
            if (-32...31).contains(green), middle.contains(redToGreen),
                middle.contains(blueToGreen)
            {
                file.append(0x80 | UInt8(green + 32))
                file.append(UInt8(redToGreen + 8) << 4 | UInt8(blueToGreen + 8))
            } else {
                file.append(0xFE)
                file.append(channels.0)
                file.append(channels.1)
                file.append(channels.2)
            }
        }

        /// Appends the pending run.
        mutating func finish(_ file: inout OutputSpan<UInt8>) {
            if repeats > 0 { file.append(0xC0 | (repeats - 1)) }
            repeats = 0
        }
    }
}
