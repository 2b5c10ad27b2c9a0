// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import EncodedImages
internal import Pixels

/// Converts stored rows to grey, RGB or premultiplied RGBA.
struct BMPPixels {
    private enum Layout {
        case indexed(bits: Int)
        case bytes(step: Int)
        case straightAlpha
        case fields([Field], byteCount: Int)
        case deepFields([Field], byteCount: Int)
        case linear([UInt16])
    }

    /// The bits of a channel and the scale of its values.
    private struct Field {
        var mask: UInt32
        var shift: UInt32
        /// The 8-bit samples of fields of up to 8 bits.
        var table: [UInt8]
        /// The maximum of a wider field, which is shifted so that this is at most 65535.
        var maximum: UInt32

        init(_ mask: UInt32) {
            let bits = BMPMasks.bitCount(mask)
            // Bits beyond 16 are dropped.
            shift = UInt32(mask == 0 ? 0 : mask.trailingZeroBitCount + max(0, bits - 16))
            self.mask = mask
            maximum = mask >> shift
            table = Array(repeating: 0, count: 256)
            // A missing channel is 0.
            guard maximum > 0 else { return }
            for value in 0..<256 {
                let sample = (UInt32(value) * 255 + maximum / 2) / maximum
                table[value] = UInt8(min(255, sample))
            }
        }

        @inline(__always)
        func sample16(_ pixel: UInt32) -> UInt32 {
            maximum == 0 ? 0 : (((pixel & mask) >> shift) * 65535 + maximum / 2) / maximum
        }
    }

    let format: PixelFormat
    /// RGB of all 256 indices; those beyond the colour table are black.
    let colors: [UInt8]
    private let width: Int
    private let layout: Layout
    private let table: [UInt32]
    private var indices: [UInt8] = []

