// SPDX-License-Identifier: Apache-2.0

#if JPEG2000

/// Converts the samples of components to rows of pixels.
struct JPEG2000Rows<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable> {
    /// A channel with values scaled to the range of the result.
    private struct Source {
        let component: Int
        let bias: Int32
        let shift: Int32
        let values: [Sample]
        /// Whether the values are the identity: without a palette, and with the full bit depth.
        let isPlain: Bool
    }

    private let sources: [Source]
    private let model: JPEG2000ChannelDefinitions.Space
    private let hasAlpha: Bool
    private let isPremultiplied: Bool
    /// The number of samples per pixel of the rows.
    let channelCount: Int

    init(_ channels: JPEG2000Channels) {
        sources = (channels.colors + [channels.alpha].compactMap { $0 }).map { channel in
            let maximum = (1 << channel.depth) - 1
            let values = channel.values.map { value in
                Sample((min(value, maximum) * Int(Sample.max) + maximum / 2) / maximum)
            }
            return Source(
                component: channel.component, bias: Int32(channel.bias),
                shift: Int32(channel.shift), values: values,
                isPlain: values.count == Int(Sample.max) + 1
                    && values.indices.allSatisfy { values[$0] == Sample($0) })
        }
        model = channels.model
        hasAlpha = channels.alpha != nil
        isPremultiplied = channels.isPremultiplied
        channelCount = hasAlpha || model == .cmyk ? 4 : model == .gray ? 1 : 3
    }

    var isCMYK: Bool { model == .cmyk }

    /// The component of each channel.
    var components: [Int] { sources.map(\.component) }

    /// Writes the samples of one channel to the pixels of a row.
    ///
    /// - Parameters:
    ///   - channel: the index of the channel; alpha is the last.
    ///   - samples: a row of its component.
    ///   - places: the sample index of each pixel; empty for the identity.
    ///   - count: the number of pixels.
    ///   - row: receives the samples.
    ///   - start: the index of the first pixel in the row.
    func put(
        _ channel: Int, _ samples: Span<Int32>, _ places: Span<Int>, count: Int,
        into row: inout MutableSpan<Sample>, start: Int
    ) {
        let source = sources[channel]
        let values = source.values.span
        let last = Int32(values.count - 1)
        let isAlpha = hasAlpha && channel == sources.count - 1
        let slot = isAlpha ? channelCount - 1 : channel
        // Grey with alpha is expanded to three channels.
        let copies = !isAlpha && model == .gray && hasAlpha ? 3 : 1
        var place = start * channelCount + slot
        if source.isPlain, places.isEmpty, copies == 1 {
            return putPlain(source, samples, count: count, into: &row, at: place)
        }
        for x in 0..<count {
            let sample = samples[places.isEmpty ? x : places[x]]
            let index = min(max((sample &+ source.bias) >> source.shift, 0), last)
            let value = values[Int(index)]
            row[place] = value
            if copies == 3 {
                row[place + 1] = value
                row[place + 2] = value
            }
            place += channelCount
        }
    }

    private func putPlain(
        _ source: Source, _ samples: Span<Int32>, count: Int,
        into row: inout MutableSpan<Sample>, at start: Int
    ) {
        guard count > 0 else { return }
        precondition(
            samples.count >= count && row.count > start + (count - 1) * channelCount,
            "the row does not fit")
        let (bias, shift, step) = (source.bias, source.shift & 31, channelCount)
        let most = Int32(Sample.max)
        unsafe samples.withUnsafeBufferPointer { samples in
            unsafe row.withUnsafeMutableBufferPointer { row in
                var place = start
                for x in 0..<count {
                    let value = unsafe (samples[x] &+ bias) &>> shift
                    unsafe row[place] = Sample(truncatingIfNeeded: min(max(value, 0), most))
                    place &+= step
                }
            }
        }
    }

    /// Converts YCbCr to RGB.
    func convertColors(_ row: inout MutableSpan<Sample>) {
        guard model == .yCbCr else { return }
        let half = Float(1 << (Sample.bitWidth - 1))
        let top = Float(Sample.max)
        for pixel in stride(from: 0, to: row.count - channelCount + 1, by: channelCount) {
            let luma = Float(row[pixel])
            let blue = Float(row[pixel + 1]) - half
            let red = Float(row[pixel + 2]) - half
            let colors = (
                luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red,
                luma + 1.772 * blue
            )
            row[pixel] = Sample(min(max(colors.0, 0), top) + 0.5)
            row[pixel + 1] = Sample(min(max(colors.1, 0), top) + 0.5)
            row[pixel + 2] = Sample(min(max(colors.2, 0), top) + 0.5)
        }
    }

    /// Whether colours are multiplied by alpha, or clamped to it.
    var alphaTreatment: (multiplies: Bool, clamps: Bool) {
        (hasAlpha && !isPremultiplied, hasAlpha && isPremultiplied)
    }
}
#endif
