// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Stored bytes of a compiled file, with what is needed to make pixels of them.
struct CompiledBlob {
    enum Kind: Int {
        /// A file as it is: data, or vectors.
        case file = 1
        /// The file of an image.
        case image
        /// Pixels in the shape of `PixelBuffer`.
        case pixels
        /// The alpha of pixels of one colour, without padding, or as ``PackedSamples``.
        case mask
        /// A palette of RGBA, then indices of 1, 2, 4 or 8 bits in rows of whole bytes, or as
        /// ``PackedSamples``.
        case palette
    }

    /// The formats that are stored, in the order of their numbers from 1.
    static let formats: [PixelFormat] = [.gray8, .rgb8, .rgba8]

    let kind: Kind
    /// The size of the pixels; empty for ``Kind/file``.
    let size: PixelSize
    let format: PixelFormat
    /// The colour of a mask as 0xRRGGBB; the number of colours of a palette.
    let detail: Int
    /// The bytes in the file.
    let range: Range<Int>
    /// Whether samples of a mask or a palette are packed: only then they have fewer bytes.
    private var isPacked = false

    /// Checks the values of a record.
    init(
        kind: Kind, width: Int, height: Int, formatCode: Int, detail: Int, range: Range<Int>
    ) throws(CompiledDamage) {
        self.kind = kind
        size = PixelSize(width: width, height: height)
        self.detail = detail
        self.range = range
        let storesPixels = kind != .file && kind != .image
        guard !storesPixels || Self.formats.indices.contains(formatCode - 1) else {
            throw CompiledDamage(reason: "unknown format of pixels: \(formatCode)")
        }
        format = storesPixels ? Self.formats[formatCode - 1] : .rgba8
        guard storesPixels else { return }
        do throws(CodecError) {
            try DecodeLimits().check(size)
        } catch {
            throw CompiledDamage(reason: "an image of \(size) pixels")
        }
        let needed: Int? =
            switch kind {
            case .pixels:
                range.lowerBound % PixelBuffer.rowAlignment == 0
                    ? PixelBuffer.byteCount(of: size, format) : nil
            case .mask: format == .rgba8 ? size.area : nil
            case .palette:
                (1...256).contains(detail)
                    ? detail * 4
                        + PackedIndices.byteCount(of: size, bitCount: .init(colorCount: detail))
                    : nil
            case .file, .image: nil
            }
        if kind != .pixels, let needed, size.area <= PackedSamples.maximumCount {
            isPacked = range.count < needed && range.count >= paletteByteCount
        }
        guard !size.isEmpty, needed == range.count || isPacked else {
            throw CompiledDamage(
                reason: "\(range.count) bytes do not match \(size) pixels of \(format)")
        }
    }

    private var paletteByteCount: Int { kind == .palette ? detail * 4 : 0 }

    /// Makes the pixels of a mask or of a palette.
    ///
    /// - Throws: ``CompiledDamage`` if packed samples are damaged.
    func expanded(_ file: Span<UInt8>) throws(CompiledDamage) -> PixelBuffer {
        let samples = try samples(file)
        var buffer = MutablePixelBuffer(size: size, format: format)
        let channelCount = format.channelCount
        let palette = file.extracting(range.lowerBound..<range.lowerBound + paletteByteCount)
        let color = SolidColor(detail)
        for y in 0..<size.height {
            let start = y * size.width
            buffer.withMutableRow(y) { row in
                guard kind == .palette else {
                    for x in 0..<size.width {
                        color.write(alpha: samples[start + x], to: &row, at: x * 4)
                    }
                    return
                }
                for x in 0..<size.width {
                    let index = Int(samples[start + x])
                    for channel in 0..<channelCount {
                        // An index without a colour is transparent.
                        row[x * channelCount + channel] =
                            index < detail ? palette[index * 4 + channel] : 0
                    }
                }
            }
        }
        return buffer.finish()
    }

    /// The alpha or the index of each pixel.
    private func samples(_ file: Span<UInt8>) throws(CompiledDamage) -> [UInt8] {
        let stored = range.lowerBound + paletteByteCount..<range.upperBound
        let bitCount = kind == .mask ? 8 : Int(colorCount: detail)
        if isPacked {
            return try PackedSamples(width: size.width, count: size.area, bitCount: bitCount)
                .unpacked(file, stored)
        }
        let bytes = file.extracting(stored)
        guard kind == .palette else { return bytes.indices.map { bytes[$0] } }
        var samples: [UInt8] = []
        samples.reserveCapacity(size.area)
        let bytesPerRow = PackedIndices.bytesPerRow(of: size.width, bitCount: bitCount)
        for y in 0..<size.height {
            for x in 0..<size.width {
                samples.append(PackedIndices.index(x, bitCount) { bytes[y * bytesPerRow + $0] })
            }
        }
        return samples
    }
}

/// The colour of a mask.
struct SolidColor {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    init(_ value: Int) {
        red = UInt8(truncatingIfNeeded: value >> 16)
        green = UInt8(truncatingIfNeeded: value >> 8)
        blue = UInt8(truncatingIfNeeded: value)
    }

    var value: Int { Int(red) << 16 | Int(green) << 8 | Int(blue) }

    /// Writes a premultiplied pixel.
    func write(alpha: UInt8, to row: inout MutableSpan<UInt8>, at offset: Int) {
        row[offset] = PremultipliedAlpha.multiplied(red, by: alpha)
        row[offset + 1] = PremultipliedAlpha.multiplied(green, by: alpha)
        row[offset + 2] = PremultipliedAlpha.multiplied(blue, by: alpha)
        row[offset + 3] = alpha
    }
}

/// Indices of few bits, the first in the highest bits of a byte.
enum PackedIndices {
    static func bytesPerRow(of width: Int, bitCount: Int) -> Int { (width * bitCount + 7) / 8 }

    static func byteCount(of size: PixelSize, bitCount: Int) -> Int {
        bytesPerRow(of: size.width, bitCount: bitCount) * size.height
    }

    static func index(_ x: Int, _ bitCount: Int, _ byte: (Int) -> UInt8) -> UInt8 {
        let position = x * bitCount
        let shift = 8 - bitCount - position % 8
        return byte(position / 8) >> shift & UInt8(truncatingIfNeeded: 1 << bitCount - 1)
    }
}

extension Int {
    /// The number of bits of an index into a palette.
    init(colorCount: Int) {
        self = colorCount <= 2 ? 1 : colorCount <= 4 ? 2 : colorCount <= 16 ? 4 : 8
    }
}