    init(_ header: BMPHeader) {
        width = header.size.width
        colors = header.palette + Array(repeating: 0, count: 768 - header.palette.count)
        let colors = colors
        var table: [UInt32] = []
        for index in stride(from: 0, to: colors.count, by: 3) {
            let (red, green, blue) = (colors[index], colors[index + 1], colors[index + 2])
            table.append(UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16)
        }
        self.table = table
        let isGray = table.allSatisfy { $0 == ($0 & 0xFF) * 0x01_01_01 }
        let masks = header.masks
        switch header.bitsPerPixel {
        case 1...8:
            format = isGray ? .gray8 : .rgb8
            layout = .indexed(bits: header.bitsPerPixel)
            if header.bitsPerPixel < 8 { indices = Array(repeating: 0, count: width) }
        case 24:
            format = .rgb8
            layout = .bytes(step: 3)
        case 32 where masks == BMPMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF):
            format = .rgb8
            layout = .bytes(step: 4)
        case 32 where masks == .bgra:
            format = .rgba8
            layout = .straightAlpha
        case 64:
            format = .rgba16
            layout = .linear(Self.linearTable)
        default:
            let hasAlpha = masks.alpha != 0
            let fields = masks.all.prefix(hasAlpha ? 4 : 3).map { Field($0) }
            let byteCount = header.bitsPerPixel / 8
            if masks.maximumBitsPerComponent <= 8 {
                format = hasAlpha ? .rgba8 : .rgb8
                layout = .fields(fields, byteCount: byteCount)
            } else {
                format = hasAlpha ? .rgba16 : .rgb16
                layout = .deepFields(fields, byteCount: byteCount)
            }
        }
    }

    /// Whether stored rows are grey pixels already: 8-bit indices into a grey ramp.
    var isIdentity: Bool {
        guard case .indexed(8) = layout else { return false }
        return table.indices.allSatisfy { table[$0] == UInt32($0) * 0x01_01_01 }
    }

    /// The number of bytes that ``convert(_:into:)`` needs; the pixels come first.
    var roomByteCount: Int { width * format.bytesPerPixel + BMPRowKernels.writeAhead }

    /// Converts a stored row to pixels.
    mutating func convert(_ row: Span<UInt8>, into pixels: inout [UInt8]) {
        switch layout {
        case .indexed(let bits):
            if bits == 8 {
                BMPRowKernels.lookUp(
                    row, width: width, table, byteCount: format.channelCount, into: &pixels)
            } else {
                BMPRowKernels.unpack(row, bits: bits, width: width, into: &indices)
                BMPRowKernels.lookUp(
                    indices.span, width: width, table, byteCount: format.channelCount,
                    into: &pixels)
            }
        case .bytes(let step):
            BMPRowKernels.reverse(row, width: width, step: step, into: &pixels)
        case .straightAlpha: BMPRowKernels.premultiply(row, width: width, into: &pixels)
        case .fields(let fields, let byteCount):
            split(row, fields, byteCount, into: &pixels)
        case .deepFields(let fields, let byteCount):
            splitDeep(row, fields, byteCount, into: &pixels)
        case .linear(let table): encode(row, table, into: &pixels)
        }
    }

    private func split(
        _ row: Span<UInt8>, _ fields: [Field], _ byteCount: Int, into pixels: inout [UInt8]
    ) {
        let channelCount = fields.count
        for (channel, field) in fields.enumerated() {
            let (mask, shift, table) = (field.mask, field.shift, field.table)
            for x in 0..<width {
                let pixel = Self.pixel(row, x, byteCount)
                pixels[x * channelCount + channel] = table[Int((pixel & mask) &>> shift)]
            }
        }
        guard channelCount == 4 else { return }
        var span = pixels.mutableSpan
        PremultipliedAlpha.multiply(&span)
    }

    private func splitDeep(
        _ row: Span<UInt8>, _ fields: [Field], _ byteCount: Int, into pixels: inout [UInt8]
    ) {
        for x in 0..<width {
            let pixel = Self.pixel(row, x, byteCount)
            let alpha = fields.count == 4 ? fields[3].sample16(pixel) : 65535
            for channel in fields.indices {
                var sample = channel == 3 ? alpha : fields[channel].sample16(pixel)
                if channel < 3, alpha < 65535 { sample = (sample * alpha + 32767) / 65535 }
                Self.store(sample, at: x * fields.count + channel, in: &pixels)
            }
        }
    }

    /// Converts blue, green, red and alpha from signed 16-bit fixed point, where 8192 is 1.0.
    private func encode(_ row: Span<UInt8>, _ table: [UInt16], into pixels: inout [UInt8]) {
        for x in 0..<width {
            let samples = (0..<4).map { channel in
                let value = row.littleEndian16(at: x * 8 + channel * 2) ?? 0
                return min(max(Int(Int16(truncatingIfNeeded: value)), 0), 8192)
            }
            let alpha = UInt32(samples[3] * 65535 / 8192)
            for channel in 0..<3 {
                let sample = UInt32(table[samples[2 - channel]])
                Self.store((sample * alpha + 32767) / 65535, at: x * 4 + channel, in: &pixels)
            }
            Self.store(alpha, at: x * 4 + 3, in: &pixels)
        }
    }

    @inline(__always)
    private static func pixel(_ row: Span<UInt8>, _ x: Int, _ byteCount: Int) -> UInt32 {
        if byteCount == 2 {
            return UInt32(truncatingIfNeeded: row.littleEndian(at: x * 2, byteCount: 2))
        }
        return UInt32(truncatingIfNeeded: row.littleEndian(at: x * 4, byteCount: 4))
    }

    /// Stores a sample in the byte order of the machine.
    @inline(__always)
    private static func store(_ sample: UInt32, at index: Int, in pixels: inout [UInt8]) {
        #if _endian(little)
        pixels[index * 2] = UInt8(truncatingIfNeeded: sample)
        pixels[index * 2 + 1] = UInt8(truncatingIfNeeded: sample >> 8)
        #else
        pixels[index * 2] = UInt8(truncatingIfNeeded: sample >> 8)
        pixels[index * 2 + 1] = UInt8(truncatingIfNeeded: sample)
        #endif
    }

    /// The sRGB encoding of linear light from 0 to 8192.
    private static var linearTable: [UInt16] {
        (0...8192).map { value in
            let light = Double(value) / 8192
            let encoded = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
            return UInt16(encoded * 65535 + 0.5)
        }
    }
}
