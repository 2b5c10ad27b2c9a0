// SPDX-License-Identifier: Apache-2.0

/// Encodes a block of one channel of EAC: alpha with 8 bits, or a channel with 11.
///
/// The multiplier follows from the range of the samples for each table; bases and multipliers next to it
/// are tried as well.
struct EACChannel {
    private typealias Lanes = SIMD16<Float>

    private static let modifiers = (0..<16).map {
        SIMD8<Float>(ETCBlocks.channelModifiers[$0])
    }

    /// The samples in units of the base.
    private let samples: Lanes
    private let isAlpha: Bool
    private let reach: Float
    private var best = Float.infinity
    private var base: Float = 0
    private var multiplier = 1
    private var table = 0

    /// Encodes a block.
    ///
    /// - Parameters:
    ///   - samples: the samples of 8 bits, row by row.
    ///   - isAlpha: whether the block stores alpha with 8 bits, and not a channel with 11.
    ///   - quality: the effort.
    /// - Returns: an integer whose highest byte is stored first.
    static func encoded(
        _ samples: InlineArray<16, UInt8>, isAlpha: Bool, _ quality: PVRTCEncoder.Quality
    ) -> UInt64 {
        var encoder = EACChannel(samples, isAlpha, quality)
        encoder.search(quality)
        return encoder.word
    }

    private init(
        _ samples: InlineArray<16, UInt8>, _ isAlpha: Bool, _ quality: PVRTCEncoder.Quality
    ) {
        var lanes = Lanes(repeating: 0)
        for place in 0..<16 {
            let sample = Float(samples[place])
            lanes[place] = isAlpha ? sample : (sample * 2047 / 255 - 4) / 8
        }
        self.samples = lanes
        self.isAlpha = isAlpha
        reach =
            switch quality {
            case .fastest: 0
            case .fast, .normal: 1
            case .high: 2
            case .best: 4
            }
    }

    private mutating func search(_ quality: PVRTCEncoder.Quality) {
        let (low, high) = (samples.min(), samples.max())
        // The multiplier 0 stores flat blocks, and steps of an eighth in channels with 11 bits.
        if high - low < 4 {
            for table in isAlpha ? 0..<1 : 0..<16 { consider((low + high) / 2, 0, table) }
        }
        for table in 0..<16 {
            let modifiers = Self.modifiers[table]
            let (least, most) = (modifiers.min(), modifiers.max())
            let ideal = ((high - low) / (most - least)).rounded()
            for step in stride(from: -min(reach, 2), through: min(reach, 2), by: 1) {
                let multiplier = max(1, min(15, ideal + step))
                consider((low + high - (least + most) * multiplier) / 2, Int(multiplier), table)
            }
        }
    }

    /// Tries a multiplier and a table with bases near the ideal one.
    private mutating func consider(_ ideal: Float, _ multiplier: Int, _ table: Int) {
        for step in stride(from: -reach, through: reach, by: 1) {
            let base = max(0, min(255, ideal.rounded() + step))
            var errors = Lanes(repeating: .infinity)
            for index in 0..<8 {
                let difference = samples - value(base, multiplier, table, index)
                let squares = difference * difference
                errors.replace(with: squares, where: squares .< errors)
            }
            let error = errors.sum()
            if error < best {
                (best, self.base, self.multiplier, self.table) = (error, base, multiplier, table)
            }
        }
    }

    /// Returns the value of an index, within the range of the format.
    @inline(__always)
    private func value(_ base: Float, _ multiplier: Int, _ table: Int, _ index: Int) -> Float {
        let scale = multiplier > 0 ? Float(multiplier) : isAlpha ? 0 : 0.125
        let value = base + Self.modifiers[table][index] * scale
        return isAlpha ? max(0, min(255, value)) : max(-0.5, min(255.375, value))
    }

    private var word: UInt64 {
        var word = UInt64(base) << 56 | UInt64(multiplier) << 52 | UInt64(table) << 48
        for place in 0..<16 {
            var (least, chosen) = (Float.infinity, 0)
            for index in 0..<8 {
                let difference = abs(samples[place] - value(base, multiplier, table, index))
                if difference < least { (least, chosen) = (difference, index) }
            }
            let column = (place & 3) * 4 + place >> 2
            word |= UInt64(chosen) << UInt64(45 - column * 3)
        }
        return word
    }
}
