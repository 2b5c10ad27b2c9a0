// SPDX-License-Identifier: Apache-2.0

/// Encodes blocks of BC7.
///
/// The modes with one subset are tried for every block, those with several for the partitions whose subsets
/// are nearest to lines.
struct BC7Encoder {
    /// How much is tried.
    struct Effort {
        /// The partitions of two and of three subsets.
        let twoCount, threeCount: Int
        let refinementCount: Int
        /// The most rounds of steps of single channels in each trial, and in the best one.
        let stepCount, lastStepCount: Int
        /// Whether blocks without alpha are tried with a channel that has indices of its own.
        let rotates: Bool

        init(_ quality: PVRTCEncoder.Quality) {
            switch quality {
            case .fastest: self.init(1, 0, 1, 0, 0, rotates: false)
            case .fast: self.init(2, 0, 1, 0, 1, rotates: false)
            case .normal: self.init(6, 1, 2, 0, 2, rotates: true)
            case .high: self.init(16, 8, 3, 0, 4, rotates: true)
            case .best: self.init(32, 24, 4, 4, 4, rotates: true)
            }
        }

        private init(
            _ twoCount: Int, _ threeCount: Int, _ refinementCount: Int, _ stepCount: Int,
            _ lastStepCount: Int, rotates: Bool
        ) {
            self.twoCount = twoCount
            self.threeCount = threeCount
            self.refinementCount = refinementCount
            self.stepCount = stepCount
            self.lastStepCount = lastStepCount
            self.rotates = rotates
        }
    }

    /// A mode with the same indices for all channels.
    private struct Mode {
        let number: Int
        let partitionBits: Int
        let precision: BC7Fit.Precision

        func subsets(_ partition: Int) -> BC7Fit.Subsets {
            switch number {
            case 0, 2: BC7Fit.Subsets.three[partition]
            case 6: .one
            default: BC7Fit.Subsets.two[partition]
            }
        }
    }

    private static let mode0 = Mode(
        number: 0, partitionBits: 4, precision: .init(3, bits: 5, extends: true, indexBits: 3))
    private static let mode1 = Mode(
        number: 1, partitionBits: 6,
        precision: .init(3, bits: 7, extends: true, isShared: true, indexBits: 3))
    private static let mode2 = Mode(
        number: 2, partitionBits: 6, precision: .init(3, bits: 5, indexBits: 2))
    private static let mode3 = Mode(
        number: 3, partitionBits: 6, precision: .init(3, bits: 8, extends: true, indexBits: 2))
    private static let mode6 = Mode(
        number: 6, partitionBits: 0, precision: .init(4, bits: 8, extends: true, indexBits: 4))
    private static let mode6Opaque = Mode(
        number: 6, partitionBits: 0,
        precision: .init(4, bits: 8, extends: true, isOpaque: true, indexBits: 4))
    private static let mode7 = Mode(
        number: 7, partitionBits: 6, precision: .init(4, bits: 6, extends: true, indexBits: 2))

    /// What a block is encoded with.
    private enum Trial {
        /// A mode and the number of the partition.
        case single(Mode, Int)
        /// Mode 4 or 5 with a rotation; whether the channel with its own indices has the shorter ones.
        case separate(Int, rotation: Int, swaps: Bool)
    }

    private let channels: InlineArray<4, BC7Fit.Lanes>
    private let effort: Effort
    private var stepCount: Int
    private var best = Float.infinity
    private var winner = Trial.single(mode6, 0)
    private var bits = BitWriter()

    /// Returns a block as two words, the lower one first.
    static func encoded(_ texels: TexelBlock, _ effort: Effort) -> (UInt64, UInt64) {
        var encoder = BC7Encoder(texels, effort)
        encoder.run()
        if encoder.best > 0, effort.lastStepCount > effort.stepCount {
            encoder.stepCount = effort.lastStepCount
            // The same result is not rejected.
            encoder.best += 1
            encoder.attempt(encoder.winner)
        }
        return (encoder.bits.low, encoder.bits.high)
    }

