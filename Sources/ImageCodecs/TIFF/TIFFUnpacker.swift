// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages

/// Converts packed samples of any width and format to 8 or 16 bits of full range.
///
/// Samples of 16 bits and more are in the machine's byte order, as libtiff returns them. Signed
/// samples are shifted so that the least becomes 0; floating-point samples range from 0 to 1.
struct TIFFUnpacker<Sample: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    private let bits: Int
    private let format: TIFFImage.SampleFormat
    /// The result for each value of few bits; a palette index remains as it is.
    private let values: [Sample]
    /// The factor that scales the alpha next to a palette index to full range.
    let paletteAlphaScale: Int

    init(_ image: TIFFImage) {
        bits = image.bits
        format = image.sampleFormat
        let maximum = bits < 16 ? (1 << bits) - 1 : 65535
        paletteAlphaScale = max(1, Int(Sample.max) / maximum)
        let isPalette = image.model == .palette
        values =
            bits >= Sample.bitWidth
            ? []
            : (0...maximum).map { value in
                isPalette
                    ? Sample(truncatingIfNeeded: value)
                    : Sample((value * Int(Sample.max) + maximum / 2) / maximum)
            }
    }

    /// Whether packed samples need no conversion.
    var isPlain: Bool { bits == Sample.bitWidth && format == .unsigned }

    /// Unpacks a row.
    ///
    /// - Parameters:
    ///   - band: the packed samples.
    ///   - offset: the index of the first byte of the row.
    ///   - count: the number of samples.
    ///   - result: the unpacked samples.
    ///   - first: the index of the first unpacked sample.
    ///   - step: the distance between unpacked samples.
    func unpack(
        _ band: Span<UInt8>, from offset: Int, count: Int,
        into result: inout MutableSpan<Sample>, first: Int, step: Int
    ) {
        let row = band.extracting(offset..<offset + (count * bits + 7) / 8)
        switch (format, bits) {
        case (.unsigned, 8) where Sample.bitWidth == 8:
            for index in 0..<count {
                result[first + index * step] = Sample(truncatingIfNeeded: row[index])
            }
        case (.unsigned, 16), (.unsigned, 24), (.unsigned, 32), (.unsigned, 64):
            takeTop(row, count, flipping: false, into: &result, first, step)
        case (.signed, _):
            takeTop(row, count, flipping: true, into: &result, first, step)
        case (.float, _): takeFloats(row, count, into: &result, first, step)
        default: takeBits(row, count, into: &result, first, step)
        }
    }

    /// Takes the most significant bits of samples of whole bytes.
    private func takeTop(
        _ row: Span<UInt8>, _ count: Int, flipping: Bool,
        into result: inout MutableSpan<Sample>, _ first: Int, _ step: Int
    ) {
        let width = bits / 8
        let sign: Sample = flipping ? 1 << (Sample.bitWidth - 1) : 0
        for index in 0..<count {
            // The last bytes in memory are the most significant.
            let end = (index + 1) * width
            let value =
                width > 1
                ? row.littleEndian(at: end - 2, byteCount: 2) : Int(row[end - 1]) << 8
            let sample =
                Sample.bitWidth == 8
                ? Sample(truncatingIfNeeded: value >> 8) : Sample(truncatingIfNeeded: value)
            result[first + index * step] = sample ^ sign
        }
    }

    private func takeFloats(
        _ row: Span<UInt8>, _ count: Int, into result: inout MutableSpan<Sample>,
        _ first: Int, _ step: Int
    ) {
        let width = bits / 8
        for index in 0..<count {
            let pattern = UInt64(
                bitPattern: Int64(row.littleEndian(at: index * width, byteCount: width)))
            let value: Double
            switch width {
            case 2: value = Self.small(pattern, exponentBits: 5, fractionBits: 10)
            case 3: value = Self.small(pattern, exponentBits: 7, fractionBits: 16)
            case 4: value = Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
            default: value = Double(bitPattern: pattern)
            }
            // NaN becomes 0.
            let share = value > 0 ? min(value, 1) : 0
            result[first + index * step] = Sample(share * Double(Sample.max) + 0.5)
        }
    }

    /// A floating-point number of 16 or 24 bits, which the processor may not support.
    private static func small(
        _ pattern: UInt64, exponentBits: Int, fractionBits: Int
    ) -> Double {
        let fraction = Double(pattern & (1 << fractionBits - 1)) / Double(1 << fractionBits)
        let exponent = Int(pattern >> fractionBits) & (1 << exponentBits - 1)
        let bias = 1 << (exponentBits - 1) - 1
        let isNegative = pattern >> (fractionBits + exponentBits) & 1 == 1
        if exponent == 1 << exponentBits - 1 {
            return fraction > 0 ? .nan : isNegative ? -.infinity : .infinity
        }
        let magnitude =
            exponent == 0
            ? Double(sign: .plus, exponent: 1 - bias, significand: fraction)
            : Double(sign: .plus, exponent: exponent - bias, significand: 1 + fraction)
        return isNegative ? -magnitude : magnitude
    }

    /// Takes samples of any width, the most significant bit first, without padding.
    private func takeBits(
        _ row: Span<UInt8>, _ count: Int, into result: inout MutableSpan<Sample>,
        _ first: Int, _ step: Int
    ) {
        var place = 0
        var pool: UInt64 = 0
        var poolBits = 0
        let values = values.span
        let bits = min(bits, 48)
        let skipped = self.bits - bits
        for index in 0..<count {
            while poolBits < bits {
                pool = pool << 8 | UInt64(row[place])
                place += 1
                poolBits += 8
            }
            poolBits -= bits
            let value = Int(truncatingIfNeeded: pool >> UInt64(poolBits)) & (1 << bits - 1)
            result[first + index * step] =
                values.isEmpty
                ? Sample(truncatingIfNeeded: value >> (bits - Sample.bitWidth)) : values[value]
            var rest = skipped
            while rest > 0 {
                let step = min(rest, poolBits)
                poolBits -= step
                rest -= step
                if rest > 0 {
                    pool = UInt64(row[place])
                    place += 1
                    poolBits = 8
                }
            }
        }
    }
}
#endif
