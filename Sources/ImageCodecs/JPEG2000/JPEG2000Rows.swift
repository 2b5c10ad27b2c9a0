// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
    internal import Pixels

    /// Makes rows of pixels of the samples of components.
    struct JPEG2000Rows<Sample: FixedWidthInteger & UnsignedInteger & Sendable> {
        /// A channel with values of the result's width.
        private struct Source {
            let component: Int
            let bias: Int32
            let shift: Int32
            let values: [Sample]
            /// Whether each value stands at its own place, as it does unless there is a palette or
            /// the component has fewer bits.
            let isPlain: Bool
        }

        private let sources: [Source]
        private let model: JPEG2000ChannelDefinitions.Space
        private let hasAlpha: Bool
        private let isPremultiplied: Bool
        /// Samples a pixel of the rows.
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

        /// By channel, the component that it is read from.
        var components: [Int] { sources.map(\.component) }

        /// Puts samples of one channel into pixels.
        ///
        /// - Parameters:
        ///   - channel: which channel, alpha being the last.
        ///   - samples: a row of its component.
        ///   - places: where each pixel finds its sample; empty where they stand side by side.
        ///   - count: how many pixels.
        ///   - row: takes the samples.
        ///   - start: the first pixel of the row.
        func put(
            _ channel: Int, _ samples: Span<Int32>, _ places: Span<Int>, count: Int,
            into row: inout MutableSpan<Sample>, start: Int
        ) {
            let source = sources[channel]
            let values = source.values.span
            let last = Int32(values.count - 1)
            let isAlpha = hasAlpha && channel == sources.count - 1
            let slot = isAlpha ? channelCount - 1 : channel
            // Grey beside alpha is spread over three channels.
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

        /// Turns luma and colour differences into colours.
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

        /// Whether colours have to be multiplied by alpha, or to be seen not to exceed it.
        var alphaTreatment: (multiplies: Bool, clamps: Bool) {
            (hasAlpha && !isPremultiplied, hasAlpha && isPremultiplied)
        }
    }
#endif