    private init(_ texels: TexelBlock, _ effort: Effort) {
        self.effort = effort
        stepCount = effort.stepCount
        channels = InlineArray { channel in
            var lanes = BC7Fit.Lanes(repeating: 0)
            for place in 0..<16 { lanes[place] = Float(texels[place][channel]) }
            return lanes
        }
    }

    private mutating func run() {
        let isOpaque = channels[3].min() == 255
        attempt(.single(isOpaque ? Self.mode6Opaque : Self.mode6, 0))
        guard best > 0 else { return }
        if !isOpaque || effort.rotates {
            for rotation in isOpaque ? 1..<4 : 0..<4 {
                attempt(.separate(5, rotation: rotation, swaps: false))
                guard effort.rotates else { continue }
                attempt(.separate(4, rotation: rotation, swaps: false))
                attempt(.separate(4, rotation: rotation, swaps: true))
            }
        }
        guard best > 0 else { return }
        var residues = BC7Partitions.residues(
            channels, subsetCount: 2, channelCount: isOpaque ? 3 : 4)
        for _ in 0..<effort.twoCount {
            // No line is nearer than the residue.
            let (partition, residue) = residues.removeLeast()
            guard residue < best else { break }
            if isOpaque {
                attempt(.single(Self.mode1, partition))
                if effort.rotates { attempt(.single(Self.mode3, partition)) }
            } else {
                attempt(.single(Self.mode7, partition))
            }
        }
        guard isOpaque, effort.threeCount > 0, best > 0 else { return }
        var others = BC7Partitions.residues(channels, subsetCount: 3, channelCount: 3)
        for _ in 0..<effort.threeCount {
            let (partition, residue) = others.removeLeast()
            guard residue < best else { break }
            if partition < 16 { attempt(.single(Self.mode0, partition)) }
            attempt(.single(Self.mode2, partition))
        }
    }

    // MARK: - Modes

    private mutating func attempt(_ trial: Trial) {
        let isBetter =
            switch trial {
            case .single(let mode, let partition): attempt(mode, partition)
            case .separate(let mode, let rotation, let swaps):
                attemptSeparate(mode, rotation, swaps)
            }
        if isBetter { winner = trial }
    }

    private mutating func attempt(_ mode: Mode, _ partition: Int) -> Bool {
        let subsets = mode.subsets(partition)
        let fit = BC7Fit(
            channels, subsets, mode.precision, refinementCount: effort.refinementCount,
            stepCount: stepCount, limit: best)
        guard fit.error < best else { return false }
        best = fit.error
        var writer = BitWriter()
        writer.append(1 << mode.number, mode.number + 1)
        writer.append(partition, mode.partitionBits)
        let precision = mode.precision
        var codes = fit.codes
        var indices = fit.indices
        for subset in 0..<subsets.count {
            Self.normalize(
                &codes[subset], &indices, subsets, subset, partition, precision.lastIndex)
        }
        let extensionBits = precision.hasExtension ? 1 : 0
        for channel in 0..<precision.channelCount {
            for subset in 0..<subsets.count {
                for code in [codes[subset].a[channel], codes[subset].b[channel]] {
                    writer.append(
                        Int(code) >> extensionBits, Int(precision.bitCount) - extensionBits)
                }
            }
        }
        if precision.hasExtension {
            for subset in 0..<subsets.count {
                writer.append(Int(codes[subset].a.x & 1), 1)
                if !precision.isShared { writer.append(Int(codes[subset].b.x & 1), 1) }
            }
        }
        Self.append(indices, Int(precision.indexBits), subsets.count, partition, &writer)
        bits = writer
        return true
    }

    /// Exchanges the end points of a subset if the first index would need its highest bit.
    private static func normalize(
        _ codes: inout BC7Fit.Codes, _ indices: inout BC7Fit.Lanes, _ subsets: BC7Fit.Subsets,
        _ subset: Int, _ partition: Int, _ last: Float
    ) {
        let anchor = (0..<16).first {
            subsets.masks[subset][$0] == 1
                && BPTCPartitions.isAnchor($0, subsets.count, partition)
        }
        guard let anchor, indices[anchor] * 2 > last else { return }
        (codes.a, codes.b) = (codes.b, codes.a)
        let mask = subsets.masks[subset]
        indices += mask * (last - 2 * indices)
    }

    private static func append(
        _ indices: BC7Fit.Lanes, _ bitCount: Int, _ subsetCount: Int, _ partition: Int,
        _ writer: inout BitWriter
    ) {
        for place in 0..<16 {
            let isAnchor = BPTCPartitions.isAnchor(place, subsetCount, partition)
            writer.append(Int(indices[place]), isAnchor ? bitCount - 1 : bitCount)
        }
    }

    /// Tries mode 4 or 5, in which one channel has indices of its own: alpha if the rotation is 0, else
    /// red, green or blue, with which alpha is exchanged.
    private mutating func attemptSeparate(_ mode: Int, _ rotation: Int, _ swaps: Bool) -> Bool {
        var colors = channels
        var single = colors[3]
        if rotation > 0 {
            single = colors[rotation - 1]
            colors[rotation - 1] = channels[3]
        }
        let zero = BC7Fit.Lanes(repeating: 0)
        let color = fit(
            colors, .init(3, bits: mode == 4 ? 5 : 7, indexBits: swaps ? 3 : 2), best)
        guard color.error < best else { return false }
        let alpha = fit(
            [single, zero, zero, zero],
            .init(1, bits: mode == 4 ? 6 : 8, indexBits: mode == 4 && !swaps ? 3 : 2),
            best - color.error)
        guard color.error + alpha.error < best else { return false }
        best = color.error + alpha.error
        var writer = BitWriter()
        writer.append(1 << mode, mode + 1)
        writer.append(rotation, 2)
        if mode == 4 { writer.append(swaps ? 1 : 0, 1) }
        Self.append(color, alpha, &writer)
        bits = writer
        return true
    }

    private func fit(
        _ channels: borrowing InlineArray<4, BC7Fit.Lanes>, _ precision: BC7Fit.Precision,
        _ limit: Float
    ) -> BC7Fit {
        BC7Fit(
            channels, .one, precision, refinementCount: effort.refinementCount,
            stepCount: stepCount, limit: limit)
    }

    /// Appends end points and indices; those of 2 bits come first.
    private static func append(
        _ color: BC7Fit, _ alpha: BC7Fit, _ writer: inout BitWriter
    ) {
        var (colorCodes, alphaCodes) = (color.codes[0], alpha.codes[0])
        var (colorIndices, alphaIndices) = (color.indices, alpha.indices)
        normalize(&colorCodes, &colorIndices, .one, 0, 0, color.precision.lastIndex)
        normalize(&alphaCodes, &alphaIndices, .one, 0, 0, alpha.precision.lastIndex)
        for channel in 0..<3 {
            writer.append(Int(colorCodes.a[channel]), Int(color.precision.bitCount))
            writer.append(Int(colorCodes.b[channel]), Int(color.precision.bitCount))
        }
        writer.append(Int(alphaCodes.a.x), Int(alpha.precision.bitCount))
        writer.append(Int(alphaCodes.b.x), Int(alpha.precision.bitCount))
        let (colorBits, alphaBits) = (
            Int(color.precision.indexBits), Int(alpha.precision.indexBits)
        )
        if colorBits <= alphaBits {
            append(colorIndices, colorBits, 1, 0, &writer)
            append(alphaIndices, alphaBits, 1, 0, &writer)
        } else {
            append(alphaIndices, alphaBits, 1, 0, &writer)
            append(colorIndices, colorBits, 1, 0, &writer)
        }
    }

    /// Bits from the lowest on.
    private struct BitWriter {
        private(set) var low: UInt64 = 0
        private(set) var high: UInt64 = 0
        private var count = 0

        mutating func append(_ value: Int, _ bitCount: Int) {
            let bits = UInt64(value)
            if count < 64 {
                low |= bits << UInt64(count)
                if count + bitCount > 64 { high |= bits >> UInt64(64 - count) }
            } else {
                high |= bits << UInt64(count - 64)
            }
            count += bitCount
        }
    }
}
